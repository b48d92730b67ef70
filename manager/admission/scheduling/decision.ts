import type { AdmissionRecord } from '../../api/records.ts';
import type { FlavorOption } from '../flavors/flavor-assigner.ts';
import type { QueuedWorkload } from '../workload/ordering.ts';
import type { ExpectedStart } from './expected-start.ts';
import type { ClusterVerdict } from '../flavors/cluster-verdict.ts';
import type { Victim } from '../preemption/preemption.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';

/** The decision of a scheduling cycle about one head. */
export type Decision =
  | Admit
  | Inadmissible
  | Preempting
  /** The head was nominated as Fit until another head of this cycle took the capacity. It is nominated again in the next cycle. */
  | Requeue;
export type Admit = {
  readonly kind: 'Admit';
  readonly head: Head;
  readonly record: AdmissionRecord;
  /** The Workload goes in front of one with an expected start, because it is expected to end before. */
  readonly inFront?: true;
};
export type Requeue = { readonly kind: 'Requeue'; readonly head: Head };

/** The first Workload of a ClusterQueue. */
export type Head = {
  readonly clusterQueue: string;
  readonly queued: QueuedWorkload;
  /** The claim of the head from an earlier cycle. */
  readonly claim?: Claim;
  /** The usage of its LocalQueue, where that orders the ClusterQueue: the least usage goes first. */
  readonly usage?: number;
};

/**
 * The head fits once its targets have stopped, and claims what they leave. Without victims, it waits only for targets of other
 * preemptors.
 */
export type Preempting = {
  readonly kind: 'Preempt';
  readonly head: Head;
  readonly victims: readonly Victim[];
  readonly claim: Claim;
} & InadmissibleReason;

/** The head does not fit. `verdicts` explains each cluster if more than quota was missing. */
export type Inadmissible = Inadmissibility & {
  readonly kind: 'Inadmissible';
  readonly head: Head;
  readonly verdicts: readonly ClusterVerdict[];
};

/** Why a nominated Workload is not admitted, and what must change before it is nominated again. */
export type Inadmissibility = InadmissibleReason & {
  readonly waitsFor: WaitsFor;
  /** When a cluster that refused the Workload may be tried again, in epoch milliseconds. */
  readonly retryAtMs?: number;
  /** The claim of the Workload in this cycle, to be kept in later cycles against heads after it. */
  readonly claim?: Claim;
};

/**
 * The change without which no other nomination can succeed. `quota` or `cluster`: quota or room on a cluster must become free. `setup`:
 * free capacity would not suffice, so queues or clusters must change.
 */
export type WaitsFor = 'quota' | 'cluster' | 'setup';

/** The cluster and flavors that a waiting Workload claims. `borrowing`: the height in the cohort tree up to which it borrows. */
export type Claim = {
  readonly cluster: string;
  readonly flavors: readonly FlavorOption[];
  readonly borrowing: number;
  /** Workloads are preempted for this claim: only its Workload may use what they leave. */
  readonly preempts?: true;
  /** The victims of a claim that preempts: it keeps to them as long as it fits once they have stopped. */
  readonly victims?: readonly Victim[];
  /** The part that the claim holds, if not quota and room: other claims of its tree, or on its cluster, go before it. */
  readonly holds?: 'Quota' | 'Room' | 'Nothing';
  /** When the Workload is expected to start, if its ClusterQueue has the strategy Backfill. */
  readonly start?: ExpectedStart;
};
