import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { PODS } from '../../shared/api/resources.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { InvariantMetrics } from '../../shared/runtime/invariant-metrics.ts';
import { createInvariantWatch, type InvariantWatch } from '../../shared/runtime/invariant-watch.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { hasTrackingFinalizer } from '../job/pod-view.ts';
import { findingsOfPod, POD_GRACE_MS, type PodInvariant } from './pod-invariants.ts';

/** Watches the promises that are made of pods, in what the worker has in its caches. */
export type LiveInvariants = InvariantWatch & { readonly handler: EventHandler<Pod> };

export function createLiveInvariants(deps: {
  readonly jobs: Lister<Job>;
  readonly pods: Lister<Pod>;
  readonly controllerName: string;
  readonly recorder: EventRecorder;
  readonly metrics: InvariantMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}): LiveInvariants {
  const { jobs, pods, controllerName, recorder, metrics, clock, log } = deps;
  const podOf = (key: string): DeepReadonly<Pod> | undefined => pods.get(parseKey(key));
  const watch = createInvariantWatch<PodInvariant>({
    graceMs: POD_GRACE_MS,
    findingsOf: (key) => findingsOfPod(podOf(key), jobs, controllerName),
    *subjects() {
      for (const pod of pods.list()) if (hasTrackingFinalizer(pod)) yield keyOfObject(pod);
    },
    seen: (key) => ({ metadata: podOf(key)?.metadata, phase: podOf(key)?.status?.phase }),
    onViolation({ subject, invariant, message }) {
      const pod = podOf(subject);
      if (pod !== undefined) recorder.event(PODS, pod, 'Warning', 'InvariantViolated', `${invariant}: ${message}`);
    },
    metrics,
    clock,
    log,
  });
  // One that is on its way out is what is kept by a finalizer; the others come round in their turn.
  const changed = (pod: DeepReadonly<Pod>): void => {
    if (pod.metadata.deletionTimestamp !== undefined && hasTrackingFinalizer(pod)) watch.changed(keyOfObject(pod));
  };
  return { ...watch, handler: { added: changed, updated: changed } };
}
