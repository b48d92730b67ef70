/**
 * Deletes finished Jobs whose `ttlSecondsAfterFinished` is over (KEP-592), whoever ran them. The time to live may be
 * changed after the end, so it is read again, from the server, before anything is deleted.
 */
import { Histogram, type Registry } from 'prom-client';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { finishedCondition, isFinished } from '../../shared/kube/conditions.ts';
import type { Reconcile, ReconcileResult } from '../../shared/kube/controller.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { isDeleting } from '../job/pod-view.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';

export interface TtlMetrics {
  /** Seconds from the end of the time to live to the deletion. */
  deleted(delaySeconds: number): void;
}

export function createTtlMetrics(registry: Registry): TtlMetrics {
  const delay = new Histogram({
    name: 'ttl_after_finished_controller_job_deletion_duration_seconds',
    help: 'The time it took to delete the job since it became eligible for deletion',
    buckets: Array.from({ length: 14 }, (_, k) => 0.1 * 2 ** k),
    registers: [registry],
  });
  return { deleted: (delaySeconds) => delay.observe(delaySeconds) };
}

export type TtlDeps = {
  readonly client: ReadClient & WriteClient;
  readonly jobs: Lister<Job>;
  readonly clock: Clock;
  readonly metrics: TtlMetrics;
  readonly log: Logger;
};

/** Queues every finished Job that has a time to live. */
export function ttlTriggers(queue: Workqueue): EventHandler<Job> {
  const consider = (job: DeepReadonly<Job>): void => {
    if (isMortal(job)) queue.add(keyOfObject(job));
  };
  return { added: consider, updated: consider };
}

export function createTtlReconciler({ client, jobs, clock, metrics, log }: TtlDeps): Reconcile {
  return async function reconcileTtl(key: string): Promise<ReconcileResult> {
    const cached = jobs.get(parseKey(key));
    if (cached === undefined || !isMortal(cached)) return undefined;
    const cachedMs = remainingMs(cached);
    if (cachedMs > 0) return { requeueAfterMs: cachedMs };
    const job = await readLive(key);
    if (job === undefined || !isMortal(job)) return undefined;
    const liveMs = remainingMs(job);
    if (liveMs > 0) return { requeueAfterMs: liveMs };
    await deleteJob(job);
    metrics.deleted(-liveMs / 1000);
    log.info('deleted a finished job: its time to live is over', { namespace: job.metadata.namespace, job: job.metadata.name });
    return undefined;
  };

  /** Until the Job's time is over; negative afterwards. */
  function remainingMs(job: DeepReadonly<Job>): number {
    const finishedMs = parseWireTime(finishedCondition(job.status)?.lastTransitionTime);
    const { namespace, name } = job.metadata;
    if (finishedMs === undefined) throw new Error(`unable to find the time when job ${namespace}/${name} finished`);
    if (finishedMs > clock.now()) log.warn('job finished in the future: clocks differ', { namespace, job: name });
    return finishedMs + (job.spec.ttlSecondsAfterFinished ?? 0) * 1000 - clock.now();
  }

  async function readLive(key: string): Promise<Job | undefined> {
    try {
      return await client.get(JOBS, parseKey(key));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Foreground, so that the pods are gone before the Job is. Of this Job only, not of another one under its name. */
  async function deleteJob(job: DeepReadonly<Job>): Promise<void> {
    const { namespace, name, uid } = job.metadata;
    try {
      await client.delete(JOBS, { namespace, name }, { propagationPolicy: 'Foreground', uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const isMortal = (job: DeepReadonly<Job>): boolean =>
  typeof job.spec.ttlSecondsAfterFinished === 'number' && !isDeleting(job) && isFinished(job.status);
