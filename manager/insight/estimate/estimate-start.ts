import { createAdmissionCache, type AdmissionCache } from '../../admission/cache/admission-cache.ts';
import { ENDS_MAX, simulating, type TrialResult, type Lane, type Stage } from './admission-play.ts';
import { capacityOf, type ClusterState } from '../../admission/quota/cluster-state.ts';
import { createRunTimeSampler, type Basis, type Past } from './run-time-sampler.ts';
import type { QueuedWorkload } from '../../admission/workload/ordering.ts';
import { createPendingQueues } from '../../admission/queues/pending-queues.ts';
import type { PriorityClasses } from '../../admission/workload/priority.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { LONGEST_MS } from './run-time-chances.ts';
import { runCycle } from '../../admission/queues/scheduling-cycle.ts';
import { runToEnd } from '../../admission/cache/sliced-work.ts';
import type { QueueingSetup } from '../../admission/snapshot/snapshot.ts';

/** When a pending Job is likely to be admitted. Times are RFC 3339. */
export type StartEstimate =
  | {
      readonly kind: 'Estimate';
      /** The median. */
      readonly at: string;
      /** The interval with probability `confidence`, with equal probability on both sides. Without `latest` the interval is open. */
      readonly earliest: string;
      readonly latest?: string;
      readonly confidence: number;
      /** The run times behind the estimate. */
      readonly basis: readonly Basis[];
      /** Reasons why the estimate may be worse than it looks, as text. */
      readonly limits: readonly string[];
    }
  | { readonly kind: 'Unknown'; readonly reason: UnknownStart; readonly message: string };
export type UnknownStart =
  /** No Job with a known run time has ended. */
  | 'NoHistory'
  /** The Job does not fit even with everything free. */
  | 'NeverFits'
  /** The start is too far away. */
  | 'TooFar';

/** The input of an estimate: all reservations, and the pending Workloads of each ClusterQueue in order. */
export type StartQuestion = {
  readonly queueing: QueueingSetup;
  readonly clusters: readonly ClusterState[];
  readonly priorityClasses: PriorityClasses;
  readonly reservations: readonly Pick<Reservation, 'workload' | 'record'>[];
  readonly usageOf?: Stage['usageOf'];
  readonly target: { readonly clusterQueue: string; readonly queued: QueuedWorkload };
  /** How many Workloads of its ClusterQueue go before it. */
  readonly position: number;
  /** ClusterQueues with pending Workloads; `first` returns the first ones in queue order. */
  readonly waiting: readonly {
    readonly clusterQueue: string;
    readonly strict: boolean;
    readonly first: (most: number) => readonly QueuedWorkload[];
  }[];
  readonly nowMs: number;
};

/**
 * Limits of the work for one estimate: the number of simulations, and of pending Workloads before the target, behind it, and in other
 * ClusterQueues.
 */
const TRIALS = 40;
const BEFORE_MAX = 256;
const BEHIND_MAX = 32;
const OTHERS_MAX = 256;
const CONFIDENCE = 0.8;
/** Reservations counted in one slice. */
const SLICE = 250;

/**
 * Estimates the admission of a Workload. The manager's scheduling cycles are simulated some tens of times. Each simulation has other run
 * times, drawn from what has ended before, for running Workloads and those admitted meanwhile. Nothing else happens: no Workloads are added
 * or deleted, no queue changes. Equal questions get equal answers, and an edited Job keeps its random numbers. The work is sliced into
 * steps of a few milliseconds.
 */
export function* estimating(question: StartQuestion, past: Past): Generator<undefined, StartEstimate> {
  const problem = neverFits(question);
  if (problem !== undefined) return { kind: 'Unknown', reason: 'NeverFits', message: problem };
  // The pending Workloads may change between slices.
  const lanes = lanesOf(question);
  const cache = emptyCache(question);
  for (const [index, { workload, record }] of question.reservations.entries()) {
    cache.admit(workload, record);
    if (index % SLICE === SLICE - 1) yield;
  }
  const stage = stageOf(question, cache, lanes);
  const sampler = createRunTimeSampler(stage, past);
  const startsMs: number[] = [];
  let isCut = stage.before.size < question.position;
  for (let trial = 0; trial < TRIALS; trial++) {
    yield;
    const result = yield* simulating(stage, sampler.of(trial));
    const unknown = sampler.unknown();
    if (unknown !== undefined) return { kind: 'Unknown', reason: 'NoHistory', message: unknown };
    isCut ||= result.kind === 'CutOff';
    startsMs.push(startOf(result, question));
  }
  return answer(startsMs, question, sampler.basis(), [
    ...sampler.limits(),
    ...(isCut ? [cutOff(question.position, stage.before.size)] : []),
  ]);
}

/** {@link estimating} in one go. */
export const estimateStart = (question: StartQuestion, past: Past): StartEstimate => runToEnd(estimating(question, past));

function answer(startsMs: readonly number[], { nowMs }: StartQuestion, basis: readonly Basis[], limits: readonly string[]): StartEstimate {
  const [earliest, at, latest] = quantiles(startsMs, [(1 - CONFIDENCE) / 2, 0.5, (1 + CONFIDENCE) / 2]).map((startMs) =>
    startMs - nowMs > LONGEST_MS ? undefined : new Date(startMs).toISOString(),
  );
  if (earliest === undefined || at === undefined) {
    const message = 'it is further away than anything can be said of';
    return { kind: 'Unknown', reason: 'TooFar', message: [message, ...limits].join('; ') };
  }
  return { kind: 'Estimate', at, earliest, ...(latest === undefined ? {} : { latest }), confidence: CONFIDENCE, basis, limits };
}

