import type { Job } from '../../../shared/api/kubernetes.ts';
import type { JobProgress } from '../../api/job-progress.ts';
import { explain } from '../../insight/explain/explain.ts';
import type { JobManifest } from '../../policy/prepare-job.ts';
import type { ClusterChoice, JobClient } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { ExitCode } from '../exit-codes.ts';
import { explanationText } from '../explain/explanation-text.ts';
import { readWorld, UnreadableWorldError } from '../explain/world-reader.ts';
import { keyOf } from '../jobs/read-jobs.ts';
import { createProgressLine, type ProgressLine } from '../progress-line.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { waitForJobs, type Ended } from '../wait-for-jobs.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';
import { jobsOf } from './manifests.ts';
import { textOf } from './read-file.ts';

export type SubmitConfig = ClusterChoice & {
  readonly files: readonly string[];
  readonly namespace: string | undefined;
  readonly queue: string | undefined;
  readonly output: Form;
  readonly wait: boolean;
  /** 0: none. */
  readonly timeout: number;
  readonly 'dry-run': boolean;
};

export const runSubmit = (config: SubmitConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client, kind, ...context }) => {
    const { files, queue, output, wait, timeout } = config;
    const namespace = config.namespace ?? context.namespace;
    const manifests = files.flatMap((file) => jobsOf(kind, file === '-' ? 'standard input' : file, textOf(file), { namespace, queue }));
    // Every one is accepted by the server's own rules, or none is made.
    const progress = createProgressLine(session.errors, manifests.length, session.now);
    const tried = await inOrder(manifests, (manifest) => create({ client, kind }, manifest, true), progress, 'looked at');
    if (config['dry-run']) return sayWhere({ client, kind }, tried, session, output);
    const submittedMs = session.now();
    const jobs = await inOrder(manifests, (manifest) => create({ client, kind }, manifest, false), progress, 'submitted');
    let ended: readonly Ended[] = [];
    const tell = (): Promise<void> =>
      report(session, output, {
        lines: jobs.map((job) => `${keyOf(job)} submitted`),
        value: { jobs: jobs.map((job) => ({ job: keyOf(job), uid: job.metadata.uid, result: 'submitted', ...storyOf(job, ended) })) },
      });
    // A program reads one document: that of the ends, where they are waited for.
    if (output === 'text' || !wait) await tell();
    if (!wait) return ExitCode.Done;
    const what = jobs.length === 1 ? `${keyOf(jobs[0] as Job)} has not ended` : 'not all of them have ended';
    try {
      return await waitingFor({ session, timeoutMs: timeout, what }, async (signal, done) => {
        ended = await waitForJobs({ client, kind }, jobs, submittedMs, session, signal);
        if (ended.length === jobs.length) done(ended.every(({ story }) => story.outcome === 'Complete') ? ExitCode.Done : ExitCode.Failed);
      });
    } finally {
      if (output !== 'text') await tell();
    }
  });

/** Of those that have ended by then. */
const storyOf = ({ metadata }: Job, ended: readonly Ended[]): JobProgress | undefined =>
  ended.find(({ job }) => job.metadata.uid === metadata.uid)?.story;

const create = ({ client, kind }: JobClient, manifest: JobManifest, dryRun: boolean): Promise<Job> =>
  client.create(kind.resource, manifest, { dryRun, fieldValidation: 'Strict', fieldManager: 'switchyard-cli' });

/** One after the other: whoever is refused has those before it, and none behind it. */
async function inOrder<A, B>(all: readonly A[], each: (one: A) => Promise<B>, progress: ProgressLine, words: string): Promise<B[]> {
  const results: B[] = [];
  try {
    for (const one of all) {
      results.push(await each(one));
      await progress.show(() => ({ done: results.length, total: all.length, words }));
    }
  } finally {
    await progress.end();
  }
  return results;
}

/** Each as if it were the last that was submitted, in the world as it is now. */
async function sayWhere({ client, kind }: JobClient, tried: readonly Job[], session: Session, output: Form): Promise<number> {
  const explanations = await explanationsOf({ client, kind }, tried, session.now());
  if (typeof explanations === 'string')
    await session.errors.write(`All of them would be accepted. Where they would run cannot be said: ${explanations}\n`);
  const known = typeof explanations === 'string' ? [] : explanations;
  const lines =
    known.length === 0 ? tried.map((job) => `${keyOf(job)} would be accepted`) : known.map((each) => explanationText(each).trimEnd());
  await report(session, output, {
    lines,
    value: {
      dryRun: true,
      jobs: tried.map((job, index) => ({ job: keyOf(job), ...(known[index] === undefined ? {} : { explanation: known[index] }) })),
    },
  });
  return ExitCode.Done;
}

async function explanationsOf({ client, kind }: JobClient, tried: readonly Job[], nowMs: number) {
  try {
    return await Promise.all(
      tried.map(async (job) => {
        const { world, jobs } = await readWorld({ client, kind }, nowMs, { added: [job] });
        const own = jobs.find(({ metadata }) => metadata.uid === job.metadata.uid) ?? job;
        const workload = world.workloads.find(({ uid }) => uid === job.metadata.uid);
        if (workload === undefined) throw new Error(`${keyOf(job)} is no workload`);
        return explain(world, own, workload);
      }),
    );
  } catch (error) {
    if (error instanceof UnreadableWorldError) return error.message;
    throw error;
  }
}
