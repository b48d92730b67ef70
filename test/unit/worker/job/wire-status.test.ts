import { expect, test } from 'vitest';
import type { JobStatus } from '../../../../shared/api/kubernetes.ts';
import { wireStatus } from '../../../../worker/job/wire-status.ts';
import { ago, condition } from './situation.ts';

test('what is zero or empty is left out, except the uncounted pods and what may be null', () => {
  const status: JobStatus = {
    active: 0,
    succeeded: 0,
    failed: 0,
    ready: 0,
    terminating: 0,
    completedIndexes: '',
    failedIndexes: '',
    conditions: [],
    uncountedTerminatedPods: { succeeded: [], failed: [] },
  };
  expect(wireStatus(status)).toEqual({ ready: 0, terminating: 0, failedIndexes: '', uncountedTerminatedPods: {} });
  expect(wireStatus({})).toEqual({ uncountedTerminatedPods: {} });
});

test('everything else stays as it is', () => {
  const status: JobStatus = {
    active: 1,
    succeeded: 2,
    failed: 3,
    ready: 1,
    terminating: 1,
    startTime: ago(10),
    completedIndexes: '0-1',
    failedIndexes: '2',
    conditions: [condition('Suspended', 'JobSuspended', '')],
    uncountedTerminatedPods: { succeeded: ['a'], failed: ['b', 'c'] },
  };
  expect(wireStatus(status)).toEqual(status);
});

test('a list of uncounted pods alone is told without the other', () => {
  expect(wireStatus({ uncountedTerminatedPods: { failed: ['a'] } }).uncountedTerminatedPods).toEqual({ failed: ['a'] });
  expect(wireStatus({ uncountedTerminatedPods: { succeeded: ['a'], failed: [] } }).uncountedTerminatedPods).toEqual({ succeeded: ['a'] });
});

test('lists are copies: what comes from a cache is never handed on to be changed', () => {
  const status: JobStatus = { conditions: [condition('Complete', 'x', '')], uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } };
  const wire = wireStatus(status);
  for (const each of wire.conditions ?? []) each.reason = 'changed';
  wire.uncountedTerminatedPods?.succeeded?.push('c');
  wire.uncountedTerminatedPods?.failed?.push('c');
  expect(status).toEqual({ conditions: [condition('Complete', 'x', '')], uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } });
});
