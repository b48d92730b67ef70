import { readFileSync } from 'node:fs';
import { DecisionLogError, readDecisionLog } from '../../insight/replay/decision-log-reader.ts';
import type { FairStrategy } from '../../admission/fair-sharing/fair-strategy.ts';
import { historyOf } from '../../insight/replay/logged-history.ts';
import { loggedOutcome } from '../../insight/replay/logged-outcome.ts';
import { replay } from '../../insight/replay/replay.ts';
import { ExitCode } from '../exit-codes.ts';
import { ManifestError } from '../import-kueue/documents.ts';
import type { Form } from '../cluster-flags.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { replayReport } from './report.ts';
import { replayText } from './replay-text.ts';
import { setupObjectsIn } from './setup-files.ts';

export type ReplayConfig = {
  readonly logs: readonly string[];
  readonly queues: string | undefined;
  readonly flavors: string | undefined;
  /** No strategies: not at all. */
  readonly fairSharing: readonly FairStrategy[] | undefined;
  readonly output: Form;
};

/** Replays a log and says what it came to; resolves with the exit code. */
export async function runReplay({ logs, queues, flavors, fairSharing, output }: ReplayConfig, session: Session): Promise<number> {
  try {
    const { lines, cutOff } = readDecisionLog(logs.map((name) => ({ name: nameOf(name), text: textOf(name) })));
    const objects = [
      ...(queues === undefined ? [] : setupObjectsIn(queues, textOf(queues))),
      ...(flavors === undefined ? [] : setupObjectsIn(flavors, textOf(flavors), ['ResourceFlavor'])),
    ];
    const history = historyOf(lines);
    const { fairSharing: _before, ...others } = history.settings;
    const settings = fairSharing === undefined ? history.settings : { ...others, ...(fairSharing.length === 0 ? {} : { fairSharing }) };
    const replayed = replayReport({
      history,
      cutOff,
      logged: loggedOutcome(history),
      replayed: replay(history, { objects, settings }),
      objects,
      isOther: objects.length > 0 || fairSharing !== undefined,
    });
    await report(session, output, { lines: [replayText(replayed).trimEnd()], value: replayed });
    return ExitCode.Done;
  } catch (error) {
    if (!(error instanceof DecisionLogError || error instanceof ManifestError || error instanceof UnreadableFileError)) throw error;
    await session.errors.write(`switchyard replay: ${error.message}\n`);
    return ExitCode.Failed;
  }
}

class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

const nameOf = (file: string): string => (file === '-' ? 'standard input' : file);

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UnreadableFileError(`${nameOf(file)} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
