import { COPIES_FINALIZER } from '../../shared/api/names.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { given } from '../../shared/runtime/given.ts';
import type { AdmissionRecord } from '../api/records.ts';
import { QuotaReservedReason } from '../api/reasons.ts';
import { plus } from '../api/amount.ts';
import { formatRequests } from '../api/job-requests.ts';
import { isRefused, rememberedRefusals } from './avoidance.ts';
import { assignFlavors, isHopeless, type Charge, type FlavorOption } from './flavor-assigner.ts';
import { isRecordedOn } from './cluster-state.ts';
import { compareNominated, type QueuedWorkload } from './ordering.ts';
import { couldEverBePlaced, formatVerdicts, place, type ClusterVerdict, type Placement } from './placement.ts';
import { addUsage, available } from './quota-tree.ts';
import type { InadmissibleReason, QueueSetup, Snapshot } from './snapshot.ts';
import { clusterHolder, createUsage } from './usage.ts';
import type { Workload } from './workload.ts';

/** The first Workload of a ClusterQueue. */
export type Head = { readonly clusterQueue: string; readonly queued: QueuedWorkload };

export type Decision =
  | { readonly kind: 'Admit'; readonly head: Head; readonly record: AdmissionRecord }
  /** Does not fit; `verdicts` tells about each cluster when quota alone was not the obstacle. */
  | ({
      readonly kind: 'Inadmissible';
      readonly head: Head;
      readonly waitsFor: WaitsFor;
      /** When a cluster that refused it may be tried again, in epoch milliseconds. */
      readonly retryAtMs?: number;
      readonly verdicts: readonly ClusterVerdict[];
    } & InadmissibleReason)
  /** Fitted until another head of this cycle took the room: is tried again in the next cycle. */
  | { readonly kind: 'Requeue'; readonly head: Head };

/**
 * What has to change before another try can succeed: quota or room on a cluster must become free; or, where nothing that becomes free would be
 * enough, the queues or the clusters must be other ones (`setup`).
 */
export type WaitsFor = 'quota' | 'cluster' | 'setup';

/**
 * One scheduling cycle over the heads of all ClusterQueues.
 *
 * 1. Nominate: find flavors and a cluster for each head, as if it were alone.
 * 2. Order: heads within their own quota before borrowers, then by priority and age.
 * 3. Admit one by one, and check each again, because an earlier one may have taken the room.
 */
export function schedule(snapshot: Snapshot, heads: readonly Head[], nowMs: number): Decision[] {
  const decisions: Decision[] = [];
  const nominees: Nominee[] = [];
  for (const head of heads) {
    const outcome = nominate(snapshot, head, nowMs); // 1
    if (outcome.kind === 'Nominee') nominees.push(outcome);
    else decisions.push(outcome);
  }
  nominees.sort((a, b) =>
    compareNominated({ head: a.head.queued, borrowing: a.borrowing }, { head: b.head.queued, borrowing: b.borrowing }),
  ); // 2
  for (const nominee of nominees) decisions.push(admit(snapshot, nominee, nowMs)); // 3
  return decisions;
}

type Nominee = {
  readonly kind: 'Nominee';
  readonly head: Head;
  readonly queue: QueueSetup;
  readonly cluster: string;
  readonly clusterUID: string | undefined;
  readonly flavors: Readonly<Record<string, string>>;
  readonly charges: readonly Charge[];
  readonly borrowing: boolean;
};

function nominate(snapshot: Snapshot, head: Head, nowMs: number): Nominee | Decision {
  const { workload } = head.queued;
  const queue = snapshot.queues.get(head.clusterQueue);
  if (queue === undefined) return { kind: 'Requeue', head };
  const options = assignFlavors(workload, queue, snapshot.usage);
  if (options.kind === 'NoFit' && isHopeless(options)) return fitsNoFlavor(head, 'setup', options);
  const found = options.kind === 'Fit' ? placeIn(snapshot, workload, options.groups, nowMs) : undefined;
  if (found?.kind === 'Placed') {
    return {
      kind: 'Nominee',
      head,
      queue,
      cluster: found.cluster,
      clusterUID: found.clusterUID,
      flavors: Object.fromEntries(found.flavors.flatMap((option) => option.resources.map((resource) => [resource, option.flavor]))),
      charges: found.flavors.flatMap((option) => option.charges),
      borrowing: found.flavors.some((option) => option.borrowing),
    };
  }
  const atBest = assignFlavors(workload, queue, createUsage());
  const { groups, mismatches } = atBest.kind === 'Fit' ? atBest : { groups: [], mismatches: [] };
  const mayEnd = couldEverBePlaced(workload, groups, snapshot.clusters);
  if (options.kind === 'NoFit' && mayEnd) return fitsNoFlavor(head, 'quota', options);
  const { verdicts } = found ?? placeIn(snapshot, workload, groups, nowMs);
  return {
    kind: 'Inadmissible',
    head,
    waitsFor: mayEnd ? 'cluster' : 'setup',
    reason: QuotaReservedReason.NoClusterFits,
    message: [verdicts.length === 0 ? 'no worker cluster is known' : formatVerdicts(verdicts), ...mismatches].join('; '),
    ...given({ retryAtMs: mayEnd ? earliest(verdicts) : undefined }),
    verdicts,
  };
}

