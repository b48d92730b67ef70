import type { Random } from '../../../shared/runtime/random.ts';
import type { History } from './run-times.ts';

/** How long a Job holds its place in all, in milliseconds, given that it has for `elapsedMs` already; one draw, for a `chance` of [0, 1): the greater it is, the longer. */
export type Chances = (elapsedMs: number, chance: number) => number;

/** Nothing is said of what is further away. */
export const LONGEST_MS = 366 * 86_400_000;
/** The least that counts as long, lest a queue of empty Jobs says that none ever takes a moment. */
const TAIL_FROM_MS = 1_000;

/**
 * The chances that a history gives. It is not taken for more than it is, a sample: one that has n runs says that the next is longer than all of them in one of n + 1
 * cases, and it may itself have turned out another way, which is what `random` decides (a Bayesian bootstrap, Rubin 1981), once for all that is drawn from what is returned.
 * What is longer than all of them has a Pareto tail that has a mean: of one that has outrun them all, which nothing is known of any more, one in four runs for as long again.
 * `outran`: so many that run now have done so.
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

/** On what scale others may fall outside of what was seen: on that of its spread, where enough was seen to tell that. */
const marginOf = (shortestMs: number, longestMs: number, count: number): number =>
  count < SPREAD_FROM ? Math.max(longestMs, TAIL_FROM_MS) : Math.max(longestMs - shortestMs, longestMs / 20, 1);
const SPREAD_FROM = 8;

const exponential = (random: Random): number => -Math.log(1 - random());

/** The first of so many for which it holds, where it holds for all after it; `count` where it does for none. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
