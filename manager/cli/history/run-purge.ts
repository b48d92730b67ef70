import { hostname } from 'node:os';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { KubeUser } from '../../../shared/kube/access-reviews.ts';
import type { RawClient } from '../../../shared/kube/client.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { createAuditFile } from '../../audit/audit-file.ts';
import { auditLine, type AuditOutcome } from '../../audit/audit-line.ts';
import type { Purged } from '../../history/history.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { confirmed } from '../confirmation.ts';
import { ExitCode } from '../exit-codes.ts';
import { withHistory } from '../history-store.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { withCluster } from '../with-cluster.ts';

export type HistoryPurgeConfig = ClusterChoice & {
  readonly store: string;
  readonly namespace: string | undefined;
  readonly user: string | undefined;
  /** Epoch milliseconds. */
  readonly before: number | undefined;
  readonly 'audit-log': string | undefined;
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
      const purged = dryRun
        ? await history.purge(which, { dryRun })
        : await audited(config, session, () => history.purge(which, { dryRun }));
      await report(session, output, { lines: [`${dryRun ? 'Would erase' : 'Erased'} ${inWords(purged)}.`], value: { dryRun, ...purged } });
      return ExitCode.Done;
    },
    { write: !dryRun },
  );
}

/** Erases, and appends the line of the audit log; erases nothing where the line cannot be written or has no user. */
async function audited(config: HistoryPurgeConfig, session: Session, erase: () => Promise<Purged>): Promise<Purged> {
  const destination = config['audit-log'];
  if (destination === undefined) return erase();
  const user = await withCluster(config, ({ client }) => userOf(client));
  const file = createAuditFile({ destination, clock: systemClock, log: silentLogger });
  await file.open().catch((error: unknown) => {
    throw new CommandError(`--audit-log: ${destination} cannot be written, and nothing was erased`, ExitCode.Failed, { cause: error });
  });
  const { namespace, user: creator, before } = config;
  const selected = Object.entries(
    omitUndefined({ namespace, user: creator, before: before === undefined ? undefined : toWireTime(before) }),
  );
  const note = async (outcome: AuditOutcome, reason: string): Promise<void> => {
    const entry = {
      user,
      what: 'purge',
      value: selected.map(([name, value]) => `${name}=${value}`).join(' '),
      on: { kind: 'History', ...omitUndefined({ namespace }) },
      from: { door: 'cli', address: hostname() },
      reason,
      outcome,
    } as const;
    file.write(auditLine(entry, session.now()));
    if ((await file.close(WRITE_MS)) > 0)
      throw new CommandError(`--audit-log: ${destination} took no line, though ${reason}`, ExitCode.Failed);
  };
  try {
    const purged = await erase();
    await note('Done', `erased ${inWords(purged)}`);
    return purged;
  } catch (error) {
    if (!(error instanceof CommandError)) await note('Failed', 'a part may have been erased before the store failed');
    throw error;
  }
}

const WRITE_MS = 5_000;

async function userOf(client: RawClient): Promise<KubeUser> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await client.raw({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body });
  return (JSON.parse(answer) as { status: { userInfo: KubeUser } }).status.userInfo;
}

const inWords = ({ jobs, copies, logs }: Purged): string =>
  `the records of ${counted(jobs, 'Job')}, what pods of ${counted(copies, 'placement')} ended with, and the ends of ${counted(logs, 'log')}`;

const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
