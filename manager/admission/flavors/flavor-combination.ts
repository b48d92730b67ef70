import type { LabelRequirements } from '../../../shared/kube/selectors.ts';
import { agree } from './flavor-match.ts';

/** What decides whether flavors of several resource groups can be had together. */
export type Combinable = {
  /** Labels of the WorkerClusters that offer the flavor. */
  readonly clusters: LabelRequirements;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Terms of the Job's required node affinity that it could meet, a bit each. */
  readonly terms: bigint;
};

/**
 * The first flavor of each group that is `offered`, the preference of an earlier group first, of which all pods get the labels: no two say
 * different things of one label, and one term of the Job's required node affinity allows all of them. Undefined: there are none.
 */
export function combineFlavors<F extends Combinable>(
  groups: readonly (readonly F[])[],
  offered: (flavor: F) => boolean,
  terms = -1n,
): readonly F[] | undefined {
  const [options, ...rest] = groups;
  if (options === undefined) return [];
  for (const option of options) {
    if (!offered(option)) continue;
    const common = terms & option.terms;
    const fitting = rest.map((group) =>
      group.filter((other) => (common & other.terms) !== 0n && agree(option.nodeLabels, other.nodeLabels)),
    );
    // Looking ahead keeps a group with which nothing agrees from being found out anew for each combination of the others.
    if (!fitting.every((group) => group.some(offered))) continue;
    const others = combineFlavors(fitting, offered, common);
    if (others !== undefined) return [option, ...others];
  }
  return undefined;
}
