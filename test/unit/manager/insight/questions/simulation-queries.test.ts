import { expect, test } from 'vitest';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { answering } from '../../../../../manager/insight/questions/simulation-queries.ts';
import { meta } from '../../../../bench/admission-core.ts';
import { aJobOf, theWorld } from '../../world-of-jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

test('an explanation and the order of a queue are told of the same world', () => {
  const answer = answering(JOB_KIND, theWorld([aJobOf('late', 2), aJobOf('early', 1), aJobOf('urgent', 3, 10)]), {}, 0);
  expect(answer({ kind: 'Order', clusterQueue: 'main' })).toEqual({
    kind: 'Ordered',
    waiting: 3,
    first: [
      { key: 'team/urgent', priority: 10 },
      { key: 'team/early', priority: 0 },
      { key: 'team/late', priority: 0 },
    ],
  });
  expect(answer({ kind: 'Order', clusterQueue: 'other' })).toEqual({ kind: 'Ordered', waiting: 0, first: [] });
  expect(answer({ kind: 'Explain', uid: 'uid-late' })).toMatchObject({
    kind: 'Explained',
    explanation: { kind: 'Waiting', job: 'team/late', position: 2 },
  });
  expect(answer({ kind: 'Explain', uid: 'nobody' })).toEqual({ kind: 'Nothing' });
});

test('what would become of Jobs with another quota is told, and of a queue that is not there nothing', () => {
  const east = {
    metadata: { ...meta('east'), generation: 1 },
    spec: { kubeconfigSecretRef: { namespace: 'switchyard', name: 'east' }, capacity: { cpu: '4' } },
    status: { conditions: [isTrue('Ready')] },
  } as unknown as WorkerCluster;
  const world = { ...theWorld([aJobOf('early', 1), aJobOf('late', 2)]), workerClusters: [east] };
  const answer = answering(JOB_KIND, world, {}, 0);
  const wish = (name: string, amount: string) =>
    answer({
      kind: 'WhatIf',
      submitted: [],
      edits: [{ object: 'ClusterQueue', name, edit: { field: 'quota', flavor: 'default', resource: 'cpu', amount } }],
    });
  expect(wish('other', '1')).toEqual({ kind: 'Nothing' });
  expect(wish('main', '1')).toMatchObject({
    kind: 'Compared',
    outcome: {
      effects: [
        { kind: 'Admitted', job: 'team/early', with: { kind: 'Admitted', cluster: 'east' } },
        { kind: 'Advanced', job: 'team/late', with: { kind: 'Waiting', position: 0 } },
      ],
      settled: true,
    },
  });
  // Nothing of it is kept: the next question is asked of the world as it is.
  expect(answer({ kind: 'Order', clusterQueue: 'main' })).toMatchObject({ waiting: 2 });
});

const isTrue = (type: string) => ({ type, status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' });
