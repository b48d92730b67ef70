import { runToFixpoint, type SimulatedEviction, type Outcome } from '../world/simulate-evictions.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import { queueingOf, waitingByQueue, waitingIn, type World } from '../world/world.ts';

/** The effects of a change on Jobs. */
export type WhatIf = {
  /** Affected Jobs, by kind of effect and then by name. */
  readonly effects: readonly Effect[];
  /** The number of Jobs that the change does not affect. */
  readonly untouched: number;
  /** False: the simulation was stopped after many rounds, and this is its last state. */
  readonly settled: boolean;
};

export type Effect = {
  readonly kind: EffectKind;
  /** `namespace/name`. */
  readonly job: string;
  /** The state now; absent if the Job does not exist yet. */
  readonly now?: JobState;
  /** The final state without the change. Absent if the Job does not exist then. */
  readonly without?: JobState;
  /** The final state with the change. */
  readonly with: JobState;
  /** The evictions of the Job with the change, in order. */
  readonly losses: readonly SimulatedEviction[];
};

export const EffectKind = {
  /** The Job exists because of the change; `with` is its final state. */
  Submitted: 'Submitted',
  /** The Job is admitted, and would not be otherwise. */
  Admitted: 'Admitted',
  /** The Job is admitted now, and loses its place without getting another. */
  Evicted: 'Evicted',
  /** The Job loses its place and gets another, or is admitted elsewhere from the start. */
  Moved: 'Moved',
  /** The Job is suspended, and resumes in its place. */
  Interrupted: 'Interrupted',
  /** The Job would be evicted otherwise, and keeps its place. */
  Spared: 'Spared',
  /** The Job would be admitted, or wait further ahead, otherwise. */
  Delayed: 'Delayed',
  /** The Job waits with fewer Jobs before it. */
  Advanced: 'Advanced',
} as const;
export type EffectKind = (typeof EffectKind)[keyof typeof EffectKind];

export type JobState =
  | {
      readonly kind: 'Admitted';
      readonly clusterQueue: string;
      readonly cluster: string;
      readonly flavors: Readonly<Record<string, string>>;
      /** The number of pods at once in a partial admission. */
      readonly pods?: number;
    }
  /** `position`: how many Jobs of its ClusterQueue go before it. */
  | {
      readonly kind: 'Waiting';
      readonly clusterQueue: string;
      readonly position: number;
      readonly reason?: string;
      readonly message?: string;
    }
  /** The Job waits in no queue. */
  | { readonly kind: 'NotQueued'; readonly reason: string; readonly message: string }
  /** The Job is suspended, and its cluster does not answer, so it is not known whether it has stopped. */
  | { readonly kind: 'Stopping'; readonly cluster: string }
  /** The Job is deleted, or ends as Failed. */
  | { readonly kind: 'Ends'; readonly message?: string };

/**
 * The final states of all Jobs if the world is `after` instead of `before`: both are simulated to their fixpoint. `without`: the outcome of
 * `before`, if it is known already.
 */
export function whatIf(before: World, after: World, without: Outcome = runToFixpoint(before)): WhatIf {
  const withChange = runToFixpoint(after);
  const now = jobStates({ world: before, decisions: new Map() });
  const [ends, endsWith] = [jobStates(without), jobStates(withChange)];
  const effects: Effect[] = [];
  let untouched = 0;
  for (const [job, standing] of endsWith) {
    const sides = { now: now.get(job), without: ends.get(job), with: standing };
    const losses = withChange.evictions.get(job) ?? [];
    const kind = kindOf(sides, losses, without.evictions.get(job) ?? []);
    if (kind === undefined) untouched++;
    else {
      const { now: before_, without: otherwise } = sides;
      effects.push({
        kind,
        job,
        ...(before_ === undefined ? {} : { now: before_ }),
        ...(otherwise === undefined ? {} : { without: otherwise }),
        with: standing,
        losses,
      });
    }
  }
  const order = Object.values(EffectKind);
  effects.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || compareText(a.job, b.job));
  return { effects, untouched, settled: without.isFixpoint && withChange.isFixpoint };
}

/** The state of each Job of a world, by key, without finished ones. */
export function jobStates({ world, decisions }: Pick<Outcome, 'world' | 'decisions'>): ReadonlyMap<string, JobState> {
  const queueing = queueingOf(world);
  const entryOf = waitingIn(world, queueing);
  const queues = [...waitingByQueue(world, queueing).values()];
  const positions = new Map(queues.flatMap((queue) => queue.map(({ queued }, position) => [queued.workload.key, position] as const)));
  return new Map(
    world.workloads.flatMap((workload): (readonly [string, JobState])[] => {
      const { key, phase, record } = workload;
      if (phase === 'Finished') return record?.fail === undefined ? [] : [[key, { kind: 'Ends', message: record.fail.message }]];
      if (phase !== 'Pending') return [[key, jobStateOf(workload)]];
      const waiting = entryOf(workload, 0);
      if ('reason' in waiting) return [[key, { kind: 'NotQueued', reason: waiting.reason, message: waiting.message }]];
      const decision = decisions.get(key);
      const why = decision !== undefined && 'message' in decision ? { reason: decision.reason, message: decision.message } : {};
      return [[key, { kind: 'Waiting', clusterQueue: waiting.clusterQueue, position: positions.get(key) ?? 0, ...why }]];
    }),
  );
}

function jobStateOf({ phase, record }: Workload): JobState {
  if (record === undefined || (phase !== 'Admitted' && phase !== 'Reserved')) return { kind: 'Stopping', cluster: record?.cluster ?? '' };
  const { clusterQueue, cluster, flavors, parallelism } = record;
  return { kind: 'Admitted', clusterQueue, cluster, flavors, ...(parallelism === undefined ? {} : { pods: parallelism }) };
}

type Sides = { readonly now: JobState | undefined; readonly without: JobState | undefined; readonly with: JobState };

function kindOf(sides: Sides, losses: readonly SimulatedEviction[], otherwise: readonly SimulatedEviction[]): EffectKind | undefined {
  const { now, without, with: standing } = sides;
  if (without === undefined) return now === undefined ? EffectKind.Submitted : undefined;
  const ran = now?.kind === 'Admitted';
  if (standing.kind === 'Admitted') {
    if (without.kind !== 'Admitted') return ran ? EffectKind.Spared : EffectKind.Admitted;
    const isElsewhere = JSON.stringify(standing) !== JSON.stringify(without);
    if (losses.length > otherwise.length) return isElsewhere ? EffectKind.Moved : EffectKind.Interrupted;
    if (losses.length < otherwise.length) return EffectKind.Spared;
    return isElsewhere ? EffectKind.Moved : undefined;
  }
  if (without.kind === 'Admitted') return ran ? EffectKind.Evicted : EffectKind.Delayed;
  if (standing.kind === 'Waiting' && without.kind === 'Waiting') {
    if (standing.clusterQueue !== without.clusterQueue || standing.position === without.position) return movedQueue(standing, without);
    return standing.position > without.position ? EffectKind.Delayed : EffectKind.Advanced;
  }
  if (standing.kind === without.kind) return undefined;
  return rank(standing) > rank(without) ? EffectKind.Delayed : EffectKind.Advanced;
}

const movedQueue = (a: { readonly clusterQueue: string }, b: { readonly clusterQueue: string }): EffectKind | undefined =>
  a.clusterQueue === b.clusterQueue ? undefined : EffectKind.Moved;

/** The distance of a Job from running. */
const rank = ({ kind }: JobState): number => ['Admitted', 'Waiting', 'NotQueued', 'Stopping', 'Ends'].indexOf(kind);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
