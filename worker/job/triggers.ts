/**
 * What wakes a Job: the events of Jobs and pods, turned into keys of queues and into observed expectations.
 * An event never says what to do; the reconcile that follows looks for itself.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, Job, OwnerReference, Pod } from '../../shared/api/kubernetes.ts';
import { hasPodFence } from '../../shared/api/pod-fence.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import type { EventHandler, Informer } from '../../shared/kube/informer.ts';
import { keyOf, keyOfObject } from '../../shared/kube/keys.ts';
import { matchesSelectorObject } from '../../shared/kube/selectors.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { JobMemory } from './job-memory.ts';
import { controllerNameOf } from './job-view.ts';
import type { JobMetrics } from './metrics.ts';
import { formatOrphanKey, orphanKeyOfJob } from './orphan-pods.ts';
import { nextSyncDelayMs } from './pace.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { resolveOwner } from './pod-cache.ts';
import { hasTrackingFinalizer, isDeleting, isCounted, isTerminal } from './pod-view.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';

export type TriggerDeps = {
  readonly jobs: Informer<Job>;
  readonly queue: Workqueue;
  readonly orphanQueue: Workqueue;
  readonly memory: JobMemory;
  readonly metrics: JobMetrics;
  readonly clock: Clock;
  readonly controllerName: string;
  /** Syncs that pods ask for are gathered over this time, in milliseconds. */
  readonly batchPeriodMs: number;
};

export function jobTriggers({ queue, orphanQueue, memory, metrics, clock, controllerName, batchPeriodMs }: TriggerDeps): EventHandler<Job> {
  return {
    added(job) {
      queue.add(keyOfObject(job));
      const owner = controllerNameOf(job);
      if (owner !== controllerName) metrics.externallyManaged(owner);
    },

    updated(job, previous) {
      // A finished Job has nothing left to do but to let go of pods that came too late.
      if (isFinished(job.status)) {
        orphanQueue.add(orphanKeyOfJob(job, false));
        return;
      }
      const key = keyOfObject(job);
      if (job.metadata.generation === previous.metadata.generation)
        queue.addAfter(key, nextSyncDelayMs(memory, job.metadata, batchPeriodMs));
      else queue.add(key);
      const deadlineSeconds = job.spec.activeDeadlineSeconds ?? undefined;
      const startedMs = parseWireTime(job.status?.startTime);
      if (deadlineSeconds === undefined || startedMs === undefined || deadlineSeconds === previous.spec.activeDeadlineSeconds) return;
      queue.addAfter(key, deadlineSeconds * 1000 - (clock.now() - startedMs));
    },

    deleted(job) {
      queue.add(keyOfObject(job));
      memory.forget(job.metadata.uid);
      orphanQueue.add(orphanKeyOfJob(job, true));
    },
  };
}

export function podTriggers(deps: TriggerDeps): EventHandler<Pod> {
  return new PodTriggers(deps);
}

class PodTriggers implements EventHandler<Pod> {
  readonly #deps: TriggerDeps;

  constructor(deps: TriggerDeps) {
    this.#deps = deps;
  }

  added(pod: DeepReadonly<Pod>): void {
    this.#noteTracked(undefined, pod);
    const owner = controllerOf(pod);
    if (isDeleting(pod)) {
      // UPSTREAM.md Q19: the creation is seen, however short the pod's life.
      const created = this.#ownerOf(pod, owner);
      if (created !== undefined) this.#creationObserved(created, pod);
      return this.#podDeleted(pod, false);
    }
    if (owner === undefined) {
      this.#queueOrphan(pod);
      return this.#wakeMatchingJobs(pod);
    }
    const job = this.#ownerOf(pod, owner);
    if (job === undefined) return;
    this.#creationObserved(job, pod);
    if (isCounted(pod)) this.#deps.memory.surveyed.delete(job.metadata.uid);
    this.#wake(job);
  }

