import { QuotaReservedReason } from '../../api/reasons.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Claim, Head, Inadmissible, Requeue, WaitsFor } from './decision.ts';
import {
  assignFlavors,
  isHopeless,
  type Charge,
  type FlavorOption,
  type FlavorOptions,
  type OptionGroups,
} from '../flavors/flavor-assigner.ts';
import { exceedsNodes, formatVerdicts } from '../flavors/cluster-verdict.ts';
import { couldEverBePlaced, earliestRetryMs, leastMissing, place, type Placed, type Placement } from '../flavors/placement.ts';
import { mayRatherPreempt, planPreemption, preemptionOracle } from './preemption-plan.ts';
import { mayPreempt } from '../quota/preemption-policies.ts';
import { isRepeatedlyPreempted, REPEATED_PREEMPTION } from '../preemption/repeated-preemption.ts';
import type { Victim } from '../preemption/preemption.ts';
import type { InadmissibleReason, QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import { createUsage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/** A head that takes part in a cycle. `borrowing`: the height in the cohort tree up to which it borrows. */
export type Nominee = Fit | Preemptive | ReservingHead;

/** An entry of a cycle's order: a nominee, or a claim of an earlier cycle that is reserved again. */
export type Turn = Nominee | (Nomination & { readonly kind: 'Standing'; readonly flavors: readonly FlavorOption[]; readonly claim: Claim });

/**
 * A head whose charges are known before it is nominated. With fair sharing they alone decide when its turn comes: it is nominated once it
 * is the best of its Cohort.
 */
export type WaitingHead = {
  readonly kind: 'WaitingHead';
  readonly head: Head;
  readonly queue: QueueSetup;
  readonly charges: readonly Charge[];
  /** Undefined if the head does not take part in the cycle. */
  readonly nominate: () => Nominee | undefined;
};

/** The head fits what is free. */
export type Fit = Nomination & { readonly kind: 'Fit'; readonly placement: Placed };

/** The head fits once its victims have stopped. */
export type Preemptive = Nomination & { readonly kind: 'Preempt'; readonly placement: Placed; readonly victims: readonly Victim[] };

/**
 * The head does not fit now, and its requests are within what it can have once quota is reclaimed or Workloads end. It claims that
 * against heads after it, and waits with `decision`. In Kueue, a Workload in mode Preempt without targets.
 */
export type ReservingHead = Nomination & {
  readonly kind: 'ReservingHead';
  /** The flavors to choose from on the cluster that is nearest to having room. */
  readonly groups: OptionGroups;
  /** The chosen flavors of the cluster that is nearest to having room now. */
  readonly flavors: readonly FlavorOption[];
  readonly decision: Inadmissible;
};

type Nomination = { readonly head: Head; readonly queue: QueueSetup; readonly borrowing: number };

/** Finds flavors and a cluster for a head as if it were alone, or why there are none. */
export function nominate(snapshot: Snapshot, head: Head, nowMs: number): Nominee | Inadmissible | Requeue {
  const { workload } = head.queued;
  const queue = snapshot.queues.get(head.clusterQueue);
  if (queue === undefined) return { kind: 'Requeue', head };
  const options = assignFlavors(workload, queue, snapshot.usage);
  if (options.kind === 'NoFit' && isHopeless(options)) return fitsNoFlavor(head, 'setup', options);
  const found = options.kind === 'Fit' ? placeIn(snapshot, queue, workload, options.groups, nowMs) : undefined;
  const fits = found?.kind === 'Placed';
  const considered = !fits || mayRatherPreempt(queue) ? claimable(snapshot, head, queue, options) : undefined;
  const plan = considered && mayPreempt(queue) ? planPreemption(snapshot, head, queue, considered, nowMs) : undefined;
  if (plan !== undefined) return { kind: 'Preempt', head, queue, ...plan };
  if (fits) return { kind: 'Fit', head, queue, placement: found, borrowing: borrowingOf(found.flavors) };
  const unfit = inadmissible(snapshot, head, queue, options, found, nowMs);
  const isLimited = considered !== undefined && mayPreempt(queue) && isRepeatedlyPreempted(workload.record);
  const decision = isLimited ? { ...unfit, message: `${unfit.message}; ${REPEATED_PREEMPTION}` } : unfit;
  const groups = decision.waitsFor === 'setup' ? undefined : considered;
  const claim = groups && leastMissing(workload, groups, snapshot, nowMs);
  if (groups === undefined || claim === undefined) return decision;
  return { kind: 'ReservingHead', head, queue, groups, flavors: claim.flavors, borrowing: borrowingOf(claim.flavors), decision };
}

/** Claimable flavors in order of preference. If there are several, the order depends on the targets in each. */
function claimable(snapshot: Snapshot, head: Head, queue: QueueSetup, options: FlavorOptions): OptionGroups | undefined {
  if (!mayPreempt(queue) || options.claimable?.some((group) => group.length > 1) !== true) return options.claimable;
  return assignFlavors(head.queued.workload, queue, snapshot.usage, preemptionOracle(snapshot, head, queue)).claimable;
}

function inadmissible(
  snapshot: Snapshot,
  head: Head,
  queue: QueueSetup,
  options: FlavorOptions,
  found: Placement | undefined,
  nowMs: number,
): Inadmissible {
  const { workload } = head.queued;
  const atBest = assignFlavors(workload, queue, NOTHING_USED);
  const { groups, mismatches } = atBest.kind === 'Fit' ? atBest : { groups: [], mismatches: [] };
  const mayEnd = couldEverBePlaced(workload, groups, snapshot.clusters);
  if (options.kind === 'NoFit' && mayEnd) return fitsNoFlavor(head, 'quota', options);
  const judged = found ?? placeIn(snapshot, queue, workload, groups, nowMs);
  return {
    kind: 'Inadmissible',
    head,
    waitsFor: mayEnd ? 'cluster' : 'setup',
    reason: !mayEnd && exceedsNodes(workload, snapshot.clusters) ? QuotaReservedReason.ExceedsNodes : QuotaReservedReason.NoClusterFits,
    get message() {
      const { verdicts } = judged;
      return [verdicts.length === 0 ? 'no worker cluster is known' : formatVerdicts(verdicts), ...mismatches].join('; ');
    },
    get shortOf() {
      return judged.verdicts.find(({ shortOf }) => shortOf !== undefined)?.shortOf;
    },
    ...omitUndefined({ retryAtMs: mayEnd ? earliestRetryMs(workload, snapshot, nowMs) : undefined }),
    get verdicts() {
      return judged.verdicts;
    },
  };
}

/** A usage that stays empty. */
const NOTHING_USED = createUsage();

const fitsNoFlavor = (head: Head, waitsFor: WaitsFor, { reason, message, shortOf }: InadmissibleReason): Inadmissible => ({
  kind: 'Inadmissible',
  head,
  waitsFor,
  reason,
  message,
  shortOf,
  verdicts: [],
});

export const placeIn = (
  { clusters, usage, shapes }: Snapshot,
  { placement }: Pick<QueueSetup, 'placement'>,
  workload: Workload,
  groups: OptionGroups,
  nowMs: number,
): Placement => place(workload, groups, clusters, usage, shapes, nowMs, placement);

export const borrowingOf = (flavors: readonly FlavorOption[]): number =>
  flavors.reduce((most, { borrowing }) => Math.max(most, borrowing), 0);
