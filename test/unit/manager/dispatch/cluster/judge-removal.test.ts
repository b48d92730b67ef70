import { expect, test } from 'vitest';
import { judgeRemoval } from '../../../../../manager/dispatch/cluster/judge-removal.ts';
import { withoutRemoval, withRemoval } from '../../../../../manager/dispatch/cluster/removal-status.ts';
import type { WorkerCluster, WorkerClusterStatus } from '../../../../../manager/api/worker-cluster.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const aCluster = (status: WorkerClusterStatus = {}, state: 'Active' | 'Lost' = 'Active'): WorkerCluster => ({
  metadata: { name: 'eu-1', uid: 'eu-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { local: true, state },
  status,
});

test('a WorkerCluster goes when no Job is recorded there, and nothing can be seen there', () => {
  expect(judgeRemoval(aCluster(), { jobs: [], copies: 0 })).toEqual({ kind: 'Goes' });
  expect(judgeRemoval(aCluster(), { jobs: [], copies: undefined })).toEqual({ kind: 'Goes' });
  expect(judgeRemoval(aCluster(), { jobs: [], copies: 2 })).toEqual({
    kind: 'Stays',
    reason: 'CopiesRemain',
    message: 'deleted; 2 copies there are being deleted',
  });
});

test('while the copies there are being listed for the first time, it stays', () => {
  expect(judgeRemoval(aCluster(), { jobs: [], copies: 'Unread' })).toMatchObject({ kind: 'Stays', reason: 'CopiesUnread' });
});

test('else it says how many Jobs remain, and which', () => {
  const told = (jobs: readonly string[]) => judgeRemoval(aCluster(), { jobs, copies: 0 });
  expect(told(['team/a'])).toEqual({
    kind: 'Stays',
    reason: 'JobsRemain',
    message:
      "deleted; it goes when no Job's record names it. 1 Job is left (team/a): the condition Dispatched of each says what it waits for",
  });
  expect(told(['team/d', 'team/c', 'team/b', 'team/a', 'team/e'])).toMatchObject({
    message: expect.stringContaining('5 Jobs are left (team/a, team/b, team/c and 2 more)'),
  });
});

test('one that is lost says how to give it up, unless that is done', () => {
  const told = (state: 'Active' | 'Lost') =>
    judgeRemoval(aCluster({ lostSince: '2026-01-01T00:00:00Z' }, state), { jobs: ['team/a'], copies: undefined });
  const remedy = `to give it up: kubectl patch workercluster eu-1 --type merge -p '{"spec":{"state":"Lost"}}'`;
  expect(told('Active')).toMatchObject({ message: expect.stringContaining(remedy) });
  expect(told('Lost')).toMatchObject({ message: expect.not.stringContaining('give it up') });
});

test('what it says stands beside what there is to say of the cluster, since when it was first said', () => {
  const ready = { type: 'Ready', status: 'True' as const, reason: 'Connected', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const stays = { kind: 'Stays', reason: 'JobsRemain', message: '1 Job is left' } as const;
  const first = withRemoval({ conditions: [ready] }, stays, undefined, 2, NOW);
  expect(first?.conditions).toEqual([
    ready,
    {
      type: 'Removing',
      status: 'True',
      reason: 'JobsRemain',
      message: '1 Job is left',
      lastTransitionTime: '2026-01-01T01:00:00Z',
      observedGeneration: 2,
    },
  ]);
  expect(withoutRemoval(first)).toEqual({ conditions: [ready] });
  expect(withRemoval({ conditions: [ready] }, stays, first, 2, NOW + 60_000)).toEqual(first);
  expect(withRemoval({ conditions: [ready] }, undefined, first, 2, NOW)).toEqual({ conditions: [ready] });
  expect(withoutRemoval(undefined)).toBeUndefined();
});
