import type { DeepReadonly, Node, Pod } from '../../../api/kubernetes.ts';
import { isEmptyTerm, nodeRequirements, requiredTerms } from '../../../kube/node-terms.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { matchesLabelSelector } from '../../../kube/selectors.ts';
import { repellingTaint } from '../../../kube/taints.ts';

/** Amounts by resource name, in billionths; `pods` counts pods. */
export type Amounts = Readonly<Record<string, bigint>>;

const ONE = 1_000_000_000n;

/** What a pod takes of a node: the sum of its containers, or the largest init container if that is more; overhead; one pod. */
export function requestsOf({ spec }: DeepReadonly<Pod>): Amounts {
  const total: Record<string, bigint> = {};
  const initPeak: Record<string, bigint> = {};
  for (const container of spec.containers) addTo(total, container.resources?.requests);
  for (const container of spec.initContainers ?? []) {
    // A sidecar runs beside the containers; any other init container runs alone, before them.
    if (container.restartPolicy === 'Always') addTo(total, container.resources?.requests);
    else {
      for (const [name, amount] of Object.entries(amountsOf(container.resources?.requests))) {
        if (amount > (initPeak[name] ?? 0n)) initPeak[name] = amount;
      }
    }
  }
  for (const [name, amount] of Object.entries(initPeak)) if (amount > (total[name] ?? 0n)) total[name] = amount;
  addTo(total, spec.overhead);
  return { ...total, pods: ONE };
}

export const amountsOf = (quantities: Readonly<Record<string, string>> | undefined): Record<string, bigint> =>
  Object.fromEntries(Object.entries(quantities ?? {}).map(([name, text]) => [name, parseQuantity(text).nanos]));

function addTo(total: Record<string, bigint>, quantities: Readonly<Record<string, string>> | undefined): void {
  for (const [name, amount] of Object.entries(amountsOf(quantities))) total[name] = (total[name] ?? 0n) + amount;
}

/**
 * Why a pod cannot go to a node, in the scheduler's words; nothing when it can. `free` is what the node has left. The first of the
 * scheduler's filters that says no ends the search, and the one for resources names all that lack.
 */
export function misfits(pod: DeepReadonly<Pod>, node: DeepReadonly<Node>, requests: Amounts, free: Amounts): readonly string[] {
  const taint = taintProblem(pod, node);
  if (taint !== undefined) return [taint];
  if (!matchesNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  return Object.entries(requests)
    .filter(([name, amount]) => amount > 0n && amount > (free[name] ?? 0n))
    .map(([name]) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
}

function taintProblem({ spec }: DeepReadonly<Pod>, node: DeepReadonly<Node>): string | undefined {
  const unschedulable = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };
  const taints = [...(node.spec?.unschedulable === true ? [unschedulable] : []), ...(node.spec?.taints ?? [])];
  const repelling = repellingTaint(taints, spec.tolerations ?? []);
  if (repelling === undefined) return undefined;
  return repelling === unschedulable ? 'node(s) were unschedulable' : 'node(s) had untolerated taint(s)';
}

function matchesNode({ spec }: DeepReadonly<Pod>, { metadata }: DeepReadonly<Node>): boolean {
  const labels = metadata.labels ?? {};
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  // Terms are alternatives; within one everything must hold.
  const terms = requiredTerms(spec);
  if (terms === undefined) return true;
  return terms.some(
    (term) =>
      !isEmptyTerm(term) &&
      matchesLabelSelector(nodeRequirements(term.matchExpressions), labels) &&
      matchesLabelSelector(nodeRequirements(term.matchFields), { 'metadata.name': metadata.name }),
  );
}
