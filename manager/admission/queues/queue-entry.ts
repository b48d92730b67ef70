import { HOLD_ANNOTATION } from '../../../shared/api/names.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { rejectedBy } from './admission-checks.ts';
import { placesOf } from '../quota/cluster-state.ts';
import { timeIsUp } from '../cache/execution-time.ts';
import type { QueuedWorkload } from '../workload/ordering.ts';
import type { PendingQueues } from './pending-queues.ts';
import type { PriorityClasses } from '../workload/priority.ts';
import { sizedFor } from '../cache/reclaimable.ts';
import { routeOf, type InadmissibleReason, type QueueingSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** A Workload in the ClusterQueue in which it waits. */
export type QueueEntry = { readonly clusterQueue: string; readonly strict: boolean; readonly queued: QueuedWorkload };

export type QueueEntryContext = {
  readonly queueing: QueueingSetup;
  readonly priorityClasses: PriorityClasses;
  /** What else is known to keep a Workload from any queue. */
  readonly keptOut?: ((workload: Workload) => InadmissibleReason | undefined) | undefined;
};

/** In which ClusterQueue a Workload waits, and with what it asks for there; or why it is not even queued. */
export function queueEntry(workload: Workload, arrival: number, context: QueueEntryContext): QueueEntry | InadmissibleReason {
  const keptOut = whyHeld(workload) ?? context.keptOut?.(workload);
  if (keptOut !== undefined) return keptOut;
  const route = routeOf(workload, context.queueing, context.priorityClasses);
  if ('reason' in route) {
    // A Job that came with a record of its own is told of both.
    return workload.untrusted === undefined ? route : { ...route, message: `${route.message}; ${workload.untrusted.problem}` };
  }
  const { queue, priority } = route;
  return (
    rejectedBy(workload, queue.checks ?? []) ?? {
      clusterQueue: queue.name,
      strict: queue.strict,
      queued: { workload: sizedFor(workload, queue), priority, arrival },
    }
  );
}

/** Why a Workload that rests is not even queued: somebody has it rest, or it has no time left, whatever else there is to say of it. */
export function whyHeld(workload: Workload): InadmissibleReason | undefined {
  const { hold, namespace, name } = workload;
  if (hold === true)
    return {
      reason: QuotaReservedReason.Held,
      message: `held by annotation ${HOLD_ANNOTATION}; to release it: kubectl annotate job -n ${namespace} ${name} ${HOLD_ANNOTATION}-`,
    };
  const message = timeIsUp(workload);
  return message === undefined ? undefined : { reason: QuotaReservedReason.MaximumExecutionTimeExceeded, message };
}

/** Puts a Workload into its queue. Those that ask for the same are not alike where they may go to other clusters, or a cluster has failed others of the shape of one of them. */
export function putInQueue(
  queues: Pick<PendingQueues, 'add'>,
  cache: { readonly clusters: AdmissionCache['clusters']; readonly shapes: Pick<AdmissionCache['shapes'], 'knows'> },
  { clusterQueue, strict, queued }: QueueEntry,
): void {
  const { namespace, shape } = queued.workload;
  const places = placesOf(cache.clusters(), namespace);
  queues.add(clusterQueue, strict, queued, cache.shapes.knows(shape) ? [...places, shape] : places);
}
