import { matchesLabelSelector, type Labels } from '../../../shared/kube/selectors.ts';
import { formatTaint, repellingTaint } from '../../../shared/kube/taints.ts';
import type { NodeWish } from '../workload/node-wish.ts';
import type { FlavorSetup } from '../snapshot/snapshot.ts';

export type FlavorMatch =
  /**
   * `terms`: one bit for each term of the required node affinity that nodes of the flavor can meet; all ones without required node
   * affinity.
   */
  { readonly kind: 'Match'; readonly terms: bigint } | { readonly kind: 'Mismatch'; readonly problem: string };

/**
 * Whether pods can run on nodes of a flavor, as Kueue's flavor assigner judges it: by the taints and labels of the flavor alone. Nodes may
 * or may not have other labels.
 */
export function matchFlavor(wish: NodeWish, { name, nodeLabels, taints }: FlavorSetup): FlavorMatch {
  const taint = repellingTaint(taints, wish.tolerations);
  if (taint !== undefined) return mismatch(`flavor ${name} has the taint ${formatTaint(taint)}, which the Job does not tolerate`);
  const clash = Object.entries(nodeLabels).find(([label, value]) => (wish.nodeSelector[label] ?? value) !== value);
  if (clash !== undefined) return mismatch(`flavor ${name} is for nodes with ${clash.join('=')}, which the Job's nodeSelector excludes`);
  const terms = termsMetBy(nodeLabels, wish);
  if (terms !== NO_TERM) return { kind: 'Match', terms };
  return mismatch(`flavor ${name} is for nodes with ${judgedLabels(nodeLabels, wish)}, which the Job's required node affinity excludes`);
}

/** Whether one node can have both sets of labels. */
export const agree = (some: Labels, others: Labels): boolean =>
  Object.entries(some).every(([label, value]) => (others[label] ?? value) === value);

const mismatch = (problem: string): FlavorMatch => ({ kind: 'Mismatch', problem });

const EVERY_TERM = -1n;
const NO_TERM = 0n;
function termsMetBy(labels: Labels, { terms }: NodeWish): bigint {
  if (terms === undefined) return EVERY_TERM;
  return terms.reduce((met, term, index) => {
    const judged = term.filter(({ key }) => Object.hasOwn(labels, key));
    return matchesLabelSelector(judged, labels) ? met | (1n << BigInt(index)) : met;
  }, NO_TERM);
}

/** The flavor's labels that some term asks about; `any labels` if no term describes any node. */
function judgedLabels(labels: Labels, { terms = [] }: NodeWish): string {
  const asked = new Set(terms.flatMap((term) => term.map(({ key }) => key)));
  const judged = Object.entries(labels).filter(([label]) => asked.has(label));
  return judged.length === 0 ? 'any labels' : judged.map((pair) => pair.join('=')).join(' and ');
}
