import { describe, expect, test } from 'vitest';
import { amountIn, byImportance, fillOf, shareOf, sumOf } from '../../../../manager/dashboard/fill.ts';
import { clusterItem } from '../../../../manager/dashboard/cluster-row.ts';
import { createJobIndex } from '../../../../manager/dashboard/job-index.ts';
import { cohortNodes, queueNode } from '../../../../manager/dashboard/queue-tree.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import { cohortsOf, overviewIds, overviewItem, type OverviewSources } from '../../../../manager/dashboard/overview.ts';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import type { LocalQueue } from '../../../../manager/api/local-queue.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import type { KubeObject } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache, type Lister } from '../../../../shared/kube/indexer.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const meta = (name: string, namespace?: string) => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...(namespace && { namespace }),
});
const queue = (name: string, cohortName?: string, used = '3', borrowed?: string): ClusterQueue =>
  ({
    metadata: meta(name),
    spec: {
      ...(cohortName === undefined ? {} : { cohortName }),
      resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'spot', resources: [{ name: 'cpu', nominalQuota: '2' }] }] }],
    },
    status: {
      pendingWorkloads: 4,
      admittedWorkloads: 1,
      flavorsUsage: [{ name: 'spot', resources: [{ name: 'cpu', total: used, ...(borrowed && { borrowed }) }] }],
    },
  }) as unknown as ClusterQueue;
const cohort = (name: string, parentName?: string): Cohort =>
  ({
    metadata: meta(name),
    spec: {
      ...(parentName && { parentName }),
      resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'spot', resources: [{ name: 'cpu', nominalQuota: '1' }] }] }],
    },
  }) as unknown as Cohort;
