import type { Job } from '../../../shared/api/kubernetes.ts';
import { ApiError, isNotFound } from '../../../shared/kube/api-error.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import { canaryJob } from '../../canary/canary-job.ts';
import type { ClusterChoice, JobClient } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { onlyQueue } from '../only-queue.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { waitForJobs, type Ended } from '../wait-for-jobs.ts';
import { withCluster } from '../with-cluster.ts';
import { canaryTable, secondsOf, type CanaryResult } from './canary-table.ts';
import { chooseClusters } from './choice.ts';

export type CanaryRunConfig = ClusterChoice & {
  readonly clusters: readonly string[];
  readonly namespace: string | undefined;
  readonly queue: string | undefined;
  readonly image: string;
  readonly timeout: number;
  readonly output: Form;
};

/** Where this program is killed before it can delete them. */
const TTL_SECONDS = 600;

type Sent = { readonly cluster: string; readonly job: Job | undefined; readonly refusal: string };

export const runCanary = (config: CanaryRunConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client, kind, ...context }) => {
    const namespace = config.namespace ?? context.namespace;
    const { chosen, left } = chooseClusters((await client.list(WORKER_CLUSTERS)).items, config.clusters, namespace);
    for (const { cluster, why } of left) await session.errors.write(`${plain(cluster)} is left out: ${plain(why)}\n`);
    if (chosen.length === 0) throw new CommandError('there is no cluster that takes Jobs now');
    const queue = config.queue ?? (await onlyQueue(client, namespace));
    const submittedMs = session.now();
    const options = { namespace, queue, image: config.image, ttlSeconds: TTL_SECONDS };
    const sent = await Promise.all(chosen.map((cluster) => send({ client, kind }, cluster, options)));
    const jobs = sent.flatMap(({ job }) => (job === undefined ? [] : [job]));
    try {
      const ended =
        jobs.length === 0
          ? []
          : await waitWithin(config.timeout, session, (signal) => waitForJobs({ client, kind }, jobs, submittedMs, session, signal));
      if (session.signal.aborted) return ExitCode.Interrupted;
      const results = await Promise.all(sent.map((each) => resultOf({ client, kind }, each, ended)));
      await report(session, config.output, {
        lines: formatTable(canaryTable(results), session.output.width),
        value: {
          canaries: results.map(({ cluster, outcome, note, story }) => ({
            cluster,
            outcome,
            ...(note === '' ? {} : { message: note }),
            seconds: secondsOf(story),
          })),
          leftOut: left,
        },
      });
      const hasMissed = config.clusters.length > 0 && left.length > 0;
      return !hasMissed && results.every(({ outcome }) => outcome === 'Complete') ? ExitCode.Done : ExitCode.Failed;
    } finally {
      await Promise.all(jobs.map((job) => remove({ client, kind }, job)));
    }
  });

async function send({ client, kind }: JobClient, cluster: string, options: Parameters<typeof canaryJob>[3]): Promise<Sent> {
  const { metadata, ...job } = canaryJob(kind, cluster, '', options);
  const { name: _name, ...unnamed } = metadata;
  // The manager's own canary may be under way.
  const manifest = { ...job, metadata: { ...unnamed, generateName: 'switchyard-canary-' } };
  try {
    return { cluster, job: await client.create(kind.resource, manifest, { fieldManager: 'switchyard-cli' }), refusal: '' };
  } catch (error) {
    if (error instanceof ApiError && error.code !== 401) return { cluster, job: undefined, refusal: error.message };
    throw error;
  }
}

async function waitWithin<T>(timeoutMs: number, { signal }: Session, wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return wait(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
}

/** What it waits for, where it did not end in time, is in its conditions. */
async function resultOf({ client, kind }: JobClient, { cluster, job, refusal }: Sent, ended: readonly Ended[]): Promise<CanaryResult> {
  if (job === undefined) return { cluster, outcome: 'Refused', note: refusal, story: undefined };
  const end = ended.find((each) => each.job.metadata.uid === job.metadata.uid);
  if (end?.story.outcome !== undefined)
    return {
      cluster,
      outcome: end.story.outcome,
      note: [end.story.reason, end.story.message].filter(Boolean).join(': '),
      story: end.story,
    };
  if (end !== undefined) return { cluster, outcome: 'Deleted', note: 'somebody has deleted its Job', story: undefined };
  return { cluster, outcome: 'TimedOut', note: await whyNotEnded({ client, kind }, job), story: undefined };
}

async function whyNotEnded({ client, kind }: JobClient, job: Job): Promise<string> {
  const { status } = await client.get(kind.resource, objectKey(job));
  const [reserved, dispatched] = ['QuotaReserved', 'Dispatched'].map((type) => findCondition(status?.conditions, type));
  if (reserved === undefined) return 'no manager has looked at it';
  const told = reserved.status === 'True' && dispatched !== undefined ? dispatched : reserved;
  return `${told.reason ?? ''}: ${told.message ?? ''}`;
}

async function remove({ client, kind }: JobClient, job: Job): Promise<void> {
  try {
    await client.delete(kind.resource, objectKey(job), { propagationPolicy: 'Background', uid: job.metadata.uid });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
