import type { Random } from '../../../shared/runtime/random.ts';
import type { History } from './run-times.ts';

/**
 * Draws how long a Job holds its quota in all, in milliseconds, given that it has for `elapsedMs`. `chance`: in [0, 1); a larger value
 * gives a longer time.
 */
export type Chances = (elapsedMs: number, chance: number) => number;

/** Starts further away than this are not estimated. */
export const LONGEST_MS = 366 * 86_400_000;
/** Lower bound of the scale of long run times, in case all Jobs of a queue end at once. */
const TAIL_FROM_MS = 1_000;

/**
 * The distribution behind a history, which is only a sample: with n runs the next one exceeds all of them in one of n + 1 cases. `random`
 * weights the runs once for all draws (a Bayesian bootstrap, Rubin 1981). Longer run times follow a Pareto tail with a mean: of Jobs that
 * have outrun all runs, one in four runs for as long again. `outran`: the number of running Jobs that have done so.
 */
export function chancesOf({ runs }: History, outran: number, random: Random): Chances {
  const upTo = new Float64Array(runs.length);
  let sum = 0;
  for (const [index, { weight }] of runs.entries()) {
    sum += weight * exponential(random);
    upTo[index] = sum;
  }
  const seen = sum;
  let beyond = 0;
  for (let index = 0; index <= Math.min(outran, OUTRAN_MAX); index++) beyond += exponential(random);
  const ranMs = (index: number): number => runs[index]?.ranMs ?? 0;
  const marginMs = marginOf(ranMs(0), ranMs(runs.length - 1), runs.length);
  return (elapsedMs, chance) => {
    const first = firstIndex(runs.length, (index) => ranMs(index) > elapsedMs);
    const past = first === 0 ? 0 : (upTo[first - 1] ?? 0);
    const mark = past + chance * (seen + beyond - past);
    const index = firstIndex(runs.length, (each) => (upTo[each] ?? 0) > mark);
    const before = index === 0 ? 0 : (upTo[index - 1] ?? 0);
    const fromMs = Math.max(elapsedMs, index === 0 ? ranMs(0) - marginMs : ranMs(index - 1));
    if (index < runs.length) return fromMs + ((ranMs(index) - fromMs) * (mark - before)) / ((upTo[index] ?? 0) - before);
    const within = (mark - before) / beyond;
    const scaleMs = first === runs.length ? Math.max(elapsedMs, TAIL_FROM_MS) : marginMs;
    return Math.min(LONGEST_MS + elapsedMs, fromMs + scaleMs * (1 / Math.sqrt(1 - within) - 1));
  };
}

const OUTRAN_MAX = 256;

/** The scale of run times outside the observed range: the spread, if enough runs show it. */
const marginOf = (shortestMs: number, longestMs: number, count: number): number =>
  count < SPREAD_FROM ? Math.max(longestMs, TAIL_FROM_MS) : Math.max(longestMs - shortestMs, longestMs / 20, 1);
const SPREAD_FROM = 8;

const exponential = (random: Random): number => -Math.log(1 - random());

/** The first index below `count` for which `holds`, which must then hold for all later ones; `count` if there is none. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
