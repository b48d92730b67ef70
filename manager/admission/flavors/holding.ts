import { minus, plus, type Requests } from '../../api/amount.ts';
import type { Charge } from './flavor-assigner.ts';
import { addUsage, removeUsage, type QuotaNode } from '../quota/quota-tree.ts';
import { clusterHolder, type Usage } from '../quota/usage.ts';

/** What one Workload uses: quota of its ClusterQueue, and room on its cluster. */
export type Holding = {
  /** Undefined if the ClusterQueue is deleted or inactive: then only the cluster is charged. */
  readonly node: QuotaNode | undefined;
  readonly charges: readonly Charge[];
  readonly cluster: string;
  /** Amounts by resource, whatever the flavor. */
  readonly amounts: Requests;
};

export const charge = (usage: Usage, holding: Holding): void => apply(usage, holding, addUsage, plus);

export const discharge = (usage: Usage, holding: Holding): void => apply(usage, holding, removeUsage, minus);

function apply(usage: Usage, { node, charges, cluster, amounts }: Holding, onNode: typeof addUsage, onCluster: typeof plus): void {
  if (node !== undefined) {
    for (const [key, amount] of charges) onNode(node, usage, key, amount);
    usage.changed(node.rootId);
  }
  const holder = clusterHolder(cluster);
  for (const [resource, amount] of amounts) usage.set(holder, resource, onCluster(usage.get(holder, resource), amount));
}
