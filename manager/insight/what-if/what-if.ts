import { runToFixpoint, type SimulatedEviction, type Outcome } from '../world/simulate-evictions.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import { queueingOf, waitingByQueue, waitingIn, type World } from '../world/world.ts';

/** What a change of the world does to Jobs, and to which of them. */
export type WhatIf = {
  /** Those that fare otherwise, by what happens to them and then by name. */
  readonly effects: readonly Effect[];
  /** How many fare as they would without the change. */
  readonly untouched: number;
  /** False: what follows was given up after many rounds, and this is how far it went. */
  readonly settled: boolean;
};

export type Effect = {
  readonly kind: EffectKind;
  /** `namespace/name`. */
  readonly job: string;
  /** How it stands now; absent: it is not there yet. */
  readonly now?: Standing;
  /** What becomes of it if nothing is changed. Absent: it is not there then. */
  readonly without?: Standing;
  /** What becomes of it with the change. */
  readonly with: Standing;
  /** How it loses its place with the change, in order. */
  readonly losses: readonly SimulatedEviction[];
};

export const EffectKind = {
  /** It is there because of the change: what becomes of it stands in `with`. */
  Submitted: 'Submitted',
  /** It gets a place that it would not get. */
  Admitted: 'Admitted',
  /** It has a place now, and loses it for longer than to move. */
  Evicted: 'Evicted',
  /** It loses its place, and goes elsewhere, or goes elsewhere at once than it would. */
  Moved: 'Moved',
  /** It is suspended, and goes on where it was. */
  Interrupted: 'Interrupted',
  /** It would lose its place, and keeps it. */
  Spared: 'Spared',
  /** It would be admitted now, or waits further ahead, and waits longer. */
  Delayed: 'Delayed',
  /** It waits, with fewer before it. */
  Advanced: 'Advanced',
} as const;
export type EffectKind = (typeof EffectKind)[keyof typeof EffectKind];

export type Standing =
  | {
      readonly kind: 'Admitted';
      readonly clusterQueue: string;
      readonly cluster: string;
      readonly flavors: Readonly<Record<string, string>>;
      /** How many pods at once, where that is fewer than it asks for. */
      readonly pods?: number;
    }
  /** `position`: how many of its ClusterQueue go before it. */
  | {
      readonly kind: 'Waiting';
      readonly clusterQueue: string;
      readonly position: number;
      readonly reason?: string;
      readonly message?: string;
    }
  /** It waits, and is in no queue. */
  | { readonly kind: 'NotQueued'; readonly reason: string; readonly message: string }
  /** It is suspended, and whether it has stopped nobody learns, because its cluster does not answer. */
  | { readonly kind: 'Stopping'; readonly cluster: string }
  /** It goes, or ends as Failed. */
  | { readonly kind: 'Ends'; readonly message?: string };

/**
 * What becomes of each Job in the end if the world is as it is `after` rather than as it is `before`: both run through to their standstill.
 * `without`: that of `before`, where it is known already.
 */
export function whatIf(before: World, after: World, without: Outcome = runToFixpoint(before)): WhatIf {
  const withChange = runToFixpoint(after);
  const now = standings({ world: before, decisions: new Map() });
  const [ends, endsWith] = [standings(without), standings(withChange)];
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

/** How each Job of a world stands, by key; those that have finished are not there any more. */
export function standings({ world, decisions }: Pick<Outcome, 'world' | 'decisions'>): ReadonlyMap<string, Standing> {
  const queueing = queueingOf(world);
  const entryOf = waitingIn(world, queueing);
  const queues = [...waitingByQueue(world, queueing).values()];
  const positions = new Map(queues.flatMap((queue) => queue.map(({ queued }, position) => [queued.workload.key, position] as const)));
  return new Map(
    world.workloads.flatMap((workload): (readonly [string, Standing])[] => {
      const { key, phase, record } = workload;
      if (phase === 'Finished') return record?.fail === undefined ? [] : [[key, { kind: 'Ends', message: record.fail.message }]];
      if (phase !== 'Pending') return [[key, standingOf(workload)]];
      const waiting = entryOf(workload, 0);
      if ('reason' in waiting) return [[key, { kind: 'NotQueued', reason: waiting.reason, message: waiting.message }]];
      const decision = decisions.get(key);
      const why = decision !== undefined && 'message' in decision ? { reason: decision.reason, message: decision.message } : {};
      return [[key, { kind: 'Waiting', clusterQueue: waiting.clusterQueue, position: positions.get(key) ?? 0, ...why }]];
    }),
  );
}

function standingOf({ phase, record }: Workload): Standing {
  if (record === undefined || (phase !== 'Admitted' && phase !== 'Reserved')) return { kind: 'Stopping', cluster: record?.cluster ?? '' };
  const { clusterQueue, cluster, flavors, parallelism } = record;
  return { kind: 'Admitted', clusterQueue, cluster, flavors, ...(parallelism === undefined ? {} : { pods: parallelism }) };
}

type Sides = { readonly now: Standing | undefined; readonly without: Standing | undefined; readonly with: Standing };

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

/** How far a Job is from running. */
const rank = ({ kind }: Standing): number => ['Admitted', 'Waiting', 'NotQueued', 'Stopping', 'Ends'].indexOf(kind);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
