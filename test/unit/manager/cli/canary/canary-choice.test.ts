import { expect, test } from 'vitest';
import { canaryTable, secondsOf } from '../../../../../manager/cli/canary/canary-table.ts';
import { chooseClusters } from '../../../../../manager/cli/canary/choice.ts';
import { formatTable } from '../../../../../manager/cli/text-table.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';

const ready = (status: 'True' | 'False'): NonNullable<WorkerCluster['status']> => ({
  conditions: [{ type: 'Ready', status, reason: 'ConnectionFailed', message: 'no route', lastTransitionTime: '2026-01-01T00:00:00Z' }],
});
const cluster = (name: string, spec: object = {}, status?: WorkerCluster['status']): WorkerCluster =>
  ({
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec,
    ...(status && { status }),
  }) as unknown as WorkerCluster;
const all = [
  cluster('west', {}, ready('True')),
  cluster('east', {}, ready('True')),
  cluster('cordoned', { state: 'Cordoned' }, ready('True')),
  cluster('lost', {}, ready('False')),
  cluster('others', { servedNamespaces: ['ml'] }, ready('True')),
  cluster('new'),
];

test('canaries go where Jobs are placed, and it is said why not elsewhere', () => {
  expect(chooseClusters(all, [], 'team')).toEqual({
    chosen: ['east', 'west'],
    left: [
      { cluster: 'cordoned', why: 'its state is Cordoned' },
      { cluster: 'lost', why: 'it is not ready: ConnectionFailed: no route' },
      { cluster: 'new', why: 'it is not known to be ready' },
      { cluster: 'others', why: 'it takes no Jobs of namespace team' },
    ],
  });
  expect(chooseClusters(all, ['west', 'nobody', 'west'], 'team')).toEqual({
    chosen: ['west'],
    left: [{ cluster: 'nobody', why: 'there is no WorkerCluster of this name' }],
  });
});

test('the table has a line for each cluster, with what was not seen left blank', () => {
  const story = { submittedMs: 0, admittedMs: 200, dispatchedMs: 300, startedMs: 1_300, finishedMs: 2_000 };
  const table = canaryTable([
    { cluster: 'east', outcome: 'Complete', note: '', story },
    { cluster: 'west', outcome: 'TimedOut', note: 'ClusterError: no answer', story: undefined },
  ]);
  expect(formatTable(table, Number.POSITIVE_INFINITY)).toEqual([
    'CLUSTER  OUTCOME   QUEUED  SENT   STARTED  RAN    IN ALL',
    'east     Complete  200ms   100ms  1.0s     700ms  2.0s',
    'west     TimedOut  -       -      -        -      -  ClusterError: no answer',
  ]);
  expect(secondsOf(story)).toMatchObject({ queued: 0.2, finished: 2 });
  expect(secondsOf(undefined)).toEqual({});
});
