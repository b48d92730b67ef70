import type { Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { connect, type Client } from '../../../shared/client/client.ts';
import type { WriteClient } from '../../../shared/kube/client.ts';
import { readExample, type Example } from './examples.ts';
import { JOB_SETS, type JobSet } from './job-set/definition.ts';

/** What the submitter of a Job was told at its end. */
export type SubmitterOutcome = { readonly name: string; readonly settled: 'resolved' | 'rejected' | 'unsettled'; readonly value: string };

export type Submissions = {
  /** What every BullMQ submission came to; waits for at most so long. */
  outcomes(timeoutMs: number): Promise<readonly SubmitterOutcome[]>;
};

export type SubmitOptions = {
  readonly client: WriteClient;
  readonly redisUrl: string;
  readonly examples: readonly Example[];
  /** Where their manifests are. */
  readonly folder: string;
  readonly cleanUp: (() => Promise<void>)[];
  /** One line whenever the submitter loses Redis, and when it is back. */
  readonly onConnection: (line: string) => void;
};

/** Sends the examples in: those for the API by a plain create, the others by putting their manifest on the BullMQ queue. */
export async function submitExamples({ client, redisUrl, examples, folder, cleanUp, onConnection }: SubmitOptions): Promise<Submissions> {
  const submitter = connect({
    redis: redisUrl,
    onConnection: (state) =>
      onConnection(
        state === 'Lost'
          ? 'the submitter has lost Redis and connects again as soon as it can'
          : 'the submitter is connected to Redis again',
      ),
  });
  cleanUp.push(() => submitter.close());
  const waiting: { readonly name: string; readonly key: string }[] = [];
  for (const example of examples) {
    const { name } = example;
    const manifest = readExample(folder, example);
    if (example.kind === 'JobSet') await client.create(JOB_SETS, manifest as Unsaved<JobSet>);
    else if (example.through === 'API') await client.create(JOBS, manifest as Job);
    else waiting.push({ name, key: await submitter.submit(manifest as object, { name }) });
  }
  return { outcomes: (timeoutMs) => Promise.all(waiting.map(({ name, key }) => outcomeOf(name, submitter, key, timeoutMs))) };
}

async function outcomeOf(name: string, submitter: Client, key: string, timeoutMs: number): Promise<SubmitterOutcome> {
  if (timeoutMs === 0) return { name, settled: 'unsettled', value: '' };
  try {
    const outcome = await submitter.wait(key, { timeout: timeoutMs });
    // With spaces, at which a terminal's lines end.
    return { name, settled: 'resolved', value: JSON.stringify(outcome, undefined, 1).replaceAll(/\n */g, ' ') };
  } catch (error) {
    return { name, settled: 'rejected', value: error instanceof Error ? error.message : String(error) };
  }
}