  #noteTracked(previous: DeepReadonly<Pod> | undefined, pod: DeepReadonly<Pod> | undefined): void {
    const [was, is] = [isTerminalAndTracked(previous), isTerminalAndTracked(pod)];
    if (was !== is) this.#deps.metrics.terminatedPodTracked(is ? 'add' : 'delete');
  }

  #ownerOf(pod: DeepReadonly<Pod>, owner: DeepReadonly<OwnerReference> | undefined): DeepReadonly<Job> | undefined {
    return resolveOwner(this.#deps.jobs, pod.metadata.namespace, owner);
  }

  #creationObserved({ metadata: { uid } }: DeepReadonly<Job>, pod: DeepReadonly<Pod>): void {
    const { memory } = this.#deps;
    memory.expectations.creationObserved(uid);
    memory.doubtfulPods.seen(uid, pod.metadata.name);
  }

  #podDeleted(pod: DeepReadonly<Pod>, isGone: boolean): void {
    const { memory } = this.#deps;
    const job = this.#ownerOf(pod, controllerOf(pod));
    if (job === undefined) return this.#queueOrphan(pod);
    if (isGone || !hasTrackingFinalizer(pod)) memory.finalizerExpectations.removalObserved(job.metadata.uid, pod.metadata.uid);
    if (isFinished(job.status)) return this.#queueOrphan(pod);
    memory.expectations.deletionObserved(job.metadata.uid);
    this.#wake(job);
  }

  #queueOrphan(pod: DeepReadonly<Pod>): void {
    if (!hasTrackingFinalizer(pod)) return;
    this.#deps.orphanQueue.add(formatOrphanKey({ kind: 'pod', namespace: pod.metadata.namespace, name: pod.metadata.name }));
  }

  #wake(job: DeepReadonly<Job>): void {
    const { queue, memory, batchPeriodMs } = this.#deps;
    queue.addAfter(keyOf(job.metadata.namespace, job.metadata.name), nextSyncDelayMs(memory, job.metadata, batchPeriodMs));
  }

  #wakeMatchingJobs(pod: DeepReadonly<Pod>): void {
    if (Object.keys(pod.metadata.labels ?? {}).length === 0) return;
    for (const job of this.#deps.jobs.list(pod.metadata.namespace)) {
      if (matchesSelectorObject(job.spec.selector, pod.metadata.labels)) this.#wake(job);
    }
  }

  updated(pod: DeepReadonly<Pod>, previous: DeepReadonly<Pod>): void {
    if (isRenewalOnly(pod, previous)) return;
    this.#noteTracked(previous, pod);
    if (isDeleting(pod)) return this.#podDeleted(pod, false);
    const [owner, previousOwner] = [controllerOf(pod), controllerOf(previous)];
    const ownerChanged = owner?.uid !== previousOwner?.uid;
    if (ownerChanged && previousOwner !== undefined) this.#wakeOwner(pod, previousOwner, true);
    if (owner !== undefined) return this.#wakeOwner(pod, owner, ownerChanged || labelsDiffer(pod, previous));
    this.#queueOrphan(pod);
    if (ownerChanged || labelsDiffer(pod, previous)) this.#wakeMatchingJobs(pod);
  }

  #wakeOwner(pod: DeepReadonly<Pod>, owner: DeepReadonly<OwnerReference>, mayNoLongerMatch: boolean): void {
    const { memory } = this.#deps;
    const job = this.#ownerOf(pod, owner);
    if (job === undefined) return;
    if (!hasTrackingFinalizer(pod)) memory.finalizerExpectations.removalObserved(job.metadata.uid, pod.metadata.uid);
    if (mayNoLongerMatch) memory.surveyed.delete(job.metadata.uid);
    this.#wake(job);
  }

  deleted(pod: DeepReadonly<Pod>): void {
    this.#noteTracked(pod, undefined);
    this.#podDeleted(pod, true);
  }
}

/** Of a pod with a pod fence most events tell of its renewal, of which nothing is kept. */
const isRenewalOnly = (pod: DeepReadonly<Pod>, previous: DeepReadonly<Pod>): boolean =>
  hasPodFence(pod) && isDeepStrictEqual(contentOf(pod), contentOf(previous));

const contentOf = ({ metadata, status }: DeepReadonly<Pod>): object => ({ metadata: { ...metadata, resourceVersion: '' }, status });

const isTerminalAndTracked = (pod: DeepReadonly<Pod> | undefined): boolean =>
  pod !== undefined && isTerminal(pod) && hasTrackingFinalizer(pod);

function labelsDiffer(pod: DeepReadonly<Pod>, previous: DeepReadonly<Pod>): boolean {
  const [labels, before] = [pod.metadata.labels ?? {}, previous.metadata.labels ?? {}];
  return Object.keys(labels).length !== Object.keys(before).length || Object.entries(labels).some(([key, value]) => before[key] !== value);
}
