/** The least of these ascending values that this share of them does not exceed; of none, infinity. */
export const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.ceil(ascending.length * share) - 1] ?? Number.POSITIVE_INFINITY;
