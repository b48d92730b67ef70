import { isFloating, ZERO, type Requests } from '../../api/amount.ts';
import type { NodeShapeState } from '../quota/cluster-state.ts';

/**
 * How many of the pods fit on empty nodes of these shapes, at most all. `requests`: the sum over equal pods. This is exact for pods that
 * may use every node; where selectors, taints or other pods keep nodes from them, fewer fit.
 */
export function podsOnEmptyNodes(requests: Requests, shapes: readonly NodeShapeState[]): number {
  const pods = requests.get('pods') ?? 0;
  let fitting = 0;
  for (const { count, allocatable } of shapes) {
    let onNode = pods;
    for (const [resource, amount] of requests) {
      if (amount <= ZERO || isFloating(resource)) continue;
      // Multiplied, because an amount of one pod may be no whole number.
      onNode = Math.min(onNode, Math.floor(((allocatable.get(resource) ?? ZERO) * pods) / amount));
    }
    fitting += count * onNode;
    if (fitting >= pods) return pods;
  }
  return fitting;
}
