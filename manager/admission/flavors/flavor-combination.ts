import type { LabelRequirements } from '../../../shared/kube/selectors.ts';
import { plus, ZERO, type Amount } from '../../api/amount.ts';
import { agree } from './flavor-match.ts';

/** The properties that decide whether flavors of several resource groups go together. */
export type Combinable = {
  /** Labels of the WorkerClusters that offer the flavor. */
  readonly clusters: LabelRequirements;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Terms of the Job's required node affinity that the flavor can meet, one bit each. */
  readonly terms: bigint;
  /** The pod set whose pods get the flavor; absent: all pods. */
  readonly podSet?: PodSetCharges;
};

/** The quota that pod sets may use together: what is free now, or all that may ever be. */
export type QuotaLimit = 'free' | 'most';

/** Amounts that a pod set takes of a flavor beside other pod sets, by resource: `free` is free now, `most` may ever be. */
export type PodSetCharges = {
  readonly name: string;
  readonly amounts: readonly { readonly key: string; readonly amount: Amount; readonly free: Amount; readonly most: Amount }[];
};

/**
 * One `offered` flavor of each group, by preference, earlier groups first. All pods of a pod set get the labels of all its flavors. So no
 * two of these may disagree on a label, and one term of the required node affinity must allow all of them. Pod sets share the quota of a
 * flavor: `limit` says which amount they may not exceed together. Undefined if there is no such combination.
 */
export function combineFlavors<F extends Combinable>(
  groups: readonly (readonly F[])[],
  offered: (flavor: F) => boolean,
  limit: QuotaLimit = 'free',
  terms = -1n,
  taken: ReadonlyMap<string, Amount> = NOTHING,
): readonly F[] | undefined {
  const [options, ...rest] = groups;
  if (options === undefined) return [];
  for (const option of options) {
    if (!offered(option)) continue;
    const takenThen = option.podSet === undefined ? taken : takenWith(option.podSet, taken, limit);
    if (takenThen === undefined) continue;
    const common = terms & option.terms;
    const isOfSamePods = (other: F): boolean => other.podSet?.name === option.podSet?.name;
    const fitting = rest.map((group) =>
      group.filter((other) => !isOfSamePods(other) || ((common & other.terms) !== 0n && agree(option.nodeLabels, other.nodeLabels))),
    );
    // Looking ahead avoids trying all combinations of the other groups before a group that none of them agrees with.
    if (!fitting.every((group) => group.some(offered))) continue;
    const [next] = fitting[0] ?? [];
    const others = combineFlavors(fitting, offered, limit, next === undefined || isOfSamePods(next) ? common : -1n, takenThen);
    if (others !== undefined) return [option, ...others];
  }
  return undefined;
}

const NOTHING: ReadonlyMap<string, Amount> = new Map();

/** Whether pod sets take more of some flavor together than is free. */
export const exceedsFree = (options: readonly Combinable[]): boolean =>
  options.reduce<ReadonlyMap<string, Amount> | undefined>(
    (taken, { podSet }) => (podSet === undefined || taken === undefined ? taken : takenWith(podSet, taken, 'free')),
    NOTHING,
  ) === undefined;

/** Amounts that pod sets take of each flavor together; undefined if that exceeds the limit. */
function takenWith(
  { amounts }: PodSetCharges,
  taken: ReadonlyMap<string, Amount>,
  limit: QuotaLimit,
): ReadonlyMap<string, Amount> | undefined {
  const all = new Map(taken);
  for (const { key, amount, ...limits } of amounts) {
    const sum = plus(all.get(key) ?? ZERO, amount);
    if (amount > ZERO && sum > limits[limit]) return undefined;
    all.set(key, sum);
  }
  return all;
}
