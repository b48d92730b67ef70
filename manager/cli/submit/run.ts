import type { Job } from '../../../shared/api/kubernetes.ts';
import { queueNameOf } from '../../api/job-annotations.ts';
import type { JobProgress } from '../../api/job-progress.ts';
import { explain } from '../../insight/explain/explain.ts';
import type { JobManifest } from '../../policy/prepare-job.ts';
import type { ClusterChoice, ClusterConnection, JobClient } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { ExitCode } from '../exit-codes.ts';
import { explanationText } from '../explain/explanation-text.ts';
import { readWorld } from '../explain/world-reader.ts';
import { keyOf } from '../jobs/read-jobs.ts';
import { createProgressLine, type ProgressLine } from '../progress-line.ts';
import { report } from '../report.ts';
import { isClosed } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { waitForJobs, type Ended } from '../wait-for-jobs.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';
import { checkQueue, onlyQueue } from '../only-queue.ts';
import { hasOtherKinds, jobsOf, namespacesWithoutQueue } from './manifests.ts';
import { filesOf, textOf } from './read-file.ts';

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
  withCluster(config, async (connection) => {
    const { output, wait, timeout } = config;
    const { manifests, by } = await manifestsOf(connection, config, config.namespace ?? connection.namespace);
    // Every one is accepted by the server's own rules, or none is made.
    const progress = createProgressLine(session.errors, manifests.length, session.now);
    const tried = await abreast(manifests, (manifest) => create(by, manifest, true), progress, 'looked at');
    if (config['dry-run']) return sayWhere(connection, tried, session, output);
    const submittedMs = session.now();
    const made: Job[] = [];
    const jobs = await abreast(
      manifests,
      async (manifest) => {
        const job = await create(by, manifest, false);
        made.push(job);
        return job;
      },
      progress,
      'submitted',
    ).catch(async (error: unknown) => {
      const left = manifests.length - made.length;
      if (made.length > 0)
        await session.errors.write(`submitted: ${made.map(keyOf).join(', ')}; not submitted: ${left} of ${manifests.length}\n`);
      throw error;
    });
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
        ended = await waitForJobs(by, jobs, submittedMs, session, signal);
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

/** The Jobs of all files, each in a LocalQueue that exists. */
async function manifestsOf(
  connection: ClusterConnection,
  { files, queue }: SubmitConfig,
  namespace: string,
): Promise<{ readonly manifests: readonly JobManifest[]; readonly by: JobClient }> {
  const { client } = connection;
  const sources = files.flatMap(filesOf).map((file) => ({ file: file === '-' ? 'standard input' : file, text: textOf(file) }));
  const without = queue === undefined ? sources.flatMap(({ file, text }) => namespacesWithoutQueue(file, text, namespace)) : [];
  const only = new Map<string, string>();
  for (const each of new Set(without)) only.set(each, await onlyQueue(client, each));
  const by = sources.some(({ file, text }) => hasOtherKinds(connection.kind, file, text)) ? await connection.kinds() : connection;
  const manifests = sources.flatMap(({ file, text }) => jobsOf(by.kind, file, text, { namespace, queueOf: (of) => queue ?? only.get(of) }));
  const named = new Map(
    manifests.map((manifest) => {
      const place = { namespace: manifest.metadata.namespace ?? namespace, queue: queueNameOf(manifest) ?? '' };
      return [`${place.namespace}/${place.queue}`, place] as const;
    }),
  );
  for (const place of named.values()) await checkQueue(client, place.namespace, place.queue);
  return { manifests, by };
}

/** Requests in flight at once. */
const CONCURRENCY = 8;

/** Results in the order of the arguments. After the first error nothing is begun any more, and what was begun ends before it is thrown. */
async function abreast<A, B>(all: readonly A[], each: (one: A) => Promise<B>, progress: ProgressLine, words: string): Promise<B[]> {
  const results = new Map<number, B>();
  const rest = [...all.entries()];
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const [at, one] = next;
      try {
        results.set(at, await each(one));
        await progress.show(() => ({ done: results.size, total: all.length, words }));
      } catch (error) {
        failure ??= { error };
        rest.length = 0;
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    if (failure !== undefined) throw failure.error;
  } finally {
    await progress.end();
  }
  return all.flatMap((_one, at) => (results.has(at) ? [results.get(at) as B] : []));
}

/** Each as if it were the last that was submitted, in the world as it is now. */
async function sayWhere(connection: ClusterConnection, tried: readonly Job[], session: Session, output: Form): Promise<number> {
  const explanations = await explanationsOf(connection, tried, session.now());
  if (typeof explanations === 'string')
    await session.errors.write(
      `All of them would be accepted. Where they would run cannot be said: ${explanations}; switchyard what-if --submit FILE asks the manager\n`,
    );
  const { known, others } = typeof explanations === 'string' ? { known: [], others: [] } : explanations;
  const lines =
    known.length === 0
      ? tried.map((job) => `${keyOf(job)} would be accepted`)
      : known.map((each) => explanationText(each, others).trimEnd());
  await report(session, output, {
    lines,
    value: {
      dryRun: true,
      jobs: tried.map((job, index) => ({ job: keyOf(job), ...(known[index] === undefined ? {} : { explanation: known[index] }) })),
    },
  });
  return ExitCode.Done;
}

async function explanationsOf(connection: ClusterConnection, tried: readonly Job[], nowMs: number) {
  try {
    const by = await connection.kinds();
    const known = await Promise.all(
      tried.map(async (job) => {
        const { world, jobs } = await readWorld(by, nowMs, { added: [job] });
        const own = jobs.find(({ metadata }) => metadata.uid === job.metadata.uid) ?? job;
        const workload = world.workloads.find(({ uid }) => uid === job.metadata.uid);
        if (workload === undefined) throw new Error(`${keyOf(job)} is no workload`);
        return explain(world, own, workload);
      }),
    );
    return { known, others: by.kind.others };
  } catch (error) {
    if (isClosed(error)) return error.message;
    throw error;
  }
}
