import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Purged } from '../../history/history.ts';
import { confirmed } from '../confirmation.ts';
import { ExitCode } from '../exit-codes.ts';
import { withHistory } from '../history-store.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';

export type HistoryPurgeConfig = {
  readonly store: string;
  readonly namespace: string | undefined;
  readonly user: string | undefined;
  /** Epoch milliseconds. */
  readonly before: number | undefined;
  readonly 'dry-run': boolean;
  readonly yes: boolean;
  readonly output: 'text' | 'json' | 'yaml';
};

export function runHistoryPurge(config: HistoryPurgeConfig, session: Session): Promise<number> {
  const { namespace, user, before, 'dry-run': dryRun, yes, output } = config;
  const which = omitUndefined({ namespace, user, untilMs: before });
  return withHistory(
    config.store,
    session,
    async (history) => {
      if (!dryRun && !yes) {
        const found = await history.purge(which, { dryRun: true });
        if (found.jobs > 0 && !(await confirmed(session, `Erase ${inWords(found)}?`))) {
          await session.errors.write('Nothing was erased.\n');
          return ExitCode.Failed;
        }
      }
      const purged = await history.purge(which, { dryRun });
      await report(session, output, { lines: [`${dryRun ? 'Would erase' : 'Erased'} ${inWords(purged)}.`], value: { dryRun, ...purged } });
      return ExitCode.Done;
    },
    { write: !dryRun },
  );
}

const inWords = ({ jobs, copies, logs }: Purged): string =>
  `the records of ${counted(jobs, 'Job')}, what pods of ${counted(copies, 'placement')} ended with, and the ends of ${counted(logs, 'log')}`;

const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
