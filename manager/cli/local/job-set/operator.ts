import { createWriteStream } from 'node:fs';
import path from 'node:path';
import type { DeepReadonly, Job, Unsaved } from '../../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import { isAlreadyExists, isNotFound } from '../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../../../shared/kube/controller.ts';
import { controllerOf } from '../../../../shared/kube/controller-of.ts';
import { createInformer } from '../../../../shared/kube/informer.ts';
import { keyOf, keyOfObject, objectKey, parseKey } from '../../../../shared/kube/keys.ts';
import { createWorkqueue } from '../../../../shared/kube/workqueue.ts';
import { systemClock, type Clock } from '../../../../shared/runtime/clock.ts';
import type { Logger, LogLevel } from '../../../../shared/runtime/logger.ts';
import { createLogger } from '../../../../shared/runtime/pino-logger.ts';
import { onAbort } from '../../../../shared/runtime/tasks.ts';
import type { Random } from '../../../../shared/runtime/random.ts';
import { decideJobSet } from './decide.ts';
import { JOB_SETS } from './definition.ts';

export type JobSetOperatorDeps = {
  /** Of the cluster that it runs on; its rights are those of JobSet's controller. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

const RATE_LIMIT = { baseDelayMs: 100, maxDelayMs: 10_000 };
const OWNER_INDEX = 'owner';

/** Runs the JobSets of a cluster as child Jobs until `signal` aborts: in place of JobSet's own controller, with less than it can do. */
export async function runJobSetOperator({ client, clock, random, log }: JobSetOperatorDeps, signal: AbortSignal): Promise<void> {
  const of = { client, clock, random, log };
  const jobSets = createInformer({ ...of, resource: JOB_SETS });
  const jobs = createInformer({ ...of, resource: JOBS, indexers: { [OWNER_INDEX]: (job) => [controllerOf(job)?.uid ?? ''] } });
  const queue = createWorkqueue({ name: 'job_sets', clock, rateLimit: RATE_LIMIT });
  const changed = (jobSet: Parameters<typeof keyOfObject>[0]): void => queue.add(keyOfObject(jobSet));
  const childChanged = (job: DeepReadonly<Job>): void => {
    const owner = controllerOf(job);
    if (owner?.kind === JOB_SETS.kind) queue.add(keyOf(job.metadata.namespace, owner.name));
  };
  jobSets.addHandler({ added: changed, updated: changed });
  jobs.addHandler({ added: childChanged, updated: childChanged, deleted: childChanged });

  const reconcile = async (key: string): Promise<ReconcileResult> => {
    const jobSet = jobSets.get(parseKey(key));
    if (jobSet === undefined) return;
    const { uid, resourceVersion } = jobSet.metadata;
    const decision = decideJobSet(jobSet, jobs.byIndex(OWNER_INDEX, uid), clock.now());
    for (const child of decision.create) await create(child, uid);
    for (const { child, value } of decision.suspend)
      await unlessGone(
        client.patch(JOBS, objectKey(child), { type: 'merge', body: { metadata: { uid: child.metadata.uid }, spec: { suspend: value } } }),
      );
    for (const child of decision.remove)
      await unlessGone(client.delete(JOBS, objectKey(child), { propagationPolicy: 'Background', uid: child.metadata.uid }));
    // The next step decides by what was written, not by a cache from before.
    if (decision.create.length + decision.suspend.length + decision.remove.length > 0) await jobs.catchUp(signal);
    if (decision.status === undefined) return;
    // The version: the status is that of the JobSet that was read, or is decided again.
    const body = { metadata: { uid, resourceVersion }, status: decision.status };
    await unlessGone(client.patchStatus(JOB_SETS, objectKey(jobSet), { type: 'merge', body }));
  };

  /** The cache may not have the child yet. A Job of somebody else in its place makes the JobSet wait. */
  async function create(child: Unsaved<Job>, owner: string): Promise<void> {
    try {
      await client.create(JOBS, child);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const present = await client.get(JOBS, { namespace: child.metadata.namespace ?? '', name: child.metadata.name ?? '' });
      if (controllerOf(present)?.uid !== owner) throw new Error(`the Job ${present.metadata.name} exists and is none of this JobSet`);
    }
  }

  const informing = Promise.all([jobSets.run(signal), jobs.run(signal)]);
  onAbort(signal, () => queue.shutDown());
  const working = Promise.all([jobSets.waitForSync(signal), jobs.waitForSync(signal)]).then(
    () => runController({ name: 'job-sets', queue, concurrency: 1, reconcile, log }),
    () => undefined, // ended before the first lists were there
  );
  await Promise.all([informing, working]);
}

/** One for each cluster, in this process, with a log of its own in `directory`; the result ends them. */
export function startJobSetOperators(
  clusters: readonly { readonly name: string; readonly client: KubeClient }[],
  { directory, logLevel }: { readonly directory: string; readonly logLevel: LogLevel },
): () => Promise<void> {
  const stop = new AbortController();
  const running = clusters.map(({ name, client }) => {
    const log = createLogger(logLevel, createWriteStream(path.join(directory, `jobset-operator-${name}.log`)));
    return runJobSetOperator({ client, clock: systemClock, random: Math.random, log }, stop.signal);
  });
  return async () => {
    stop.abort(new Error('the quick start ends'));
    await Promise.all(running);
  };
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
