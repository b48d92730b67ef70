import type { Random } from '../../shared/runtime/random.ts';
import type { History } from './run-times.ts';

/** How long a Job holds its place in all, in milliseconds, given that it has for `elapsedMs` already; one draw, for a `chance` of [0, 1): the greater it is, the longer. */
export type Chances = (elapsedMs: number, chance: number) => number;

/** Nothing is said of what is further away. */
export const LONGEST_MS = 366 * 86_400_000;
/** The least that is taken for the longest that was seen, lest a queue of empty Jobs says that none ever takes a moment. */
const TAIL_FROM_MS = 1_000;

/**
 * The chances that a history gives. It is not taken for more than it is, a sample: one that has n runs says that the next is longer than all of them in one of n + 1
 * cases, and it may itself have turned out another way, which is what `random` decides (a Bayesian bootstrap, Rubin 1981), once for all that is drawn from what is returned.
 * Beyond all that was seen, a quarter of those that last to a time last twice that time (a Pareto tail whose mean there is); `outran`: so many that run now are there already.
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
  return (elapsedMs, chance) => {
    const first = firstIndex(runs.length, (index) => ranMs(index) > elapsedMs);
    const past = first === 0 ? 0 : (upTo[first - 1] ?? 0);
    const mark = past + chance * (seen + beyond - past);
    const index = firstIndex(runs.length, (each) => (upTo[each] ?? 0) > mark);
    const before = index === 0 ? 0 : (upTo[index - 1] ?? 0);
    const fromMs = Math.max(elapsedMs, index === 0 ? 0 : ranMs(index - 1));
    if (index < runs.length) return fromMs + ((ranMs(index) - fromMs) * (mark - before)) / ((upTo[index] ?? 0) - before);
    const within = (mark - before) / beyond;
    return Math.min(LONGEST_MS + elapsedMs, Math.max(fromMs, TAIL_FROM_MS) / Math.sqrt(1 - within));
  };
}

const OUTRAN_MAX = 256;

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
