import type { DeepReadonly, Node } from '../../shared/api/kubernetes.ts';
import { addQuantities, formatQuantity, parseQuantity, type Quantity } from '../../shared/kube/quantity.ts';

/** Sum of what the schedulable, ready nodes of a cluster offer, by resource. */
export function allocatableOf(nodes: readonly DeepReadonly<Node>[]): Record<string, string> {
  const sums = new Map<string, Quantity>();
  for (const node of nodes.filter(takesPods)) {
    for (const [resource, text] of Object.entries(node.status?.allocatable ?? {})) {
      const amount = parseQuantity(text);
      const sum = sums.get(resource);
      sums.set(resource, sum === undefined ? amount : addQuantities(sum, amount));
    }
  }
  return Object.fromEntries([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([resource, sum]) => [resource, formatQuantity(sum)]));
}

const takesPods = (node: DeepReadonly<Node>): boolean =>
  node.spec?.unschedulable !== true && !(node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status !== 'True');
