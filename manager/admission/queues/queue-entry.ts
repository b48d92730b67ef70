import { HOLD_ANNOTATION } from '../../../shared/api/names.ts';
import { preemptedMessage } from '../../api/preempted.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { pendingChecks, rejectedBy } from './admission-checks.ts';
import { awaitedAnswer } from './cluster-objects.ts';
import { type CarriedObjects, carryingWorkload, missingReference } from './carried-objects.ts';
import { placesOf } from '../quota/cluster-state.ts';
import { timeIsUp } from '../cache/execution-time.ts';
import { refusalIn } from '../workload/avoidance.ts';
import type { QueuedWorkload } from '../workload/ordering.ts';
import type { PendingQueues } from './pending-queues.ts';
import type { PriorityClasses } from '../workload/priority.ts';
import { sizedFor } from '../cache/reclaimable.ts';
import { routeOf, type InadmissibleReason, type QueueingSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';
import { kubectlOperands } from '../../work-kind/qualified-name.ts';

/** A Workload in the ClusterQueue in which it waits. */
export type QueueEntry = { readonly clusterQueue: string; readonly strict: boolean; readonly queued: QueuedWorkload };

export type QueueEntryContext = {
  readonly queueing: QueueingSetup;
  readonly priorityClasses: PriorityClasses;
  /** A further reason to keep a Workload out of any queue. */
  readonly keptOut?: ((workload: Workload) => InadmissibleReason | undefined) | undefined;
  /** The objects of the manager cluster that may travel with Jobs; absent: all objects count as present. */
  readonly carriedObjects?: CarriedObjects | undefined;
};

/** The ClusterQueue in which a Workload waits and its requests there, or why it is not queued. */
export function queueEntry(workload: Workload, arrival: number, context: QueueEntryContext): QueueEntry | InadmissibleReason {
  const keptOut = whyHeld(workload) ?? context.keptOut?.(workload);
  if (keptOut !== undefined) return keptOut;
  const route = routeOf(workload, context.queueing, context.priorityClasses);
  if ('reason' in route) {
    // A Job that brought an admission record of its own gets both messages.
    return workload.untrusted === undefined ? route : { ...route, message: `${route.message}; ${workload.untrusted.problem}` };
  }
  const { queue, priority } = route;
  const carrying = carryingWorkload(workload, route.carry, route.carryContent);
  return (
    rejectedBy(workload, queue.checks ?? []) ??
    missingReference(carrying, context.carriedObjects) ??
    awaitedAnswer(workload) ?? {
      clusterQueue: queue.name,
      strict: queue.strict,
      queued: { workload: sizedFor(carrying, queue), priority, arrival },
    }
  );
}

/** Why a suspended Workload is not queued, before any other reason: it is held, or its maximum execution time is used up. */
export function whyHeld(workload: Workload): InadmissibleReason | undefined {
  const { hold, namespace, name } = workload;
  if (hold === true)
    return {
      reason: QuotaReservedReason.Held,
      message: `held by annotation ${HOLD_ANNOTATION}; to release it: kubectl annotate ${kubectlOperands({ namespace, name })} ${HOLD_ANNOTATION}-`,
    };
  const message = timeIsUp(workload);
  return message === undefined ? undefined : { reason: QuotaReservedReason.MaximumExecutionTimeExceeded, message };
}

/** Why a Workload that was admitted, and is suspended, is not queued yet: something of it may run. */
export function whyHeldBack(workload: Workload): InadmissibleReason {
  const { untrusted, record } = workload;
  if (workload.phase === 'Reserved' && record !== undefined) return pendingChecks(record);
  if (untrusted === undefined && record !== undefined) {
    const why = timeIsUp(workload) ?? refusalIn(record) ?? (record.preempted && preemptedMessage(record.preempted));
    return why === undefined ? EVICTED : { ...EVICTED, message: `${EVICTED.message}; ${why}` };
  }
  const problem = untrusted?.problem ?? 'it has no admission record';
  const held = workload.hold === true ? whyHeld(workload) : undefined;
  if (held !== undefined) return { ...held, message: `${problem}; it is ${held.message}`, mayRun: true };
  return { reason: QuotaReservedReason.RecordNotTrusted, message: `${problem}; it waits until nothing of it runs any more` };
}

const EVICTED: InadmissibleReason = {
  reason: QuotaReservedReason.Evicted,
  message: 'suspended after admission; quota is held until nothing runs any more',
};

/**
 * Adds a Workload to its queue. Workloads with equal requests are in different classes if their namespaces have different clusters, if a
 * cluster has failed Jobs of one's shape, or if clusters lack what one needs.
 */
export function putInQueue(
  queues: Pick<PendingQueues, 'add'>,
  cache: { readonly clusters: AdmissionCache['clusters']; readonly shapes: Pick<AdmissionCache['shapes'], 'knows'> },
  { clusterQueue, strict, queued }: QueueEntry,
): void {
  const { namespace, shape, lacks } = queued.workload;
  const places = placesOf(cache.clusters(), namespace);
  const apart = lacks === undefined ? places : [...places, JSON.stringify(lacks)];
  queues.add(clusterQueue, strict, queued, cache.shapes.knows(shape) ? [...apart, shape] : apart);
}
