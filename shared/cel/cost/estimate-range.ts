/**
 * From the least to the most of a size or a cost. The most is Infinity where upstream's unsigned integers of 64 bits end: a size of which
 * nothing is known, and whatever comes to more.
 */
export type Range = { readonly min: number; readonly max: number };

export const UNKNOWN: Range = { min: 0, max: Infinity };
export const NOTHING: Range = { min: 0, max: 0 };
export const exactly = (value: number): Range => ({ min: value, max: value });

const BEYOND = 2 ** 64;
const capped = (value: number): number => (value >= BEYOND ? Infinity : value);
/** Nothing times infinitely many is nothing. */
const product = (left: number, right: number): number => (left === 0 || right === 0 ? 0 : capped(left * right));

export const add = (left: Range, right: Range): Range => ({ min: capped(left.min + right.min), max: capped(left.max + right.max) });
export const multiply = (left: Range, right: Range): Range => ({ min: product(left.min, right.min), max: product(left.max, right.max) });
/** Times a factor, rounded up. */
export const scale = ({ min, max }: Range, factor: number): Range => ({
  min: Math.ceil(product(min, factor)),
  max: Math.ceil(product(max, factor)),
});
/** The smallest that has both in it. */
export const union = (left: Range, right: Range): Range => ({ min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) });
export const sum = (ranges: readonly Range[]): Range => ranges.reduce(add, NOTHING);
