import { describe, expect, test } from 'vitest';
import { putInQueue, queueEntry, whyHeld } from '../../../../../manager/admission/queues/queue-entry.ts';
import { NO_PRIORITY_CLASSES } from '../../../../../manager/admission/workload/priority.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aCluster, aClusterQueue, aWorkload, objects } from '../setup.ts';

const meta = { name: 'main', namespace: 'team', uid: 'main', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const queueing = buildQueueingSetup(
  objects({
    clusterQueues: [aClusterQueue('batch', { default: '9' }, { admissionChecksStrategy: { admissionChecks: [{ name: 'budget' }] } })],
    localQueues: [{ metadata: meta, spec: { clusterQueue: 'batch' } }],
  }),
);
const context = { queueing, priorityClasses: NO_PRIORITY_CLASSES };
const entryOf = (parts: Partial<Workload> = {}, more: object = {}) =>
  queueEntry(aWorkload('one', { cpu: '2' }, parts), 7, { ...context, ...more });

describe('a Workload that waits', () => {
  test('is in the ClusterQueue of its LocalQueue, in its place, with what it still needs', () => {
    expect(entryOf()).toMatchObject({
      clusterQueue: 'batch',
      strict: false,
      queued: { priority: 0, arrival: 7, workload: { name: 'one' } },
    });
    const pods = {
      requests: parseRequests({ cpu: '8', pods: '4' }),
      podsNeeded: 1,
    };
    const entry = entryOf(pods);
    expect('queued' in entry && entry.queued.workload.requests.get('cpu')).toBe(2000);
  });

  test.each<[string, Partial<Workload>, object, string]>([
    ['it is held', { hold: true }, {}, 'Held'],
    ['it has no time left', { maxExecutionSeconds: 0 }, {}, 'MaximumExecutionTimeExceeded'],
    [
      'something else is known to keep it out',
      {},
      { keptOut: () => ({ reason: 'NamespaceUnaccounted', message: 'somebody' }) },
      'NamespaceUnaccounted',
    ],
    ['there is no such queue', { queue: 'other' }, {}, 'LocalQueueNotFound'],
    [
      'a check has rejected it',
      { checks: new Map([['budget', { status: 'False', reason: 'Rejected', message: 'spent', sinceMs: 0 }]]) },
      {},
      'AdmissionCheckRejected',
    ],
  ])('is in none where %s', (_, parts, more, reason) => {
    expect(entryOf(parts, more)).toMatchObject({ reason });
  });

  test('that came with a record which does not count is told of both', () => {
    const untrusted = { reason: 'Forged', problem: 'its record is not of the manager' } as const;
    expect(entryOf({ queue: undefined, untrusted })).toMatchObject({
      message: expect.stringMatching(/names no local queue.*; its record is not of the manager$/),
    });
  });

  test('is held before anything else is asked', () => {
    expect(whyHeld(aWorkload('one', {}, { hold: true }))?.message).toContain('kubectl annotate job -n team one');
    expect(whyHeld(aWorkload('one'))).toBeUndefined();
  });
});

test('those that ask for the same are set apart by the clusters of their namespaces, and by what clusters have done to their like', () => {
  const added: unknown[] = [];
  const clusters = () => [
    aCluster('east', { servedNamespaces: ['team'] }),
    aCluster('west', { servedNamespaces: ['other'] }),
    aCluster('all'),
  ];
  const entry = entryOf();
  if ('reason' in entry) expect.fail();
  for (const knows of [false, true])
    putInQueue({ add: (...given) => void added.push(given[3]) }, { clusters, shapes: { knows: () => knows } }, entry);
  expect(added).toEqual([['east'], ['east', entry.queued.workload.shape]]);
});
