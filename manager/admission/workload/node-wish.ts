import { createHash } from 'node:crypto';
import type { DeepReadonly, PodSpec } from '../../../shared/api/kubernetes.ts';
import { isEmptyTerm, nodeRequirements, requiredTerms } from '../../../shared/kube/node-terms.ts';
import type { LabelRequirements } from '../../../shared/kube/selectors.ts';
import type { Toleration } from '../../../shared/kube/taints.ts';

/** What the pods of a Job require of nodes, as far as flavors describe nodes. */
export type NodeWish = {
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** The label requirements of the terms of the required node affinity, one of which must hold; undefined if there are none. */
  readonly terms: readonly LabelRequirements[] | undefined;
  readonly tolerations: readonly Toleration[];
  /** A digest, the same for equal requirements; empty without any. */
  readonly digest: string;
};

export const ANY_NODE: NodeWish = { nodeSelector: {}, terms: undefined, tolerations: [], digest: '' };

export function nodeWishOf(spec: DeepReadonly<PodSpec> | undefined): NodeWish {
  if (spec === undefined) return ANY_NODE;
  const { nodeSelector = {}, tolerations = [] } = spec;
  // An empty term matches no node; a term about node names alone may match any node.
  const terms = requiredTerms(spec)
    ?.filter((term) => !isEmptyTerm(term))
    .map(({ matchExpressions }) => nodeRequirements(matchExpressions));
  const labels = Object.entries(nodeSelector);
  if (labels.length === 0 && terms === undefined && tolerations.length === 0) return ANY_NODE;
  const parts = [labels.toSorted(([a], [b]) => (a < b ? -1 : 1)), terms ?? null, tolerations];
  return { nodeSelector, terms, tolerations, digest: createHash('sha256').update(JSON.stringify(parts)).digest('base64url') };
}
