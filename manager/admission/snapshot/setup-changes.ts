import { isDeepStrictEqual } from 'node:util';
import type { QuotaNode } from '../quota/quota-tree.ts';
import type { QueueingSetup, QueueSetup } from './snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** Names of the objects that have come, gone or changed since the queues were set up last. */
export type ChangedObjects = {
  readonly clusterQueues: Set<string>;
  /** By `namespace/name`. */
  readonly localQueues: Set<string>;
  readonly resourceFlavors: Set<string>;
  readonly cohorts: Set<string>;
  readonly namespaces: Set<string>;
};

export const noChangedObjects = (): ChangedObjects => ({
  clusterQueues: new Set(),
  localQueues: new Set(),
  resourceFlavors: new Set(),
  cohorts: new Set(),
  namespaces: new Set(),
});

export type SetupChange = {
  /** ClusterQueues whose Workloads may fit now though they did not: those that are others now, and all that share quota with them. */
  readonly tried: ReadonlySet<string>;
  /** Whether a Workload may belong to another ClusterQueue now, or to none, or asks it for something else; undefined: none does. */
  readonly rerouted: ((workload: Pick<Workload, 'namespace' | 'queue'>) => boolean) | undefined;
};

/** What changes in the queues are about, so that nobody else is looked at. */
export function changeOf(changed: ChangedObjects, before: QueueingSetup, next: QueueingSetup): SetupChange {
  const concerned = new Set(changed.clusterQueues);
  if (changed.resourceFlavors.size + changed.cohorts.size > 0) {
    for (const setup of [before, next]) {
      // What keeps it from being active may have been the flavor, or a circle of cohorts.
      for (const name of setup.inactive.keys()) concerned.add(name);
      for (const queue of setup.queues.values()) if (isBuiltOn(queue, changed)) concerned.add(queue.name);
    }
  }
  const roots = new Set<string>();
  for (const setup of [before, next]) {
    for (const name of concerned) {
      const root = setup.tree.clusterQueues.get(name)?.rootId;
      if (root !== undefined) roots.add(root);
    }
  }
  const tried = new Set(concerned);
  for (const [name, { rootId }] of next.tree.clusterQueues) if (roots.has(rootId)) tried.add(name);
  const isRoutedAnew = (name: string): boolean =>
    changed.clusterQueues.has(name)
      ? routeOf(name, before) !== routeOf(name, next)
      : // What it says of itself is as it was. A flavor may be of thousands.
        !isDeepStrictEqual(before.inactive.get(name), next.inactive.get(name));
  const routes = new Set([...concerned].filter(isRoutedAnew));
  const { localQueues, namespaces } = changed;
  if (routes.size + localQueues.size + namespaces.size === 0) return { tried, rerouted: undefined };
  const leadsTo = (local: string, { localQueues: setups }: QueueingSetup): boolean => routes.has(setups.get(local)?.clusterQueue ?? '');
  return {
    tried,
    rerouted: ({ namespace, queue }) => {
      if (namespaces.has(namespace)) return true;
      const local = `${namespace}/${queue ?? ''}`;
      return localQueues.has(local) || (routes.size > 0 && (leadsTo(local, before) || leadsTo(local, next)));
    },
  };
}

function isBuiltOn({ groups, node }: QueueSetup, { resourceFlavors, cohorts }: ChangedObjects): boolean {
  if (groups.some(({ flavors }) => flavors.some(({ name }) => resourceFlavors.has(name)))) return true;
  for (let above: QuotaNode | undefined = node.parent; above !== undefined; above = above.parent) {
    if (cohorts.has(above.id.slice('Cohort/'.length))) return true;
  }
  return false;
}

/** All that may decide whether a Workload is in the ClusterQueue, and how it is put there, as one text: not how much quota there is. */
function routeOf(name: string, { queues, inactive }: QueueingSetup): string {
  const queue = queues.get(name);
  if (queue === undefined) return JSON.stringify(inactive.get(name) ?? null);
  const { node: _node, groups: _groups, onLoss: _onLoss, ...rest } = queue;
  return JSON.stringify(rest);
}
