import { findCondition } from '../../../shared/kube/conditions.ts';
import { matchesSelectorObject } from '../../../shared/kube/selectors.ts';
import type { ClusterQueue } from '../../api/cluster-queue.ts';
import type { LocalQueue } from '../../api/local-queue.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';
import { note, ok, wrong, type Check } from '../checks.ts';

/** Whether Jobs can come through queues: each ClusterQueue, the LocalQueues before it, the flavors behind it. */

/** `flavors` and `clusters` are undefined where they may not be listed. */
export type QueueObjects = {
  readonly clusterQueues: readonly ClusterQueue[];
  readonly localQueues: readonly LocalQueue[];
  readonly flavors: readonly ResourceFlavor[] | undefined;
  readonly clusters: readonly WorkerCluster[] | undefined;
};

export function judgeQueues({ clusterQueues, localQueues, flavors, clusters }: QueueObjects): Check[] {
  if (clusterQueues.length === 0)
    return [
      note('queues', 'there is no ClusterQueue: nothing is admitted', 'kubectl apply -f examples/queues.yaml, or switchyard import kueue'),
    ];
  const names = new Set(clusterQueues.map(({ metadata }) => metadata.name));
  const lost = localQueues
    .filter(({ spec }) => !names.has(spec.clusterQueue))
    .map(({ metadata, spec }) =>
      wrong(
        `queue ${metadata.namespace}/${metadata.name}`,
        `its ClusterQueue ${spec.clusterQueue} does not exist`,
        `create ClusterQueue ${spec.clusterQueue}, or delete this LocalQueue and create it with another one`,
      ),
    );
  const bad = [
    ...clusterQueues.flatMap((queue) => judgeClusterQueue(queue, flavors)),
    ...lost,
    ...judgeFlavors(clusterQueues, flavors ?? [], clusters ?? []),
  ];
  if (bad.length > 0) return bad;
  return [
    localQueues.length === 0
      ? note(
          'queues',
          `${clusterQueues.length} ClusterQueues, and no LocalQueue to submit to`,
          'make a LocalQueue in each namespace that submits Jobs',
        )
      : ok('queues', `${clusterQueues.length} ClusterQueues, ${localQueues.length} LocalQueues, all active`),
  ];
}

/** By its spec where that says enough: its status is of a manager, which may be down, or older. */
function judgeClusterQueue({ metadata: { name }, spec, status }: ClusterQueue, flavors: readonly ResourceFlavor[] | undefined): Check[] {
  const check = `queue ${name}`;
  const pending = status?.pendingWorkloads ?? 0;
  const waiting = pending === 0 ? '' : `; ${pending === 1 ? '1 Job waits' : `${pending} Jobs wait`}`;
  if (spec.namespaceSelector === undefined)
    return [
      wrong(
        check,
        `its spec.namespaceSelector is absent, which selects no namespace: no Job is admitted${waiting}`,
        `kubectl patch clusterqueue ${name} --type merge -p '{"spec":{"namespaceSelector":{}}}' selects all namespaces`,
      ),
    ];
  const missing = flavorsOf({ spec }).filter((flavor) => flavors?.some(({ metadata }) => metadata.name === flavor) === false);
  if (missing.length > 0)
    return [
      wrong(
        check,
        `ResourceFlavor ${missing.join(', ')} does not exist: no Job is admitted${waiting}`,
        `create ResourceFlavor ${missing.join(', ')}, or take it out of the queue's spec.resourceGroups`,
      ),
    ];
  const active = findCondition(status?.conditions, 'Active');
  if (active?.status !== 'False') return [];
  const remedy =
    active.reason === 'Stopped'
      ? `kubectl patch clusterqueue ${name} --type merge -p '{"spec":{"stopPolicy":"None"}}' starts it again`
      : `kubectl describe clusterqueue ${name}`;
  return [wrong(check, `${active.message}${waiting}`, remedy)];
}

const flavorsOf = ({ spec }: Pick<ClusterQueue, 'spec'>): string[] =>
  (spec.resourceGroups ?? []).flatMap(({ flavors }) => flavors.map(({ name }) => name));

/** Flavors that no cluster offers. */
function judgeFlavors(
  clusterQueues: readonly ClusterQueue[],
  flavors: readonly ResourceFlavor[],
  clusters: readonly WorkerCluster[],
): Check[] {
  if (clusters.length === 0) return [];
  return flavors.flatMap(({ metadata: { name }, spec }) => {
    const users = clusterQueues.filter((queue) => flavorsOf(queue).includes(name)).map(({ metadata }) => metadata.name);
    const selector = spec?.clusterSelector ?? {};
    if (users.length === 0 || clusters.some(({ metadata }) => matchesSelectorObject(selector, metadata.labels))) return [];
    const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
    return [
      wrong(
        `flavor ${name}`,
        `its spec.clusterSelector selects none of ${clusters.length} WorkerClusters: no Job of ${users.join(', ')} gets it`,
        `kubectl label workercluster NAME ${labels.length > 0 ? labels.join(' ') : 'KEY=VALUE'}, or change the selector`,
      ),
    ];
  });
}
