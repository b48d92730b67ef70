import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import type { LocalQueue } from '../../../../manager/api/local-queue.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import { jobsOf, mayEdit, parseWhatIfRequest } from '../../../../manager/dashboard/what-if-request.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import type { Job, KubeObject } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache, type Lister } from '../../../../shared/kube/indexer.ts';

const listOf = <T extends KubeObject>(...objects: readonly object[]): Lister<T> => {
  const cache = createObjectCache<T>();
  for (const object of objects) cache.set(object as Parameters<typeof cache.set>[0]);
  return cache;
};
const named = (name: string, namespace = '', spec: object = {}) => ({
  metadata: { name, namespace, uid: name, resourceVersion: '1' },
  spec,
});
const sources = {
  clusterQueues: listOf<ClusterQueue>(named('mine'), named('theirs')),
  cohorts: listOf<Cohort>(named('lab')),
  localQueues: listOf<LocalQueue>(named('main', 'team', { clusterQueue: 'mine' }), named('main', 'other', { clusterQueue: 'theirs' })),
  workerClusters: listOf<WorkerCluster>(named('east')),
  jobs: listOf<Job>(named('train', 'team'), named('train', 'other')),
};
const TENANT: Rights = { namespaces: new Map([['team', 'u1']]), queues: new Set(), clusters: new Set() };
const NOBODY: Rights = { namespaces: new Map(), queues: new Set(), clusters: new Set() };

describe('a question of a body', () => {
  test('has edits of fields that the object has, and Jobs', () => {
    const quota = { object: 'ClusterQueue', name: 'mine', edit: { field: 'quota', flavor: 'default', resource: 'cpu', amount: '+8' } };
    const priority = { object: 'Job', namespace: 'team', name: 'train', edit: { field: 'priority', priority: '-5' } };
    expect(parseWhatIfRequest({ namespace: 'team', changes: [quota, priority, { manifest: { kind: 'Job' }, copies: 3 }] })).toEqual({
      edits: [quota, priority],
      submitted: [{ manifest: { kind: 'Job' }, copies: 3 }],
      namespace: 'team',
    });
  });

  test.each([
    [null, /^changes: write a list/],
    [{ changes: [] }, /^changes: write 1 to 64/],
    [{ changes: [7] }, /^changes\[0\]: write/],
    [{ changes: [{ object: 'ClusterQueue', name: 'mine', edit: { field: 'weight', weight: 'much' } }] }, /^changes\[0\]/],
    [{ changes: [{ object: 'ClusterQueue', name: 'mine', edit: { field: 'state', state: 'Draining' } }] }, /^changes\[0\]/],
    [
      { changes: [{ object: 'ClusterQueue', name: 'mine', namespace: 'x', edit: { field: 'stopPolicy', policy: 'Hold' } }] },
      /^changes\[0\]/,
    ],
    [{ changes: [{ object: 'Job', name: 'train', edit: { field: 'priority', priority: '1' } }] }, /^changes\[0\]/],
    [{ changes: [{ object: 'WorkerCluster', name: 'east', edit: { field: 'capacity', resource: 'cpu', amount: 'x' } }] }, /^changes\[0\]/],
    [{ changes: [{ manifest: {}, copies: 1.5 }] }, /^changes\[0\]/],
    [{ changes: [{ manifest: {}, copies: 1_001 }] }, /1001 Jobs are submitted; ask about 1000 at most/],
  ])('is refused as %j with the place', (body, words) => {
    const parsed = parseWhatIfRequest(body);
    expect('problem' in parsed && parsed.problem).toMatch(words);
  });
});

describe('a tenant asks about', () => {
  const edit = (object: 'ClusterQueue' | 'Cohort' | 'LocalQueue' | 'WorkerCluster' | 'Job', name: string, namespace?: string) => ({
    object,
    name,
    edit: { field: 'lost' as const },
    ...(namespace === undefined ? {} : { namespace }),
  });

  test('the queues of their LocalQueues, their Jobs, and clusters', () => {
    const asked = [
      edit('ClusterQueue', 'mine'),
      edit('LocalQueue', 'main', 'team'),
      edit('Job', 'train', 'team'),
      edit('WorkerCluster', 'east'),
    ];
    expect(asked.map((each) => mayEdit(sources, each, TENANT))).toEqual([true, true, true, true]);
    expect(asked.map((each) => mayEdit(sources, each, NOBODY))).toEqual([false, false, false, false]);
  });

  test('nothing else, whether it exists or not', () => {
    const hidden = [
      edit('ClusterQueue', 'theirs'),
      edit('Cohort', 'lab'),
      edit('LocalQueue', 'main', 'other'),
      edit('Job', 'train', 'other'),
    ];
    const absent = [
      edit('ClusterQueue', 'no'),
      edit('Cohort', 'no'),
      edit('LocalQueue', 'no', 'team'),
      edit('Job', 'no', 'team'),
      edit('WorkerCluster', 'no'),
    ];
    expect([...hidden, ...absent].some((each) => mayEdit(sources, each, TENANT))).toBe(false);
  });
});

describe('Jobs that are submitted', () => {
  const manifest = (metadata: object): object => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { labels: { 'switchyard.dev/queue-name': 'main' }, ...metadata },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });
  const asked = (metadata: object, copies = 1) =>
    jobsOf(
      JOB_KIND,
      { edits: [], submitted: [{ manifest: manifest(metadata), copies }], namespace: 'team' },
      (namespace) => namespace === 'team',
      sources.jobs,
      0,
    );

  test('get names that are free, and are the manager’s', () => {
    const { jobs = [] } = asked({ name: 'train' }, 2) as { jobs?: readonly Job[] };
    expect(jobs.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(['team/train-1', 'team/train-2']);
    expect(jobs[0]).toMatchObject({ metadata: { creationTimestamp: '1970-01-01T00:00:00Z' }, spec: { suspend: true } });
  });

  test('are refused in namespaces whose Jobs the user may not list, and where they are no Jobs', () => {
    expect(asked({ name: 'a', namespace: 'other' })).toEqual({ problem: 'metadata.namespace: you may not list Jobs in namespace other' });
    expect(asked({ name: 'a', labels: {} })).toMatchObject({ problem: expect.stringContaining('is missing') as string });
  });
});
