/** Worlds for the tests of explanations: a queue `main`, clusters, who holds what, and who waits. */
import { NO_PRIORITY_CLASSES } from '../../../../../manager/admission/workload/priority.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import type { QueueingObjects } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { World } from '../../../../../manager/insight/world/world.ts';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aWorkload, objects } from '../../admission/setup.ts';

export const NOW_MS = Date.parse('2026-01-02T00:00:00Z');

export const aWorld = (
  clusterQueues: readonly ClusterQueue[],
  clusters: readonly ClusterState[],
  workloads: readonly Workload[],
  parts: Partial<QueueingObjects> = {},
): World => ({
  objects: objects({
    clusterQueues,
    localQueues: clusterQueues.map(({ metadata }) => ({
      metadata: { ...metadata, namespace: 'team' },
      spec: { clusterQueue: metadata.name },
    })),
    ...parts,
  }),
  clusters,
  priorityClasses: NO_PRIORITY_CLASSES,
  workloads,
  nowMs: NOW_MS,
});

/** Asks for so many pods of so much each. */
export const pods = (name: string, count: number, perPod: Readonly<Record<string, string>>, parts: Partial<Workload> = {}): Workload => {
  const each = parseRequests(perPod);
  const requests = parseRequests({ pods: String(count) });
  const all = new Map([...[...each].map(([resource, amount]) => [resource, (amount * count) as typeof amount] as const), ...requests]);
  return aWorkload(name, {}, { requests: all, schedulingHash: JSON.stringify([...all]), shape: JSON.stringify(perPod), ...parts });
};

/** Is admitted and holds this. */
export const holding = (name: string, cpu: string, cluster = 'eu', clusterQueue = 'main', flavor = 'default'): Workload =>
  aWorkload(
    name,
    { cpu },
    {
      queue: clusterQueue,
      phase: 'Admitted',
      record: {
        clusterQueue,
        cluster,
        flavors: { cpu: flavor },
        epoch: 1,
        since: '2026-01-01T00:00:00Z',
        requests: { cpu, pods: '1' },
      },
    },
  );
