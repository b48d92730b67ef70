import { describe, expect, test } from 'vitest';
import { parseRequests, UNLIMITED } from '../../../../../manager/api/amount.ts';
import { capacityOf, clusterStateOf, isRecordedOn, placesOf } from '../../../../../manager/admission/quota/cluster-state.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { aRecord } from '../../../../support/jobs.ts';

const time = '2026-01-01T00:00:00Z';
type Parts = Partial<Pick<WorkerCluster, 'spec' | 'status'>> & { readonly metadata?: Partial<WorkerCluster['metadata']> };

const aWorkerCluster = ({ spec = { local: true }, status, metadata = {} }: Parts): WorkerCluster => ({
  metadata: { name: 'eu-1', uid: 'u', resourceVersion: '1', creationTimestamp: time, ...metadata },
  spec,
  ...omitUndefined({ status }),
});
const ready = (status: 'True' | 'False' | 'Unknown', reason = 'Probed', message = '') => [
  { type: 'Ready', status, reason, message, lastTransitionTime: time },
];
const closed = (parts: Parts): string | undefined => clusterStateOf(aWorkerCluster(parts)).closed;

describe('a cluster takes new Jobs', () => {
  test('when it is ready, and not before anyone has looked', () => {
    expect(closed({ status: { conditions: ready('True') } })).toBeUndefined();
    expect(closed({})).toBe('not ready yet');
    expect(closed({ status: { conditions: [] } })).toBe('not ready yet');
  });

  test.each<[string, Parts]>([
    ['not ready (ProbeFailed)', { status: { conditions: ready('False', 'ProbeFailed') } }],
    ['not ready (Stale)', { status: { conditions: ready('Unknown', 'Stale') } }],
    [`lost since ${time}`, { status: { conditions: ready('True'), lostSince: time } }],
    ['not ready (NotAble: the webhook is down)', { status: { conditions: ready('False', 'NotAble', 'the webhook is down') } }],
    [
      `lost since ${time} (ClusterChanged: it is another one)`,
      { status: { conditions: ready('False', 'ClusterChanged', 'it is another one'), lostSince: time } },
    ],
    // In words that would differ from one try to the next.
    [`lost since ${time} (ConnectionFailed)`, { status: { conditions: ready('False', 'ConnectionFailed', 'reset'), lostSince: time } }],
    [`not ready (Long: ${'x'.repeat(199)}…)`, { status: { conditions: ready('False', 'Long', 'x'.repeat(500)) } }],
    ['draining', { spec: { state: 'Draining' }, status: { conditions: ready('True'), lostSince: time } }],
    ['cordoned', { spec: { state: 'Cordoned' }, status: { conditions: ready('True') } }],
    ['being removed', { metadata: { deletionTimestamp: time }, spec: { state: 'Cordoned' } }],
  ])('never while it is %s', (reason, parts) => {
    expect(closed(parts)).toBe(reason);
  });
});

test('only Draining makes its Jobs leave', () => {
  const drains = (state: 'Active' | 'Cordoned' | 'Draining') => clusterStateOf(aWorkerCluster({ spec: { state } })).draining;
  expect([drains('Active'), drains('Cordoned'), drains('Draining')]).toEqual([false, false, true]);
});

test('labels are those of the object, none where it has none', () => {
  expect(clusterStateOf(aWorkerCluster({ metadata: { labels: { region: 'eu' } } })).labels).toEqual({ region: 'eu' });
  expect(clusterStateOf(aWorkerCluster({})).labels).toEqual({});
});

describe('capacity', () => {
  const capacities = (parts: Parts) => {
    const cluster = clusterStateOf(aWorkerCluster(parts));
    return ['cpu', 'memory', 'nvidia.com/gpu'].map((resource) => capacityOf(cluster, resource));
  };
  test('is what the nodes offer, and what they leave out is not there', () => {
    expect(capacities({ status: { allocatable: { cpu: '1500m', memory: '1Gi' } } })).toEqual([1500, 2 ** 30, 0]);
  });
  test('is what the administrator says, resource by resource', () => {
    expect(capacities({ spec: { capacity: { cpu: 1 } }, status: { allocatable: { cpu: '8', memory: '1Ki' } } })).toEqual([1000, 1024, 0]);
  });
  test('of a cluster that nobody has described is taken on trust', () => {
    expect(capacities({})).toEqual([UNLIMITED, UNLIMITED, UNLIMITED]);
    expect(capacities({ spec: { capacity: { cpu: '2' } } })).toEqual([2000, UNLIMITED, UNLIMITED]);
    expect(capacities({ status: { allocatable: {} } })).toEqual([0, 0, 0]);
  });
});

test('the places of a namespace are the clusters that are for it and not for all', () => {
  const state = (name: string, served?: string[]) =>
    clusterStateOf(aWorkerCluster({ metadata: { name }, spec: { local: true, ...omitUndefined({ servedNamespaces: served }) } }));
  const clusters = [state('open'), state('both', ['a', 'b']), state('only-a', ['a'])];
  expect(['a', 'b', 'c'].map((namespace) => placesOf(clusters, namespace))).toEqual([['both', 'only-a'], ['both'], []]);
});

test('a record tells of a cluster by its UID, and by its name where one of the two does not say it', () => {
  const on = (clusterUID?: string) => aRecord({ cluster: 'eu-1', ...omitUndefined({ clusterUID }) });
  expect(isRecordedOn(on('uid-eu'), { name: 'renamed', uid: 'uid-eu' })).toBe(true);
  expect(isRecordedOn(on('uid-eu'), { name: 'eu-1', uid: 'uid-us' })).toBe(false);
  expect(isRecordedOn(on(), { name: 'eu-1', uid: 'uid-us' })).toBe(true);
  expect(isRecordedOn(on('uid-eu'), { name: 'us-2', uid: undefined })).toBe(false);
});

test('the shapes of its nodes count, unless its capacity exceeds what these offer: then nodes are created on demand', () => {
  const nodeShapes = [{ count: 2, allocatable: { cpu: '4', pods: '110' } }];
  const shapes = (capacity?: Record<string, string>) =>
    clusterStateOf(
      aWorkerCluster({
        spec: { local: true, ...omitUndefined({ capacity }) },
        status: { conditions: ready('True'), allocatable: { cpu: '8', pods: '220' }, nodeShapes },
      }),
    ).nodeShapes;
  expect(shapes()).toEqual([{ count: 2, allocatable: parseRequests({ cpu: '4', pods: '110' }) }]);
  expect(shapes({ cpu: '6' })).toHaveLength(1);
  expect(shapes({ cpu: '9' })).toBeUndefined();
  expect(shapes({ 'nvidia.com/gpu': '1' })).toBeUndefined();
});
