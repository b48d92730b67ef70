import type { ClusterChoice } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { textOf } from '../submit/read-file.ts';
import { submissionsOf } from '../submit/manifests.ts';
import { waitingFor } from '../waiting.ts';
import type { WayChoice } from './flags.ts';
import { endingLine, progressLine, type SubmissionEnding } from './way.ts';
import { withWay } from './with-way.ts';

type QueueConfig = ClusterChoice & { readonly namespace: string | undefined; readonly way: WayChoice; readonly output: Form };

export type SubmitToQueueConfig = QueueConfig & {
  readonly files: readonly string[];
  readonly queue: string | undefined;
  readonly key: string | undefined;
  readonly wait: boolean;
  /** 0: none. */
  readonly timeout: number;
};

/** All files are read and looked at before the first Job is submitted. */
export const runSubmitToQueue = (config: SubmitToQueueConfig, session: Session): Promise<number> => {
  const { files, queue, key, output, wait, timeout } = config;
  const manifests = files.flatMap((file) => submissionsOf(file === '-' ? 'standard input' : file, textOf(file), queue));
  if (key !== undefined && manifests.length > 1)
    throw new CommandError(
      `--key: there are ${manifests.length} Jobs, and one key is one submission; submit them one by one`,
      ExitCode.Usage,
    );
  return withWay(config.way, config, async (way) => {
    const keys: string[] = [];
    for (const manifest of manifests) keys.push(await way.submit(manifest, key));
    // A program reads one document: that of the ends, where they are waited for.
    if (output === 'text' || !wait)
      await report(session, output, {
        lines: keys.map((each) => `${plain(each)} submitted`),
        value: { submissions: keys.map((each) => ({ key: each, result: 'submitted' })) },
      });
    if (!wait) return ExitCode.Done;
    const what = keys.length === 1 ? `${plain(keys[0] ?? '')} has not ended` : 'not all of them have ended';
    return waitingFor({ session, timeoutMs: timeout, what }, async (signal, done) => {
      const endings = await Promise.all(
        keys.map(async (each) => {
          let told = '';
          // What is shown of a submission changes more often than what is said of it.
          const tell = (line: string): void => {
            if (line !== told) void session.errors.write(`${plain(line)}\n`);
            told = line;
          };
          const ending = await way.follow(each, (progress) => tell(progressLine(each, progress)), signal);
          return { key: each, ending };
        }),
      );
      await sayEndings(session, output, endings);
      done(endings.every(({ ending }) => ending.kind === 'Completed') ? ExitCode.Done : ExitCode.Failed);
    });
  });
};

const sayEndings = (
  session: Session,
  output: Form,
  endings: readonly { readonly key: string; readonly ending: SubmissionEnding }[],
): Promise<void> =>
  report(session, output, {
    lines: endings.map(({ key, ending }) => plain(endingLine(key, ending))),
    value: { submissions: endings.map(({ key, ending }) => ({ key, ...ending })) },
  });

export type CancelSubmissionConfig = QueueConfig & { readonly key: string };

const CANCELLED = {
  Cancelled: 'cancelled',
  HadEnded: 'had ended; nothing was done',
  Pending: 'is to be cancelled; no manager has seen to it yet',
} as const;

export const runCancelSubmission = (config: CancelSubmissionConfig, session: Session): Promise<number> =>
  withWay(config.way, config, async (way) => {
    const { key, output } = config;
    const ending = await way.cancel(key);
    await report(session, output, { lines: [`${plain(key)} ${CANCELLED[ending]}`], value: { key, result: ending } });
    return ExitCode.Done;
  });
