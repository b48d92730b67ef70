import { expect, test } from 'vitest';
import type { Effect, WhatIf } from '../../../../manager/insight/what-if/what-if.ts';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { VisibleNames } from '../../../../manager/dashboard/redact-explanation.ts';
import { redactWhatIf } from '../../../../manager/dashboard/redact-what-if.ts';
import type { ObjectEdit } from '../../../../manager/insight/questions/simulation-queries.ts';

const ALL: VisibleNames = { namespace: () => true, queue: () => true, cluster: () => true };
const queue = {
  metadata: { name: 'main', uid: 'u', resourceVersion: '1' },
  spec: {
    resourceGroups: [
      {
        coveredResources: ['cpu', 'memory'],
        flavors: [
          {
            name: 'spot',
            resources: [
              { name: 'memory', nominalQuota: '1Gi' },
              { name: 'cpu', nominalQuota: '4' },
            ],
          },
        ],
      },
    ],
  },
} as unknown as ClusterQueue;
const edits: readonly ObjectEdit[] = [
  { object: 'ClusterQueue', name: 'main', edit: { field: 'quota', flavor: 'spot', resource: 'cpu', amount: '8' } },
  { object: 'ClusterQueue', name: 'main', edit: { field: 'weight', weight: '2' } },
  { object: 'WorkerCluster', name: 'east', edit: { field: 'state', state: 'Draining' } },
];
const runs = (cluster: string, clusterQueue: string) => ({ kind: 'Admitted', cluster, clusterQueue, flavors: { cpu: 'spot' } }) as const;
const waits = (position: number, clusterQueue: string) => ({ kind: 'Waiting', clusterQueue, position }) as const;
const effects: readonly Effect[] = [
  { kind: 'Admitted', job: 'a/first', without: waits(0, 'main'), with: runs('east', 'main'), losses: [] },
  { kind: 'Evicted', job: 'b/borrower', without: runs('west', 'other'), with: waits(3, 'other'), losses: [] },
  { kind: 'Advanced', job: 'a/second', without: waits(1, 'main'), with: waits(0, 'main'), losses: [] },
];
const outcome: WhatIf = { effects, untouched: 7, settled: true };

test('what becomes of Jobs is counted by queue and told one by one, with the commands that do it', () => {
  expect(redactWhatIf(outcome, { queue, edits }, ALL)).toEqual({
    queues: [
      { name: 'main', effects: { Admitted: 1, Advanced: 1 } },
      { name: 'other', effects: { Evicted: 1 } },
    ],
    jobs: [
      { key: 'a/first', kind: 'Admitted', without: 'waits at place 1 of main', with: 'runs on east' },
      { key: 'b/borrower', kind: 'Evicted', without: 'runs on west', with: 'waits at place 4 of other' },
      { key: 'a/second', kind: 'Advanced', without: 'waits at place 2 of main', with: 'waits at place 1 of main' },
    ],
    more: 0,
    isSettled: true,
    commands: [
      `kubectl patch clusterqueue main --type=json -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/1/nominalQuota","value":"8"},{"op":"add","path":"/spec/fairSharing","value":{"weight":"2"}}]'`,
      'switchyard clusters drain east',
    ],
  });
});

test('a tenant is told of his Jobs and his queue alone, and of no cluster that he may not see', () => {
  const seen: VisibleNames = { namespace: (name) => name === 'a', queue: (name) => name === 'main', cluster: () => false };
  const view = redactWhatIf(outcome, { queue, edits: edits.slice(0, 1) }, seen);
  expect(view.queues).toEqual([{ name: 'main', effects: { Admitted: 1, Advanced: 1 } }]);
  expect(view.jobs.map(({ key, with: standing }) => [key, standing])).toEqual([
    ['a/first', 'runs'],
    ['a/second', 'waits at place 1 of main'],
  ]);
  expect(JSON.stringify(view)).not.toMatch(/east|west|other|borrower/);
});

test('of very many the first hundred are told, and how many more there are', () => {
  const many = Array.from({ length: 250 }, (_, number): Effect => ({ ...effects[0]!, job: `a/${number}` }));
  const view = redactWhatIf({ ...outcome, effects: many }, { queue, edits }, ALL);
  expect([view.jobs.length, view.more, view.queues[0]?.effects]).toEqual([100, 150, { Admitted: 250 }]);
});
