/** Queues, clusters and Workloads for the tests of admission: small, and to be varied. */
import type { ClusterQueue, ClusterQueueSpec } from '../../../../manager/api/cluster-queue.ts';
import type { ResourceFlavor, ResourceFlavorSpec } from '../../../../manager/api/resource-flavor.ts';
import { parseRequests, UNLIMITED } from '../../../../manager/api/amount.ts';
import { createAdmittedIndex } from '../../../../manager/admission/workload/admitted-index.ts';
import type { ClusterState } from '../../../../manager/admission/quota/cluster-state.ts';
import type { QueuedWorkload } from '../../../../manager/admission/workload/ordering.ts';
import type { Head } from '../../../../manager/admission/scheduling/decision.ts';
import {
  buildQueueingSetup,
  type QueueingObjects,
  type QueueSetup,
  type Snapshot,
} from '../../../../manager/admission/snapshot/snapshot.ts';
import { createShapeAvoidance } from '../../../../manager/admission/workload/shape-avoidance.ts';
import { createUsage } from '../../../../manager/admission/quota/usage.ts';
import type { Workload } from '../../../../manager/admission/workload/workload.ts';
import { waitingWorkload } from '../../../support/waiting-workload.ts';

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });

export const aFlavor = (name: string, spec: ResourceFlavorSpec = {}): ResourceFlavor => ({ metadata: meta(name), spec });

/** A ClusterQueue with cpu quota per flavor. */
export const aClusterQueue = (name: string, cpu: Readonly<Record<string, string>>, spec: Partial<ClusterQueueSpec> = {}): ClusterQueue => ({
  metadata: meta(name),
  spec: {
    namespaceSelector: {},
    resourceGroups: [
      {
        coveredResources: ['cpu'],
        flavors: Object.entries(cpu).map(([flavor, nominalQuota]) => ({ name: flavor, resources: [{ name: 'cpu', nominalQuota }] })),
      },
    ],
    ...spec,
  },
});

export const objects = (parts: Partial<QueueingObjects>): QueueingObjects => ({
  clusterQueues: [],
  localQueues: [],
  resourceFlavors: [aFlavor('default'), aFlavor('spot')],
  cohorts: [],
  namespaces: [{ metadata: meta('team') }],
  ...parts,
});

export const aCluster = (
  name: string,
  parts: Partial<Omit<ClusterState, 'capacity'>> & { readonly capacity?: Record<string, string> } = {},
): ClusterState => ({
  name,
  uid: undefined,
  labels: {},
  closed: undefined,
  connected: true,
  lost: false,
  reachableSinceMs: 0,
  tryingSinceMs: undefined,
  unsteady: false,
  draining: false,
  preference: 0,
  otherCapacity: UNLIMITED,
  nodeShapes: undefined,
  servedNamespaces: undefined,
  priorityClasses: undefined,
  workKinds: [],
  runtimeClasses: undefined,
  ...parts,
  capacity: parseRequests(parts.capacity),
});

export const aSnapshot = (
  clusterQueues: readonly ClusterQueue[],
  clusters: readonly ClusterState[],
  parts: Partial<QueueingObjects> = {},
): Snapshot => {
  const { queues, tree } = buildQueueingSetup(objects({ clusterQueues, ...parts }));
  const shapes = createShapeAvoidance().fork();
  return { queues, clusters, admitted: createAdmittedIndex(), nodes: tree.clusterQueues, usage: createUsage(), shapes };
};

export function queueOf(snapshot: Snapshot, name: string): QueueSetup {
  const queue = snapshot.queues.get(name);
  if (queue === undefined) throw new Error(`no queue ${name}`);
  return queue;
}

export const aWorkload = (
  name: string,
  requests: Readonly<Record<string, string>> = { cpu: '1' },
  parts: Partial<Workload> = {},
): Workload => waitingWorkload(name, { ...requests, pods: '1' }, { shape: JSON.stringify(requests), ...parts });

export const queued = (workload: Workload, arrival = 0, priority = 0): QueuedWorkload => ({ workload, priority, arrival });
export const head = (clusterQueue: string, workload: Workload, arrival = 0): Head => ({ clusterQueue, queued: queued(workload, arrival) });
