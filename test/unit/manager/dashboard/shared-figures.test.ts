import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { LocalQueue } from '../../../../manager/api/local-queue.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { createJobIndex } from '../../../../manager/dashboard/job-index.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import { clustersView, queuesView } from '../../../../manager/dashboard/shared-figures.ts';
import type { KubeObject } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache, type Lister } from '../../../../shared/kube/indexer.ts';
import { anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const listOf = <T extends KubeObject>(...objects: readonly object[]): Lister<T> => {
  const cache = createObjectCache<T>();
  for (const object of objects) cache.set(object as Parameters<typeof cache.set>[0]);
  return cache;
};
const meta = (name: string, namespace = '') => ({ name, namespace, uid: name, resourceVersion: '1' });
const queue = (name: string) => ({
  metadata: meta(name),
  spec: {
    cohortName: 'lab',
    resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'spot', resources: [{ name: 'cpu', nominalQuota: '8' }] }] }],
  },
  status: {
    pendingWorkloads: 3,
    admittedWorkloads: 4,
    flavorsUsage: [{ name: 'spot', resources: [{ name: 'cpu', total: '5', borrowed: '0' }] }],
  },
});
const cluster = (name: string) => ({
  metadata: meta(name),
  spec: {},
  status: { version: 'v1.36.0', conditions: [{ type: 'Ready', status: 'False', reason: 'Unreachable', message: 'dial tcp 10.0.0.7' }] },
});

const index = createJobIndex(JOB_KIND);
index.handler.added?.(anAdmittedJob({ metadata: { namespace: 'team', name: 'runs' } }, { cluster: 'east', requests: { cpu: '2' } }), false);
const sources = {
  index,
  clusterQueues: listOf<ClusterQueue>(queue('mine'), queue('theirs')),
  localQueues: listOf<LocalQueue>(
    { metadata: meta('main', 'team'), spec: { clusterQueue: 'mine' }, status: { pendingWorkloads: 1, admittedWorkloads: 1 } },
    { metadata: meta('main', 'other'), spec: { clusterQueue: 'mine' }, status: { pendingWorkloads: 2, admittedWorkloads: 3 } },
  ),
  workerClusters: listOf<WorkerCluster>(cluster('east')),
};
const TENANT: Rights = { namespaces: new Map([['team', 'u1']]), queues: new Set(), clusters: new Set() };
const NOBODY: Rights = { namespaces: new Map(), queues: new Set(), clusters: new Set() };
const ALL: Rights = { namespaces: 'All', queues: 'All', clusters: 'All' };

describe('figures that tenants share', () => {
  test('a tenant sees the total of the queue that they use, and of its LocalQueues their own', () => {
    expect(queuesView(sources, TENANT)).toEqual({
      queues: [
        {
          name: 'mine',
          waiting: 3,
          admitted: 4,
          quota: [{ flavor: 'spot', resource: 'cpu', used: '5', nominal: '8' }],
          localQueues: [{ key: 'team/main', waiting: 1, admitted: 1, holds: { cpu: '2' } }],
        },
      ],
    });
  });

  test('a viewer of all queues sees each with its cohort and all LocalQueues, and who sees no namespace sees none', () => {
    const { queues } = queuesView(sources, ALL);
    expect(queues.map(({ name, cohort, localQueues }) => [name, cohort, localQueues.length])).toEqual([
      ['mine', 'lab', 2],
      ['theirs', 'lab', 0],
    ]);
    expect(queuesView(sources, NOBODY)).toEqual({ queues: [] });
  });

  test('a tenant sees names and states of clusters, and neither addresses nor versions', () => {
    expect(clustersView(sources, TENANT)).toEqual({ clusters: [{ name: 'east', state: 'Not ready', health: 'Bad' }] });
    expect(clustersView(sources, ALL).clusters[0]).toMatchObject({ problem: 'Unreachable: dial tcp 10.0.0.7', version: 'v1.36.0' });
    expect(clustersView(sources, NOBODY)).toEqual({ clusters: [] });
  });
});
