/** Trees of quota for the tests of fair sharing: cpu of one flavor, and others where they are named. */
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import { parseAmount } from '../../../../manager/api/amount.ts';
import type { Charge } from '../../../../manager/admission/flavors/flavor-assigner.ts';
import {
  addUsage,
  buildQuotaTree,
  type FlavorResource,
  type QuotaNode,
  type QuotaTree,
} from '../../../../manager/admission/quota/quota-tree.ts';
import { createUsage, type Usage } from '../../../../manager/admission/quota/usage.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';

type Amounts = Readonly<Record<string, number | { readonly nominal: number; readonly lending?: number; readonly borrowing?: number }>>;
type Part = { readonly in?: string; readonly quota?: Amounts; readonly weight?: string | number };

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });
const flavorOf = (key: string): { flavor: string; resource: string } => {
  const slash = key.indexOf('/');
  return slash < 0 ? { flavor: 'default', resource: key } : { flavor: key.slice(0, slash), resource: key.slice(slash + 1) };
};

/** Quota by `cpu` (of flavor default) or `flavor/resource`: the nominal one, or with limits. */
const groupsOf = (quota: Amounts) =>
  Object.entries(quota).map(([key, amount]) => {
    const { flavor, resource } = flavorOf(key);
    const { nominal, lending, borrowing } = typeof amount === 'number' ? { nominal: amount } : { ...amount };
    const of = { name: resource, nominalQuota: nominal, ...omitUndefined({ lendingLimit: lending, borrowingLimit: borrowing }) };
    return { coveredResources: [resource], flavors: [{ name: flavor, resources: [of] }] };
  });

const fairSharing = (weight: string | number | undefined) => (weight === undefined ? {} : { fairSharing: { weight } });

export type Tree = {
  readonly tree: QuotaTree;
  readonly usage: Usage;
  readonly queue: (name: string) => QuotaNode;
  readonly cohort: (name: string) => QuotaNode;
  /** Charges the ClusterQueue. */
  readonly use: (name: string, amounts: Readonly<Record<string, number>>) => void;
};

export function aTree(queues: Readonly<Record<string, Part>>, cohorts: Readonly<Record<string, Part>> = {}): Tree {
  const tree = buildQuotaTree(
    Object.entries(queues).map(
      ([name, part]): ClusterQueue => ({
        metadata: meta(name),
        spec: { resourceGroups: groupsOf(part.quota ?? {}), ...omitUndefined({ cohortName: part.in }), ...fairSharing(part.weight) },
      }),
    ),
    Object.entries(cohorts).map(
      ([name, part]): Cohort => ({
        metadata: meta(name),
        spec: { resourceGroups: groupsOf(part.quota ?? {}), ...omitUndefined({ parentName: part.in }), ...fairSharing(part.weight) },
      }),
    ),
  );
  const usage = createUsage();
  const found = (nodes: ReadonlyMap<string, QuotaNode>, name: string): QuotaNode => {
    const node = nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  };
  const queue = (name: string): QuotaNode => found(tree.clusterQueues, name);
  return {
    tree,
    usage,
    queue,
    cohort: (name) => found(tree.cohorts, name),
    use: (name, amounts) => {
      for (const [key, amount] of charges(amounts)) addUsage(queue(name), usage, key, amount);
    },
  };
}

/** `{ cpu: 2 }` of flavor default, `{ 'spot/cpu': 2 }` of another. */
export const charges = (amounts: Readonly<Record<string, number>>): Charge[] =>
  Object.entries(amounts).map(([key, amount]) => {
    const { flavor, resource } = flavorOf(key);
    const name: FlavorResource = `${flavor}/${resource}`;
    return [name, parseAmount(resource, String(amount))];
  });
