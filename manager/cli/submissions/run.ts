import type { ClusterChoice } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { plain } from '../plain-text.ts';
import type { Progress } from '../progress-bar.ts';
import { createProgressLine } from '../progress-line.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { filesOf, textOf } from '../submit/read-file.ts';
import { submissionsOf } from '../submit/manifests.ts';
import { waitingFor } from '../waiting.ts';
import type { WayChoice } from './flags.ts';
import { endingLine, progressLine, type SubmissionEnding, type SubmissionWay } from './way.ts';
import { withTransport } from './with-transport.ts';
import { JOB_KIND } from '../../work-kind/job/job-kind.ts';

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
  const submissions = files
    .flatMap(filesOf)
    .flatMap((file) => submissionsOf(JOB_KIND, file === '-' ? 'standard input' : file, textOf(file), queue));
  if (key !== undefined && submissions.length > 1)
    throw new CommandError(
      `--key: there are ${submissions.length} Jobs, and one key is one submission; submit them one by one`,
      ExitCode.Usage,
    );
  return withTransport(config.way, config, async (way) => {
    const keys: string[] = [];
    const display = createProgressLine(session.errors, submissions.length, session.now);
    try {
      for (const submission of submissions) {
        keys.push(await way.submit(submission, key));
        await display.show(() => ({ done: keys.length, total: submissions.length, words: 'submitted' }));
      }
    } finally {
      await display.end();
    }
    // A program reads one document: that of the ends, where they are waited for.
    if (output === 'text' || !wait)
      await report(session, output, {
        lines: keys.map((each) => `${plain(each)} submitted`),
        value: { submissions: keys.map((each) => ({ key: each, result: 'submitted' })) },
      });
    if (!wait) return ExitCode.Done;
    const what = keys.length === 1 ? `${plain(keys[0] ?? '')} has not ended` : 'not all of them have ended';
    return waitingFor({ session, timeoutMs: timeout, what }, async (signal, done) => {
      const endings = await followAll(way, keys, session, signal);
      await sayEndings(session, output, endings);
      done(endings.every(({ ending }) => ending.kind === 'Completed') ? ExitCode.Done : ExitCode.Failed);
    });
  });
};

type Ending = { readonly key: string; readonly ending: SubmissionEnding };

/** Until all have ended; where a bar shows how far they have come, nothing else is said of them before. */
async function followAll(way: SubmissionWay, keys: readonly string[], session: Session, signal: AbortSignal): Promise<Ending[]> {
  const display = createProgressLine(session.errors, keys.length, session.now);
  const phases = new Map<string, Phase>(keys.map((key) => [key, 'wait']));
  const show = (key: string, phase: Phase): void => {
    phases.set(key, phase);
    void display.show(() => progressOf([...phases.values()]));
  };
  const follow = async (key: string): Promise<Ending> => {
    let told = '';
    // What is shown of a submission changes more often than what is said of it.
    const tell = (line: string): void => {
      if (line !== told && !display.isShown) void display.line(plain(line));
      told = line;
    };
    const ending = await way.follow(
      key,
      (progress) => {
        tell(progressLine(key, progress));
        show(key, progress.phase === 'Running' ? 'run' : 'wait');
      },
      signal,
    );
    show(key, ending.kind === 'Completed' ? 'ended' : 'failed');
    return { key, ending };
  };
  try {
    return await Promise.all(keys.map(follow));
  } finally {
    await display.end();
  }
}

type Phase = 'wait' | 'run' | 'ended' | 'failed';

function progressOf(phases: readonly Phase[]): Progress {
  const count = (phase: Phase): number => phases.filter((each) => each === phase).length;
  const said = (['failed', 'run', 'wait'] as const).flatMap((phase) => (count(phase) === 0 ? [] : [`${count(phase)} ${phase}`]));
  return { done: count('ended') + count('failed'), total: phases.length, words: said.join(', ') };
}

const sayEndings = (session: Session, output: Form, endings: readonly Ending[]): Promise<void> =>
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
  withTransport(config.way, config, async (way) => {
    const { key, output } = config;
    const ending = await way.cancel(key);
    await report(session, output, { lines: [`${plain(key)} ${CANCELLED[ending]}`], value: { key, result: ending } });
    return ExitCode.Done;
  });
