import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import type { LocalQueue } from '../../../../manager/api/local-queue.ts';
import type { SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { clusterView } from '../../../../manager/dashboard/cluster-view.ts';
import { conditionViews } from '../../../../manager/dashboard/condition-view.ts';
import { createJobIndex } from '../../../../manager/dashboard/job-index.ts';
import { queueView } from '../../../../manager/dashboard/queue-view.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import { submissionView } from '../../../../manager/dashboard/submission-view.ts';
import type { OverviewSources } from '../../../../manager/dashboard/overview.ts';
import type { KubeObject } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache, type Lister } from '../../../../shared/kube/indexer.ts';
import { aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const listOf = <T extends KubeObject>(objects: readonly object[]): Lister<T> => {
  const cache = createObjectCache<T>();
  for (const object of objects) cache.set(object as Parameters<typeof cache.set>[0]);
  return cache;
};
const meta = (name: string, namespace?: string) => ({ name, uid: name, resourceVersion: '1', ...(namespace && { namespace }) });
const queue = (name: string, cohortName: string, nominalQuota: string, total: string, borrowed = '0', lendingLimit?: string) => ({
  metadata: meta(name),
  spec: {
    cohortName,
    resourceGroups: [
      {
        coveredResources: ['cpu'],
        flavors: [{ name: 'spot', resources: [{ name: 'cpu', nominalQuota, ...(lendingLimit && { lendingLimit }) }] }],
      },
    ],
  },
  status: { pendingWorkloads: 3, flavorsUsage: [{ name: 'spot', resources: [{ name: 'cpu', total, borrowed }] }] },
});
const ALL: Rights = { namespaces: 'All', queues: 'All', clusters: 'All' };

const index = createJobIndex(JOB_KIND);
const seen = (job: Parameters<NonNullable<typeof index.handler.added>>[0]): void => index.handler.added?.(job, false);
seen(aHomeJob({ metadata: { namespace: 'a', name: 'waits' } }));
seen(aHomeJob({ metadata: { namespace: 'b', name: 'waits' } }));
const avoid = { west: { reason: 'ImagePullFailed', until: '2026-01-01T01:00:00Z', refusals: 1, epoch: 1 } };
seen(anAdmittedJob({ metadata: { namespace: 'a', name: 'runs' } }, { cluster: 'east', requests: { cpu: '500m' }, avoid }));
seen(anAdmittedJob({ metadata: { namespace: 'b', name: 'runs' } }, { cluster: 'east', requests: { cpu: '2' }, avoid }));
const sources: OverviewSources = {
  index,
  workerClusters: listOf<WorkerCluster>([]),
  clusterQueues: listOf<ClusterQueue>([
    queue('gpu', 'lab', '2', '5', '3'),
    queue('idle', 'lab', '8', '1', '0', '4'),
    queue('far', 'other', '9', '0'),
  ]),
  localQueues: listOf<LocalQueue>([
    { metadata: meta('main', 'a'), spec: { clusterQueue: 'gpu' }, status: { pendingWorkloads: 1, admittedWorkloads: 1 } },
    { metadata: meta('main', 'b'), spec: { clusterQueue: 'gpu' } },
  ]),
  cohorts: listOf<Cohort>([
    { metadata: meta('lab'), spec: { parentName: 'org' } },
    { metadata: meta('org'), spec: queue('x', '', '1', '0').spec },
  ]),
};
const gpu = sources.clusterQueues.get({ namespace: '', name: 'gpu' }) ?? expect.unreachable();
const order = {
  kind: 'Order' as const,
  waiting: 3,
  first: ['b/waits', 'a/waits', 'a/gone'].map((key, position) => ({ key, priority: 9 - position })),
};

describe('the page of a queue', () => {
  test('tells who uses it, from whom it has borrowed, and who goes first', () => {
    const view = queueView(sources, gpu, order, ALL);
    expect(view.localQueues).toEqual([
      { key: 'a/main', waiting: 1, admitted: 1, holds: { cpu: '500m' } },
      { key: 'b/main', waiting: 1, admitted: 0, holds: { cpu: '2' } },
    ]);
    expect(view.loans).toEqual([
      {
        flavor: 'spot',
        resource: 'cpu',
        borrowed: '3',
        lenders: [
          { kind: 'Queue', name: 'idle', unused: '4' },
          { kind: 'Cohort', name: 'org', unused: '1' },
        ],
      },
    ]);
    expect(view.order.map(({ place, priority, job }) => [place, priority, job.key])).toEqual([
      [1, 9, 'b/waits'],
      [2, 8, 'a/waits'],
    ]);
    expect(view).toMatchObject({ waiting: 3, otherLocalQueues: 0 });
  });

  test('names nobody else’s Jobs, queues or lenders, and keeps the places', () => {
    const view = queueView(sources, gpu, order, { namespaces: new Set(['a']), queues: new Set(['gpu']), clusters: new Set() });
    expect(view.order.map(({ place, job }) => [place, job.key])).toEqual([[2, 'a/waits']]);
    expect(view).toMatchObject({ localQueues: [{ key: 'a/main' }], loans: [{ lenders: [] }] });
    expect(view).not.toHaveProperty('otherLocalQueues');
    expect(JSON.stringify(view)).not.toMatch(/"b\/|idle|org/);
  });

  test('says why there is no order, and has the count of its status then', () => {
    expect(queueView(sources, gpu, { kind: 'NoOrder', problem: 'too many' }, ALL)).toMatchObject({
      order: [],
      waiting: 3,
      orderProblem: 'too many',
    });
  });
});

describe('the page of a cluster', () => {
  const cluster = (parts: object, status: object = {}): WorkerCluster =>
    ({ metadata: meta('west'), spec: parts, status }) as unknown as WorkerCluster;

  test('tells which Jobs are kept from it and why, of those that the viewer may see', () => {
    const view = clusterView(index, cluster({ state: 'Cordoned' }, { clusterUID: 'u-1' }), { ...ALL, namespaces: new Set(['a']) });
    expect(view.avoidedBy).toEqual([{ job: 'a/runs', reason: 'ImagePullFailed', untilMs: Date.UTC(2026, 0, 1, 1) }]);
    expect(view.facts).toContainEqual({ name: 'Cluster UID', value: 'u-1' });
    expect(view.commands[0]).toEqual({ does: 'uncordon', line: 'switchyard clusters uncordon west' });
    expect(clusterView(index, cluster({}), ALL).avoidedBy).toHaveLength(2);
  });

  test('says what becomes of its Jobs when it is out of reach', () => {
    const fence = (spec: object, status: object = {}) => clusterView(index, cluster(spec, status), ALL).fence;
    expect(fence({}, { worker: { fenceAfterSeconds: 60 } })).toMatchObject({ afterSeconds: 60, leaseNamespace: 'switchyard-system' });
    expect(fence({}, { worker: { fenceAfterSeconds: 0 } }).about).toContain('does not stop');
    expect(fence({ leaseNamespace: 'sw' })).toEqual({ about: expect.stringContaining('has not said') as string, leaseNamespace: 'sw' });
    expect(fence({ local: true }).about).toContain('manager cluster');
  });
});

test('a queue of submissions tells how many wait, are parked and were refused, and what is wrong with it', () => {
  const of = (spec: object, status?: object): SubmissionQueueObject =>
    ({ metadata: meta('batch', 'a'), spec, status }) as unknown as SubmissionQueueObject;
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
  const redis = { type: 'RedisHealthy', status: 'False', reason: 'RedisNotDurable', message: 'it keeps nothing on disk' };
  expect(
    submissionView(of({ serviceAccountName: 'maker' }, { conditions: [ready], backlog: 2, parked: 5, accepted: 7, refused: 1 })),
  ).toMatchObject({
    key: 'a/batch',
    health: 'Warning',
    backlog: 2,
    parked: 5,
    accepted: 7,
    refused: 1,
    account: 'maker',
    weight: 1,
  });
  expect(submissionView(of({ identity: 'Manager' }, { conditions: [ready, redis] }))).toMatchObject({
    health: 'Warning',
    problem: 'RedisNotDurable: it keeps nothing on disk',
    account: 'the manager',
  });
  expect(submissionView(of({}, { conditions: [{ ...ready, status: 'False', reason: 'NoAccount' }] })).health).toBe('Bad');
  expect(submissionView(of({})).health).toBe('Idle');
});

test('conditions are told with the time of their last change', () => {
  expect(conditionViews([{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }])).toEqual([
    { type: 'Ready', status: 'True', reason: '', message: '', sinceMs: Date.UTC(2026, 0, 1) },
  ]);
  expect(conditionViews(undefined)).toEqual([]);
});
