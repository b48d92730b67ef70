import { isDeepStrictEqual } from 'node:util';
import type { QuotaNode } from '../quota/quota-tree.ts';
import type { QueueingSetup, QueueSetup } from './snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** Names of objects that were added, deleted or changed since the queues were last set up. */
export type ChangedObjects = {
  readonly clusterQueues: Set<string>;
  /** LocalQueues by `namespace/name`. */
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
  /** ClusterQueues whose inadmissible Workloads may fit now: the changed ones and all that share quota with them. */
  readonly tried: ReadonlySet<string>;
  /**
   * Selects Workloads that may belong to another ClusterQueue now, or to none, or have other requests there; undefined if there are none.
   */
  readonly rerouted: ((workload: Pick<Workload, 'namespace' | 'queue'>) => boolean) | undefined;
};

/** Determines what the changes affect, so that nothing else is examined. */
export function changeOf(changed: ChangedObjects, before: QueueingSetup, next: QueueingSetup): SetupChange {
  const concerned = new Set(changed.clusterQueues);
  if (changed.resourceFlavors.size + changed.cohorts.size > 0) {
    for (const setup of [before, next]) {
      // A flavor or a cycle of Cohorts may have made the ClusterQueue inactive.
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
      : // The spec of the ClusterQueue is unchanged. A flavor may be used by thousands of them.
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

/** Everything that decides whether and how a Workload joins the ClusterQueue, as text; quota is left out. */
function routeOf(name: string, { queues, inactive }: QueueingSetup): string {
  const queue = queues.get(name);
  if (queue === undefined) return JSON.stringify(inactive.get(name) ?? null);
  const { node: _node, groups: _groups, onLoss: _onLoss, ...rest } = queue;
  return JSON.stringify(rest);
}
