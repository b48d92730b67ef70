import type { LabelRequirements } from '../../../shared/kube/selectors.ts';
import { agree } from './flavor-match.ts';

/** The properties that decide whether flavors of several resource groups go together. */
export type Combinable = {
  /** Labels of the WorkerClusters that offer the flavor. */
  readonly clusters: LabelRequirements;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Terms of the Job's required node affinity that the flavor can meet, one bit each. */
  readonly terms: bigint;
};

/**
 * One `offered` flavor of each group, by preference, earlier groups first. All pods get the labels of all flavors, so no two flavors may
 * disagree on a label, and one term of the required node affinity must allow all of them. Undefined if there is no such combination.
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
    // Looking ahead avoids trying all combinations of the other groups before a group that none of them agrees with.
    if (!fitting.every((group) => group.some(offered))) continue;
    const others = combineFlavors(fitting, offered, common);
    if (others !== undefined) return [option, ...others];
  }
  return undefined;
}
