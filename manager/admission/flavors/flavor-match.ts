import { matchesLabelSelector, type Labels } from '../../../shared/kube/selectors.ts';
import { formatTaint, repellingTaint } from '../../../shared/kube/taints.ts';
import type { NodeWish } from '../workload/node-wish.ts';
import type { FlavorSetup } from '../snapshot/snapshot.ts';

export type FlavorMatch =
  /** `terms`: one bit for each term of the required node affinity that nodes of the flavor could meet; all ones where nothing is required. */
  { readonly kind: 'Match'; readonly terms: bigint } | { readonly kind: 'Mismatch'; readonly problem: string };

/**
 * Whether pods could run on nodes of a flavor, as Kueue's flavor assigner judges it: by taints and labels that the flavor names, and by
 * nothing else. Whatever is asked about other labels, nodes of the flavor may have or not.
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

/** Whether a node can have the labels of both. */
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

/** Those of a flavor's labels that are asked about; `any labels` where no term describes any node. */
function judgedLabels(labels: Labels, { terms = [] }: NodeWish): string {
  const asked = new Set(terms.flatMap((term) => term.map(({ key }) => key)));
  const judged = Object.entries(labels).filter(([label]) => asked.has(label));
  return judged.length === 0 ? 'any labels' : judged.map((pair) => pair.join('=')).join(' and ');
}