const fitsNoFlavor = (head: Head, waitsFor: WaitsFor, { reason, message }: InadmissibleReason): Decision => ({
  kind: 'Inadmissible',
  head,
  waitsFor,
  reason,
  message,
  verdicts: [],
});

const placeIn = (
  { clusters, usage, shapes }: Snapshot,
  workload: Workload,
  groups: readonly (readonly FlavorOption[])[],
  nowMs: number,
): Placement => place(workload, groups, clusters, usage, shapes, nowMs);

function earliest(verdicts: readonly ClusterVerdict[]): number | undefined {
  const times = verdicts.flatMap(({ untilMs }) => untilMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

function admit(snapshot: Snapshot, nominee: Nominee, nowMs: number): Decision {
  const { head, queue, charges, cluster } = nominee;
  const { workload } = head.queued;
  if (!stillFits(snapshot, nominee, nowMs)) return { kind: 'Requeue', head };
  snapshot.shapes.goes(workload.shape, cluster);
  for (const [key, amount] of charges) addUsage(queue.node, snapshot.usage, key, amount);
  const holder = clusterHolder(cluster);
  for (const [resource, amount] of workload.requests) {
    snapshot.usage.set(holder, resource, plus(snapshot.usage.get(holder, resource), amount));
  }
  return { kind: 'Admit', head, record: recordOf(workload, nominee, nowMs) };
}

function stillFits({ usage, clusters, shapes }: Snapshot, { head, queue, charges, cluster }: Nominee, nowMs: number): boolean {
  if (charges.some(([key, amount]) => amount > 0 && amount > available(queue.node, usage, key))) return false;
  const chosen = clusters.filter(({ name }) => name === cluster);
  return place(head.queued.workload, [], chosen, usage, shapes, nowMs).kind === 'Placed';
}

/** Admissions of one Job are told apart by their second: what was proven of one says nothing of the next. */
const laterThan = (previous: AdmissionRecord | undefined, nowMs: number): number =>
  previous === undefined ? nowMs : Math.max(nowMs, Date.parse(previous.since) + 1000);

/**
 * A Job with our finalizer was admitted before, and somebody has removed its record: copies of it may be anywhere. Its age in seconds is more
 * than the placements that it can have had, so that they all count as earlier ones.
 */
const firstEpoch = ({ finalizers, createdMs }: Workload, nowMs: number): number =>
  finalizers.includes(COPIES_FINALIZER) ? 2 + Math.max(0, Math.floor((nowMs - createdMs) / 1000)) : 1;

/** Whether its copy is to be stopped where the manager is out of reach: the Job's own word goes first. */
const isFenced = ({ fenced }: Workload, { onLoss }: QueueSetup): boolean => fenced ?? onLoss.fencing !== 'Disabled';

/** A Job that resumes where it was keeps its epoch; one that moves, or was refused where it was, gets the next. */
function recordOf(workload: Workload, { queue, flavors, cluster, clusterUID }: Nominee, nowMs: number): AdmissionRecord {
  const previous = workload.record;
  const resumes = previous !== undefined && isRecordedOn(previous, { name: cluster, uid: clusterUID }) && !isRefused(previous);
  const epoch = previous === undefined ? firstEpoch(workload, nowMs) : resumes ? previous.epoch : previous.epoch + 1;
  return {
    clusterQueue: queue.name,
    flavors,
    cluster,
    ...given({ clusterUID }),
    epoch,
    since: toWireTime(laterThan(previous, nowMs)),
    requests: formatRequests(workload.recordedRequests ?? workload.requests),
    ...given({ executedSeconds: previous?.executedSeconds }),
    ...(isFenced(workload, queue) ? {} : { unfenced: true as const }),
    // Where it has started, the row of failures is over.
    ...given({ avoid: workload.started ? undefined : rememberedRefusals(previous, nowMs) }),
  };
}
