import type { DeepReadonly, Node, Pod } from '../../../api/kubernetes.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { matchesLabelSelector } from '../../../kube/selectors.ts';
import type { LabelRequirement } from '../../../kube/selectors-parser.ts';

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
  const taint = repellingTaint(pod, node);
  if (taint !== undefined) return [taint];
  if (!matchesNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  return Object.entries(requests)
    .filter(([name, amount]) => amount > 0n && amount > (free[name] ?? 0n))
    .map(([name]) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
}

function repellingTaint({ spec }: DeepReadonly<Pod>, node: DeepReadonly<Node>): string | undefined {
  const unschedulable = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };
  const taints = [...(node.spec?.unschedulable === true ? [unschedulable] : []), ...(node.spec?.taints ?? [])];
  const repelling = taints.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !(spec.tolerations ?? []).some((each) => tolerates(each, taint)),
  );
  if (repelling === undefined) return undefined;
  if (repelling === unschedulable) return 'node(s) were unschedulable';
  return `node(s) had untolerated taint(s)`;
}

type Toleration = NonNullable<DeepReadonly<Pod>['spec']['tolerations']>[number];
type Taint = NonNullable<NonNullable<DeepReadonly<Node>['spec']>['taints']>[number];
/** Whether a toleration is about this taint. */
export function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''));
}

function matchesNode({ spec }: DeepReadonly<Pod>, { metadata }: DeepReadonly<Node>): boolean {
  const labels = metadata.labels ?? {};
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  // Terms are alternatives; within one everything must hold, and an empty term matches nothing.
  return required.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length === 0 && matchFields.length === 0) return false;
    return (
      matchesLabelSelector(matchExpressions.map(toRequirement), labels) &&
      matchesLabelSelector(matchFields.map(toRequirement), { 'metadata.name': metadata.name })
    );
  });
}

const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] satisfies LabelRequirement['operator'][];
function toRequirement({ key, operator, values = [] }: { key: string; operator: string; values?: readonly string[] }): LabelRequirement {
  // The API server accepts no other operator.
  return { key, operator: OPERATORS.includes(operator) ? (operator as LabelRequirement['operator']) : 'In', values };
}
