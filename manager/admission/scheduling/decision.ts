import type { AdmissionRecord } from '../../api/records.ts';
import type { FlavorOption } from '../flavors/flavor-assigner.ts';
import type { QueuedWorkload } from '../workload/ordering.ts';
import type { ClusterVerdict } from '../flavors/placement.ts';
import type { Victim } from '../preemption/preemption.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';

/** What a scheduling cycle has decided about one head. */
export type Decision =
  | { readonly kind: 'Admit'; readonly head: Head; readonly record: AdmissionRecord }
  | Inadmissible
  | Preempting
  /** Fitted until another head of this cycle took the room: is tried again in the next cycle. */
  | Requeue;
export type Requeue = { readonly kind: 'Requeue'; readonly head: Head };

/** The first Workload of a ClusterQueue. */
export type Head = {
  readonly clusterQueue: string;
  readonly queued: QueuedWorkload;
  /** What is kept for it since an earlier cycle. */
  readonly claim?: Claim;
  /** What its LocalQueue has used, where that orders its ClusterQueue: the least goes first. */
  readonly usage?: number;
};

/** Fits once these have given their place up, which is kept for it. Those that others displace may be all that it waits for: then there are none. */
export type Preempting = {
  readonly kind: 'Preempt';
  readonly head: Head;
  readonly victims: readonly Victim[];
  readonly claim: Claim;
} & InadmissibleReason;

/** Does not fit; `verdicts` tells about each cluster when quota alone was not the obstacle. */
export type Inadmissible = Inadmissibility & {
  readonly kind: 'Inadmissible';
  readonly head: Head;
  readonly verdicts: readonly ClusterVerdict[];
};

/** Why a Workload that was tried could not be admitted, and what must change before it is tried again. */
export type Inadmissibility = InadmissibleReason & {
  readonly waitsFor: WaitsFor;
  /** When a cluster that refused it may be tried again, in epoch milliseconds. */
  readonly retryAtMs?: number;
  /** What was kept for it from those that come after it in order: it is to stand in the cycles to come, so that this goes on. */
  readonly claim?: Claim;
};

/**
 * What has to change before another try can succeed: quota or room on a cluster must become free; or, where nothing that becomes free would be
 * enough, the queues or the clusters must be other ones (`setup`).
 */
export type WaitsFor = 'quota' | 'cluster' | 'setup';

/**
 * Where a Workload that waits is to go; `borrowing`: how far up the cohort tree it reaches for that.
 */
export type Claim = {
  readonly cluster: string;
  readonly flavors: readonly FlavorOption[];
  readonly borrowing: number;
  /** Others give their place up for it: what they leave is for nobody else. */
  readonly preempts?: true;
};
