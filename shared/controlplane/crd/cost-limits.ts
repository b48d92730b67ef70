/** A rule, times how often it is judged in one object, may be estimated to cost as much. */
export const RULE_COST_MAX = 10_000_000;

const HINT = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';

/** What a kube-apiserver says of an estimate beyond a limit. */
export function costProblem(what: string, cost: number, limit: number): string {
  return `${what} exceeds budget by factor of ${factorText(cost / limit)} (${HINT})`;
}

function factorText(factor: number): string {
  // Beyond that a rule is likely of a higher order, and how much exactly says nothing.
  if (factor > 100) return 'more than 100x';
  return factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
}