const cluster = (name: string, parts: object = {}, status: object = {}): WorkerCluster =>
  ({
    metadata: meta(name),
    spec: parts,
    status: {
      allocatable: { cpu: '8', memory: '16Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '' }],
      ...status,
    },
  }) as unknown as WorkerCluster;

describe('how full something is', () => {
  test('is told in quantities and as a share, and nonsense counts as nothing', () => {
    expect(fillOf('cpu', amountIn('cpu', '1500m'), amountIn('cpu', '2'))).toEqual({ resource: 'cpu', used: '1500m', of: '2', share: 0.75 });
    expect(fillOf('cpu', amountIn('cpu', '1'), undefined)).toEqual({ resource: 'cpu', used: '1', of: 'unlimited' });
    expect([amountIn('cpu', 'many'), amountIn('cpu', undefined)]).toEqual([0, 0]);
    expect([shareOf(amountIn('pods', '1'), amountIn('pods', '0')), shareOf(amountIn('pods', 0), amountIn('pods', 0))]).toEqual([1, 0]);
    expect(sumOf([amountIn('cpu', '1'), amountIn('cpu', '250m')])).toBe(1_250);
    expect(['pods', 'nvidia.com/gpu', 'memory', 'cpu'].toSorted(byImportance)).toEqual(['cpu', 'memory', 'nvidia.com/gpu', 'pods']);
  });
});

describe('a cluster as a track', () => {
  const held = new Map([['cpu', amountIn('cpu', '2')]]);
  test('tells how it is in one word, what its Jobs ask for, and nothing of resources that nobody asks for', () => {
    const track = clusterItem(cluster('east', {}, { roundTripMs: 1234, version: 'v1.36.2' }), held, 3, []);
    expect(track).toMatchObject({ name: 'east', state: 'Ready', health: 'Good', jobs: 3, roundTripMs: 1200, version: 'v1.36.2' });
    expect(track.fills.map(({ resource, share }) => [resource, share])).toEqual([
      ['cpu', 0.25],
      ['memory', 0],
    ]);
  });

  test('says what is wrong with it, the worst first', () => {
    const stateOf = (parts: object, status: object = {}) => {
      const { state, health } = clusterItem(cluster('east', parts, status), held, 0, []);
      return [state, health];
    };
    const notReady = { conditions: [{ type: 'Ready', status: 'False', reason: 'ConnectionFailed', message: 'refused' }] };
    expect(stateOf({ state: 'Cordoned' })).toEqual(['Cordoned', 'Warning']);
    expect(stateOf({}, notReady)).toEqual(['Not ready', 'Bad']);
    expect(stateOf({ state: 'Cordoned' }, { ...notReady, lostSince: '2026-01-01T00:00:00Z' })).toEqual(['Lost', 'Bad']);
    expect(stateOf({}, { conditions: [] })).toEqual(['Not known yet', 'Idle']);
    expect(clusterItem(cluster('east', {}, notReady), held, 0, []).problem).toBe('ConnectionFailed: refused');
  });
});

const NOTHING_QUEUED = { first: [], causes: [] };

describe('queues as a tree', () => {
  test('a queue tells its quota by flavor, and what of it is borrowed', () => {
    expect(queueNode(queue('gpu', 'lab', '3', '1'), NOTHING_QUEUED)).toMatchObject({
      name: 'gpu',
      cohort: 'lab',
      waiting: 4,
      admitted: 1,
      health: 'Warning',
      quota: [{ flavor: 'spot', resource: 'cpu', used: '3', of: '2', share: 1.5, borrowed: '1', borrowedShare: 0.5 }],
    });
    const stopped = queue('old');
    expect(queueNode({ ...stopped, spec: { ...stopped.spec, stopPolicy: 'Hold' } }, NOTHING_QUEUED)).toMatchObject({
      health: 'Bad',
      problem: 'stopped (stopPolicy: Hold)',
    });
  });

  test('a cohort has what it gives and what all below it have, whether there is an object of it or not, and whatever circle it is in', () => {
    const nodes = cohortNodes(
      [cohort('lab', 'org'), cohort('a', 'b'), cohort('b', 'a')],
      [queue('gpu', 'lab', '3'), queue('cpu', 'lab', '1')],
    );
    expect(nodes.map(({ name, parent, quota }) => [name, parent, quota[0]?.used, quota[0]?.of])).toEqual([
      ['a', 'b', '0', '2'],
      ['b', 'a', '0', '2'],
      ['lab', 'org', '4', '5'],
      ['org', undefined, '4', '5'],
    ]);
  });
});

describe('the yard', () => {
  const listOf = <T extends KubeObject>(objects: readonly T[]): Lister<T> => {
    const cache = createObjectCache<T>();
    for (const object of objects) cache.set(object as Parameters<typeof cache.set>[0]);
    return cache;
  };
  const localQueue = (namespace: string, name: string, clusterQueue: string): LocalQueue =>
    ({ metadata: meta(name, namespace), spec: { clusterQueue } }) as unknown as LocalQueue;
  const index = createJobIndex(JOB_KIND);
  for (const [namespace, name] of [
    ['a', 'one'],
    ['b', 'two'],
  ] as const)
    index.handler.added?.(aHomeJob({ metadata: { namespace, name } }), false);
  const sources: OverviewSources = {
    index,
    workerClusters: listOf([cluster('east'), cluster('west')]),
    clusterQueues: listOf([queue('gpu', 'lab')]),
    localQueues: listOf([localQueue('a', 'main', 'gpu'), localQueue('b', 'main', 'gpu')]),
    cohorts: listOf<Cohort>([]),
  };
  const cohorts = cohortsOf(sources);
  const seenBy = (rights: Rights): string[] => overviewIds(sources, cohorts, rights).toSorted();
  const everything: Rights = { namespaces: 'All', queues: 'All', clusters: 'All' };
  const tenant: Rights = { namespaces: new Set(['a']), queues: new Set(), clusters: new Set(['west']) };

  test('has everything for who may see everything', () => {
    expect(seenBy(everything)).toEqual(['cluster/east', 'cluster/west', 'cohort/lab', 'ended', 'queue/gpu', 'totals']);
    expect(overviewItem(sources, cohorts, 'queue/gpu', everything)).toMatchObject({ first: [{ key: 'a/one' }, { key: 'b/two' }] });
    expect(overviewItem(sources, cohorts, 'totals', everything)).toEqual({ kind: 'Totals', states: { Waiting: 2 }, namespaces: 2 });
    expect(overviewItem(sources, cohorts, 'local/a/main', everything)).toBeUndefined();
  });

  test('has for a tenant his Jobs, his LocalQueue in place of the queue, and the clusters that he may get', () => {
    expect(seenBy(tenant)).toEqual(['cluster/west', 'ended', 'local/a/main', 'totals']);
    expect(overviewItem(sources, cohorts, 'local/a/main', tenant)).toMatchObject({
      waiting: 1,
      first: [{ key: 'a/one' }],
      clusterQueue: 'gpu',
    });
    for (const id of ['cluster/east', 'queue/gpu', 'cohort/lab', 'local/b/main', 'nothing'])
      expect(overviewItem(sources, cohorts, id, tenant)).toBeUndefined();
    expect(overviewItem(sources, cohorts, 'totals', tenant)).toEqual({ kind: 'Totals', states: { Waiting: 1 }, namespaces: 1 });
    expect(overviewItem(sources, cohorts, 'ended', tenant)).toEqual({ kind: 'Ended', jobs: [] });
  });
});
