import { describe, expect, test } from 'vitest';
import {
  hasOption,
  deliveryProblem,
  NOT_DELAYED,
  NOT_THERE,
  parkedMs,
  priorityOf,
  endedAttempt,
  unlessGone,
} from '../../../../manager/submission/bullmq-job.ts';

const PREFIX = 'switchyard';
const fine = { timestamp: 1_700_000_000_000, attemptsMade: 0 };

describe('a submission is refused for', () => {
  test.each([
    ['a time of nothing', { ...fine, timestamp: Number.NaN }, 'timestamp: is NaN, and must be a whole number'],
    ['half an attempt', { ...fine, attemptsMade: 0.5 }, 'attemptsMade: is 0.5, and must be a whole number'],
    ['fewer attempts than none', { ...fine, attemptsMade: -1 }, 'attemptsMade: is -1, and must be a whole number'],
    [
      'a parent elsewhere',
      { ...fine, parentKey: 'other:flow:7' },
      'the parent of the submission is other:flow:7, which is not under the prefix switchyard',
    ],
    [
      'a parent elsewhere that only its other field names',
      { ...fine, parentKey: `${PREFIX}:flow:7`, parent: { id: '7', queueKey: 'switchyard-2:flow' } },
      'the parent of the submission is switchyard-2:flow:7, which is not under the prefix switchyard',
    ],
  ])('%s', (_, job, problem) => {
    expect(deliveryProblem(job, PREFIX)).toContain(problem);
  });
});

test('a submission is not refused for a parent under its own prefix, or for none', () => {
  const parent = { id: '7', queueKey: `${PREFIX}:flow` };
  expect(deliveryProblem(fine, PREFIX)).toBeUndefined();
  expect(deliveryProblem({ ...fine, parentKey: `${PREFIX}:flow:7`, parent }, PREFIX)).toBeUndefined();
});

test('a long name of a parent is not repeated in full', () => {
  expect(deliveryProblem({ ...fine, parentKey: 'x'.repeat(10_000) }, PREFIX)?.length).toBeLessThan(500);
});

test.each([
  [undefined, 0],
  [0, 0],
  [7, 7],
  [-7, 0],
  [1.5, 0],
  [Number.POSITIVE_INFINITY, 0],
])('the priority %s counts as %i', (priority, expected) => {
  expect(priorityOf({ opts: priority === undefined ? {} : { priority } })).toBe(expected);
});

test.each([
  [{ options: { retry: true } }, true],
  [{ options: { retry: 'true' } }, false],
  [{ options: null }, false],
  [null, false],
  ['retry', false],
  [{}, false],
])('the data %j asks for another attempt: %s', (data, expected) => {
  expect(hasOption(data, 'retry')).toBe(expected);
});

test('an attempt that BullMQ has ended counts as taken only for the same submission, and a later attempt', () => {
  const job = { namespace: 'team', name: 'a' };
  const parked = { ref: { key: 'k', id: '1', submittedAt: 5 }, job, attempt: 3, attemptsMade: 1, uid: 'u' };
  const taken = { attempt: 3, submittedAt: 5, attemptsMade: 1 };
  expect(endedAttempt(parked, { submittedAt: 5, attemptsMade: 2 })).toEqual(taken);
  expect(endedAttempt(parked, { submittedAt: 5, attemptsMade: 1 })).toBeUndefined();
  expect(endedAttempt(parked, { submittedAt: 6, attemptsMade: 2 })).toBeUndefined();
  expect(endedAttempt(undefined, { submittedAt: 5, attemptsMade: 2 })).toBeUndefined();
});

test('submissions are parked for six to eight hours, the same each time, and different keys for different times', () => {
  const hours = Array.from({ length: 200 }, (_, index) => parkedMs(`key-${index}`) / 3_600_000);
  expect(Math.min(...hours)).toBeGreaterThanOrEqual(6);
  expect(Math.max(...hours)).toBeLessThan(8);
  expect(new Set(hours).size).toBeGreaterThan(190);
  expect(parkedMs('key-1')).toBe(parkedMs('key-1'));
});

test('work on a BullMQ job that is gone comes to nothing, and other failures are thrown', async () => {
  const failing = (code: number) => async (): Promise<void> => {
    throw Object.assign(new Error('script'), { code });
  };
  expect(await unlessGone(async () => undefined)).toBe(true);
  expect(await unlessGone(failing(NOT_THERE))).toBe(false);
  await expect(unlessGone(failing(NOT_DELAYED))).rejects.toThrow('script');
});
