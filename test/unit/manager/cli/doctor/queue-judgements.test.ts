/** Goal: whatever keeps all Jobs from coming through a queue is named with what repairs it, by the spec where no manager runs. */
import { expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import type { LocalQueue } from '../../../../../manager/api/local-queue.ts';
import type { ResourceFlavor } from '../../../../../manager/api/resource-flavor.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { judgeQueues, type QueueObjects } from '../../../../../manager/cli/doctor/queue-judgements.ts';

const metadata = (name: string, labels: Record<string, string> = {}) => ({ name, namespace: 'team', labels });
const clusterQueue = (name: string, spec: object = {}, status: object = {}): ClusterQueue =>
  ({
    metadata: metadata(name),
    spec: { namespaceSelector: {}, resourceGroups: [{ flavors: [{ name: 'cpu' }] }], ...spec },
    status,
  }) as unknown as ClusterQueue;
const inactive = (reason: string, message: string) => ({ conditions: [{ type: 'Active', status: 'False', reason, message }] });
const localQueue = (name: string, of: string): LocalQueue =>
  ({ metadata: metadata(name), spec: { clusterQueue: of } }) as unknown as LocalQueue;
const flavor = (name: string, clusterSelector?: object): ResourceFlavor =>
  ({ metadata: metadata(name), spec: clusterSelector && { clusterSelector } }) as unknown as ResourceFlavor;
const cluster = (name: string, labels: Record<string, string>): WorkerCluster =>
  ({ metadata: metadata(name, labels), spec: {} }) as unknown as WorkerCluster;

const judged = (objects: Partial<QueueObjects>): string[] =>
  judgeQueues({
    clusterQueues: [clusterQueue('a')],
    localQueues: [localQueue('q', 'a')],
    flavors: [flavor('cpu')],
    clusters: [],
    ...objects,
  }).map(({ result, check, found, remedy }) => [`${result} ${check}: ${found}`, ...(remedy === undefined ? [] : [remedy])].join(' -> '));

test.each<[string, Partial<QueueObjects>, RegExp[]]>([
  ['fine', {}, [/^ok queues: 1 ClusterQueues, 1 LocalQueues/]],
  ['none', { clusterQueues: [], localQueues: [] }, [/^note queues: there is no ClusterQueue/]],
  ['nowhere to submit', { localQueues: [] }, [/^note queues: .*no LocalQueue/]],
  [
    'inactive, and lost',
    { clusterQueues: [clusterQueue('a', {}, inactive('CohortCycle', 'a cycle'))], localQueues: [localQueue('q', 'b')] },
    [
      /^wrong queue a: a cycle -> kubectl describe clusterqueue a$/,
      /^wrong queue team\/q: its ClusterQueue b does not exist -> create ClusterQueue b/,
    ],
  ],
  [
    'that selects no namespace, whatever its status says',
    { clusterQueues: [clusterQueue('a', { namespaceSelector: undefined }, { pendingWorkloads: 15 })] },
    [/^wrong queue a: its spec.namespaceSelector is absent, .*; 15 Jobs wait -> kubectl patch clusterqueue a .*"namespaceSelector":\{\}/],
  ],
  [
    'that is stopped',
    { clusterQueues: [clusterQueue('a', {}, { ...inactive('Stopped', 'stopPolicy is Hold'), pendingWorkloads: 1 })] },
    [/^wrong queue a: stopPolicy is Hold; 1 Job waits -> kubectl patch .*"stopPolicy":"None"/],
  ],
  [
    'with a flavor that is missing',
    { flavors: [] },
    [/^wrong queue a: ResourceFlavor cpu does not exist: .* -> create ResourceFlavor cpu/],
  ],
  ['with flavors that may not be listed', { flavors: undefined, clusters: undefined }, [/^ok /]],
  [
    'with a flavor that no cluster offers',
    { flavors: [flavor('cpu', { matchLabels: { zone: 'x' } })], clusters: [cluster('east', { zone: 'y' })] },
    [/^wrong flavor cpu: .* none of 1 WorkerClusters: no Job of a gets it -> kubectl label workercluster NAME zone=x/],
  ],
  [
    'with a flavor that one cluster offers',
    {
      flavors: [flavor('cpu', { matchLabels: { zone: 'x' } })],
      clusters: [cluster('east', { zone: 'y' }), cluster('west', { zone: 'x' })],
    },
    [/^ok /],
  ],
  [
    'with a flavor of no queue',
    { flavors: [flavor('cpu'), flavor('gpu', { matchLabels: { zone: 'x' } })], clusters: [cluster('east', {})] },
    [/^ok /],
  ],
])('queues: %s', (_, objects, expected) => {
  expect(judged(objects)).toEqual(expected.map((each) => expect.stringMatching(each)));
});
