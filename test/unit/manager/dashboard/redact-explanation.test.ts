import { expect, test } from 'vitest';
import type { Waits } from '../../../../manager/insight/explain/explain.ts';
import { HIDDEN_JOB, redactExplanation } from '../../../../manager/dashboard/redact-explanation.ts';

const waits: Waits = {
  kind: 'Waiting',
  job: 'mine/sum',
  clusterQueue: 'gpu',
  priority: 0,
  position: 2,
  waiting: 3,
  ahead: ['mine/first', 'theirs/secret'],
  cohort: { cohort: 'lab', position: 1, waiting: 4, ahead: [{ job: 'theirs/secret', clusterQueue: 'hidden' }] },
  asks: { cpu: '2' },
  outcome: 'Waits',
  flavors: [{ flavor: 'spot', resource: 'cpu', asked: '2', nominal: '4', free: '0', holders: [{ job: 'theirs/secret', amount: '4' }] }],
  clusters: [
    {
      cluster: 'east',
      room: [{ resource: 'cpu', asked: '2', capacity: '4', free: '0', holders: [{ job: 'theirs/secret', amount: '4' }] }],
    },
    { cluster: 'secret-cluster', problem: 'cordoned', room: [] },
  ],
  reservation: { cluster: 'secret-cluster', expectedStart: '2026-03-01T10:42:10Z' },
  changes: [
    { kind: 'FewerPods', pods: 1 },
    { kind: 'MoreQuota', clusterQueue: 'gpu', flavor: 'spot', by: { cpu: '2' } },
    { kind: 'MoreQuota', clusterQueue: 'hidden', flavor: 'spot', by: { cpu: '2' } },
    { kind: 'ClusterOpens', cluster: 'secret-cluster' },
    { kind: 'MoreRoom', cluster: 'east', by: { cpu: '2' } },
    { kind: 'JobsEnd', jobs: ['theirs/secret', 'mine/first'] },
  ],
};

test('a tenant is told why his Job waits without a name of what he may not see', () => {
  const told = redactExplanation(waits, {
    namespace: (name) => name === 'mine',
    queue: (name) => name === 'gpu',
    cluster: (name) => name === 'east',
  });
  expect(JSON.stringify(told)).not.toMatch(/secret|hidden/);
  expect(told).toMatchObject({
    position: 2,
    waiting: 3,
    ahead: ['mine/first', HIDDEN_JOB],
    flavors: [{ free: '0', holders: [{ job: HIDDEN_JOB, amount: '4' }] }],
    clusters: [{ cluster: 'east' }],
  });
  expect('changes' in told ? told.changes.map(({ kind }) => kind) : []).toEqual(['FewerPods', 'MoreQuota', 'MoreRoom', 'JobsEnd']);
});

test('who may see everything is told everything', () => {
  const all = () => true;
  expect(redactExplanation(waits, { namespace: all, queue: all, cluster: all })).toEqual(waits);
});
