import { expect, test } from 'vitest';
import { isPreempted, preemptedBy, preemptedMessage } from '../../../../manager/api/preempted.ts';

const preempted = { by: 'team-a/train', clusterQueue: 'research', rule: 'InClusterQueue' };

test('is told with the other Job, its queue and the rule', () => {
  expect(preemptedMessage(preempted)).toBe(
    'preempted by Job team-a/train of cluster queue research (InClusterQueue: it goes first in the same cluster queue)',
  );
  expect(preemptedMessage({ ...preempted, by: 'team-a/crews.example.com:argo', rule: 'Another' })).toBe(
    'preempted by crews.example.com team-a/argo of cluster queue research (Another)',
  );
  expect(preemptedMessage({ ...preempted, rule: 'Another' })).toBe('preempted by Job team-a/train of cluster queue research (Another)');
});

test('is told by name in its own namespace, and by UID in any other', () => {
  const by = { key: 'team/train', uid: '4f1c', clusterQueue: 'research' };
  expect(preemptedBy(by, 'InClusterQueue', 'team')).toEqual({ by: 'team/train', clusterQueue: 'research', rule: 'InClusterQueue' });
  const elsewhere = preemptedBy(by, 'InClusterQueue', 'tea');
  expect(isPreempted(elsewhere)).toBe(true);
  expect(preemptedMessage(elsewhere)).toBe(
    'preempted by a Job of another namespace (UID 4f1c) of cluster queue research (InClusterQueue: it goes first in the same cluster queue)',
  );
});

test.each<[unknown, boolean]>([
  [preempted, true],
  [{ ...preempted, rule: '' }, false],
  [{ by: 'a/b', clusterQueue: 'c' }, false],
  [{ ...preempted, by: 3 }, false],
  ['team-a/train', false],
])('%j is one: %s', (value, isOne) => {
  expect(isPreempted(value)).toBe(isOne);
});
