import { createHash } from 'node:crypto';
import type { DeepReadonly, PodSpec } from '../../../shared/api/kubernetes.ts';
import { isEmptyTerm, nodeRequirements, requiredTerms } from '../../../shared/kube/node-terms.ts';
import type { LabelRequirements } from '../../../shared/kube/selectors.ts';
import type { Toleration } from '../../../shared/kube/taints.ts';

/** What the pods of a Job ask of the nodes that they run on, as far as flavors say what their nodes are like. */
export type NodeWish = {
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** What the terms of the required node affinity ask of labels, one of which must hold; undefined: there is none. */
  readonly terms: readonly LabelRequirements[] | undefined;
  readonly tolerations: readonly Toleration[];
  /** The same for equal wishes; empty where nothing is asked. */
  readonly digest: string;
};

export const ANY_NODE: NodeWish = { nodeSelector: {}, terms: undefined, tolerations: [], digest: '' };

export function nodeWishOf(spec: DeepReadonly<PodSpec> | undefined): NodeWish {
  if (spec === undefined) return ANY_NODE;
  const { nodeSelector = {}, tolerations = [] } = spec;
  // A term without any requirement describes no node; one that is about the names of nodes alone could describe any.
  const terms = requiredTerms(spec)
    ?.filter((term) => !isEmptyTerm(term))
    .map(({ matchExpressions }) => nodeRequirements(matchExpressions));
  const labels = Object.entries(nodeSelector);
  if (labels.length === 0 && terms === undefined && tolerations.length === 0) return ANY_NODE;
  const parts = [labels.toSorted(([a], [b]) => (a < b ? -1 : 1)), terms ?? null, tolerations];
  return { nodeSelector, terms, tolerations, digest: createHash('sha256').update(JSON.stringify(parts)).digest('base64url') };
}
