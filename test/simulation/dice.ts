/** Chance in the words of a simulation. One seed gives one sequence. */
import { type Random, seededRandom } from '../../shared/runtime/random.ts';

export interface Dice {
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** Any element; undefined of an empty list. */
  some<T>(list: readonly T[]): T | undefined;
  readonly random: Random;
}

export function createDice(seed: number): Dice {
  const random = seededRandom(seed);
  const int = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  return {
    random,
    int,
    chance: (probability) => random() < probability,
    pick: (choices) => choices[int(0, choices.length - 1)] ?? choices[0],
    some: (list) => list[int(0, list.length - 1)],
  };
}
