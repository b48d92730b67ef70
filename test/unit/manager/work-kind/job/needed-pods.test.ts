import { describe, expect, test } from 'vitest';
import { podsNeeded } from '../../../../../manager/work-kind/job/needed-pods.ts';
import type { JobSpec, JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const needed = (spec: Partial<JobSpec>, status: JobStatus = {}) => podsNeeded(aHomeJob({ spec, status }));
const many = { parallelism: 8, completions: 8 };
const indexed = { ...many, completionMode: 'Indexed' as const };

describe('a Job with completions needs pods for what is left of them', () => {
  test.each<[string, Partial<JobSpec>, JobStatus, number]>([
    ['all of them at first', many, {}, 8],
    ['all of them while more is left than fits beside one another', { parallelism: 8, completions: 100 }, { succeeded: 92, active: 8 }, 8],
    ['as many as are left', { parallelism: 8, completions: 100 }, { succeeded: 97, active: 3 }, 3],
    ['as many as there are completions at most', { parallelism: 8, completions: 3 }, { succeeded: 1, active: 2 }, 2],
    ['failures that are tried again free nothing', many, { failed: 5, active: 8 }, 8],
    ['a Job of one pod keeps it', { parallelism: 1, completions: 5 }, { succeeded: 5 }, 1],
    ['none, once all have succeeded and nothing is there', many, { succeeded: 8 }, 0],
  ])('%s', (_what, spec, status, pods) => {
    expect(needed(spec, status)).toBe(pods);
  });
});

test('a work queue needs all of its pods until it ends, whatever has succeeded: on another cluster it begins anew with them', () => {
  const workQueue = { parallelism: 8, completions: undefined as never };
  expect(needed(workQueue, { succeeded: 3, active: 5 })).toBe(8);
  expect(needed(workQueue, { succeeded: 8 })).toBe(8);
});

describe('an Indexed Job needs pods for the indexes that are left', () => {
  test.each<[string, JobStatus, number]>([
    ['those that are complete are over', { succeeded: 4, completedIndexes: '0-3', active: 4 }, 4],
    ['those that failed for good are over, too', { succeeded: 1, failed: 1, completedIndexes: '0', failedIndexes: '1', active: 6 }, 6],
    ['a failure that is tried again is not', { succeeded: 1, failed: 1, completedIndexes: '0', active: 7 }, 7],
    ['counters without lists prove nothing', { succeeded: 4, active: 4 }, 8],
    ['nor does a list that cannot be read', { succeeded: 4, completedIndexes: '3,0', active: 4 }, 8],
    ['nor indexes beyond the end', { succeeded: 4, completedIndexes: '8-20', active: 4 }, 8],
    ['one in both lists is over once', { succeeded: 2, failed: 1, completedIndexes: '0,1', failedIndexes: '1', active: 6 }, 6],
  ])('%s', (_what, status, pods) => {
    expect(needed(indexed, status)).toBe(pods);
  });
});

test('pods that are there are needed, whatever is said to be done, and those that stop are there', () => {
  expect(needed(many, { succeeded: 7, active: 8 })).toBe(8);
  expect(needed(many, { succeeded: 7, active: 1, terminating: 3 })).toBe(4);
  expect(needed(many, { succeeded: 7, active: 90 })).toBe(8);
});
