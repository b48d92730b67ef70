import { seededRandom, type Random } from '../../../shared/runtime/random.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Durations, Stage } from './admission-play.ts';
import { chancesOf, LONGEST_MS, type Chances } from './run-time-chances.ts';
import { textHash } from './text-hash.ts';
import type { History, RunFacts, RunTimes } from './run-times.ts';

/** Run times of ended Jobs, and facts about existing ones. */
export type Past = { readonly runTimes: RunTimes; readonly factsOf: (key: string) => RunFacts | undefined };

/**
 * Draws how long Jobs hold their quota, from the run times of similar Jobs. A draw depends only on the key of the Job and the number of the
 * simulation.
 */
export interface RunTimeSampler {
  of(trial: number): Durations;
  /** Why a requested run time is unknown; undefined if all are known. */
  unknown(): string | undefined;
  /** The histories that were used, the largest first. */
  basis(): readonly Basis[];
  /** Reasons that weaken the estimate, as text. */
  limits(): readonly string[];
}
/** A number of run times: of a family, of a ClusterQueue, or of all Jobs. */
export type Basis = { readonly runTimes: number; readonly clusterQueue?: string; readonly family?: string };

export function createRunTimeSampler({ running, nowMs }: Pick<Stage, 'running' | 'nowMs'>, { runTimes, factsOf }: Past): RunTimeSampler {
  const asked = new Map<string, History>();
  const queuesWithoutHistory = new Set<string>();
  let unknown: string | undefined;
  const factsCache = new Map<string, RunFacts | undefined>();
  const facts = (key: string): RunFacts | undefined => {
    if (!factsCache.has(key)) factsCache.set(key, factsOf(key));
    return factsCache.get(key);
  };
  const historyOf = (key: string, clusterQueue: string): History | undefined => {
    const history = runTimes.of(clusterQueue, facts(key)?.family ?? '');
    if (history === undefined) return undefined;
    asked.set(nameOf(history), history);
    if (history.clusterQueue === undefined) queuesWithoutHistory.add(clusterQueue);
    return history;
  };
  const elapsedMs = ({ since }: AdmissionRecord): number => Math.max(0, nowMs - Date.parse(since));
  const outran = new Map<string, number>();
  for (const { workload, record } of running) {
    const history = historyOf(workload.key, record.clusterQueue);
    const longest = history?.runs.at(-1)?.ranMs;
    if (history === undefined || longest === undefined || elapsedMs(record) <= longest) continue;
    outran.set(nameOf(history), (outran.get(nameOf(history)) ?? 0) + 1);
  }

  const of = (trial: number): Durations => {
    const chances = new Map<string, Chances>();
    /** The whole run time in milliseconds; undefined without history. */
    const drawn = (key: string, clusterQueue: string, ranMs: number): number | undefined => {
      const history = historyOf(key, clusterQueue);
      if (history === undefined) return undefined;
      const name = nameOf(history);
      const known = chances.get(name) ?? chancesOf(history, outran.get(name) ?? 0, seedOf(name, trial));
      chances.set(name, known);
      return known(ranMs, seedOf(key, trial)());
    };
    const holdMs = (key: string, clusterQueue: string, ranMs: number, record?: AdmissionRecord): number => {
      const longest = facts(key)?.longestMs(record);
      const ms = drawn(key, clusterQueue, ranMs) ?? longest;
      if (ms === undefined) unknown ??= clusterQueue;
      return Math.min(ms ?? LONGEST_MS, longest ?? Number.POSITIVE_INFINITY);
    };
    return {
      endMs: ({ workload, record }) =>
        Math.max(nowMs, Date.parse(record.since) + holdMs(workload.key, record.clusterQueue, elapsedMs(record), record)),
      holdMs: ({ key }, { clusterQueue }) => holdMs(key, clusterQueue, 0),
      stopMs: ({ key, graceSeconds }) => seedOf(`${key} stops`, trial)() * graceSeconds * 1000,
    };
  };

  return {
    of,
    unknown: () =>
      unknown === undefined
        ? undefined
        : `no Job of cluster queue ${unknown} has ended yet, nor of any other: nothing is known of run times`,
    basis: (): Basis[] =>
      [...asked.values()]
        .map(({ runs, ...of }) => ({ runTimes: runs.length, ...of }))
        .toSorted((a, b) => b.runTimes - a.runTimes || (nameOf(a) < nameOf(b) ? -1 : 1))
        .slice(0, BASES_MAX),
    limits: (): string[] => {
      const many = [...outran.values()].reduce((sum, count) => sum + count, 0);
      return [
        ...(many === 0 ? [] : [`${many} of ${running.length} Jobs run longer already than any that ended before`]),
        ...(queuesWithoutHistory.size === 0
          ? []
          : [
              `no Job of cluster ${queuesWithoutHistory.size === 1 ? 'queue' : 'queues'} ${[...queuesWithoutHistory].toSorted().slice(0, BASES_MAX).join(', ')} has ended yet: the estimate uses other queues`,
            ]),
      ];
    },
  };
}

const BASES_MAX = 5;
const nameOf = ({ clusterQueue, family }: Omit<History, 'runs'>): string => `${clusterQueue ?? ''} ${family ?? ''}`;

/** The random numbers of a Job or history in one simulation. */
const seedOf = (name: string, trial: number): Random => seededRandom(textHash(name) ^ Math.imul(trial + 1, 0x9e3779b1));