/** Quantiles of the distribution behind a sample: a further value is below the first of n with probability 1 / (n + 1). */
function quantiles(sample: readonly number[], shares: readonly number[]): number[] {
  const sorted = sample.toSorted((a, b) => a - b);
  return shares.map((share) => {
    const place = Math.min(sorted.length - 1, Math.max(0, share * (sorted.length + 1) - 1));
    const [low = 0, high = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return low === high ? low : low + (high - low) * (place - Math.floor(place));
  });
}

/** The start of the target. If the simulation was cut off, the remaining Workloads are assumed to follow at the same rate. */
function startOf(result: TrialResult, { position, nowMs }: StartQuestion): number {
  if (result.kind === 'Admitted') return result.atMs;
  if (result.kind === 'Never' || result.admittedBefore === 0) return Number.POSITIVE_INFINITY;
  return nowMs + ((result.atMs - nowMs) * (position + 1)) / result.admittedBefore;
}

const cutOff = (position: number, before: number): string =>
  `only the next ${ENDS_MAX} ends of Jobs were played${position > before ? `, with the first ${before} of the ${position} Jobs before it` : ''}; those after that are taken to follow as fast`;

/** Why the Workload is not admitted even with everything free; undefined if it is. */
function neverFits(question: StartQuestion): string | undefined {
  const { clusterQueue, queued } = question.target;
  const cache = emptyCache(question);
  const queues = createPendingQueues();
  queues.add(clusterQueue, false, queued);
  let admits = false;
  const admit = (): boolean => (admits = true);
  runCycle({ cache, queues, admit, at: () => undefined }, question.nowMs);
  const problem = queues.inadmissibilityOf(queued.workload.key)?.message;
  return admits ? undefined : `also with nobody else there: ${problem ?? 'its cluster queue is stopped'}`;
}

function emptyCache({ queueing, clusters, priorityClasses }: StartQuestion): AdmissionCache {
  // How long pods take to be ready is not played, so nothing waits for them.
  const queues = new Map([...queueing.queues].map(([name, queue]) => [name, { ...queue, blocksAdmission: false }]));
  const cache = createAdmissionCache({ ...queueing, queues }, () => priorityClasses);
  cache.setClusters(clusters);
  return cache;
}

/** The root of a ClusterQueue. All ClusterQueues with the same root share quota. */
const rootOf = ({ queueing }: StartQuestion, clusterQueue: string): string | undefined =>
  queueing.tree.clusterQueues.get(clusterQueue)?.rootId;

/** The clusters that limit a resource of the target. */
function scarceFor({ clusters, target }: StartQuestion): ReadonlySet<string> {
  const resources = [...target.queued.workload.requests.keys()];
  const isScarce = (cluster: ClusterState): boolean => resources.some((resource) => Number.isFinite(capacityOf(cluster, resource)));
  return new Set(clusters.filter(isScarce).map(({ name }) => name));
}

/**
 * Pending Workloads that may matter to the target: those of its ClusterQueue, of queues that share its quota and, if clusters have limits,
 * of all queues.
 */
function lanesOf(question: StartQuestion): Lane[] {
  const { target, position, waiting } = question;
  const shares = (clusterQueue: string): boolean => rootOf(question, clusterQueue) === rootOf(question, target.clusterQueue);
  const isRoomScarce = scarceFor(question).size > 0;
  const others = waiting
    .filter(({ clusterQueue }) => clusterQueue !== target.clusterQueue && (isRoomScarce || shares(clusterQueue)))
    .toSorted((a, b) => Number(shares(b.clusterQueue)) - Number(shares(a.clusterQueue)))
    .slice(0, OTHERS_MAX);
  const own = waiting.find(({ clusterQueue }) => clusterQueue === target.clusterQueue);
  const ownMost = position < BEFORE_MAX ? position + 1 + BEHIND_MAX : BEFORE_MAX;
  const othersMost = Math.ceil(OTHERS_MAX / others.length);
  return [
    { clusterQueue: target.clusterQueue, strict: own?.strict === true, waiting: own?.first(ownMost) ?? [] },
    ...others.map(({ clusterQueue, strict, first }) => ({ clusterQueue, strict, waiting: first(othersMost) })),
  ];
}

/** The stage with the reservations whose end may matter to the target. */
function stageOf(question: StartQuestion, cache: AdmissionCache, lanes: readonly Lane[]): Stage {
  const { target, position, priorityClasses, usageOf, nowMs } = question;
  const root = rootOf(question, target.clusterQueue);
  const scarce = scarceFor(question);
  return {
    cache,
    priorityClasses,
    usageOf,
    lanes,
    running: [...cache.reservations()].filter(({ record }) => rootOf(question, record.clusterQueue) === root || scarce.has(record.cluster)),
    target: target.queued.workload.key,
    before: new Set(lanes[0]?.waiting.slice(0, position).map(({ workload }) => workload.key)),
    nowMs,
  };
}
