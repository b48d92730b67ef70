import { expect, test } from 'vitest';
import { isAtRest, isJudgedAtRest, isUnbegun } from '../../../../../../manager/work-kind/job/copy/copy-rest.ts';
import { omitUndefined } from '../../../../../../shared/runtime/omit-undefined.ts';
import { aCondition, aHomeJob, type JobParts } from '../../../../../support/jobs.ts';

const SUSPENDED = [aCondition('Suspended')];
const rests = (suspend: boolean, status: JobParts['status']): boolean =>
  isAtRest(aHomeJob({ spec: { suspend }, ...omitUndefined({ status }) }));

test.each([
  ['that has ended rests', false, { conditions: [aCondition('Complete')] }, true],
  ['that is suspended, and says so, rests', true, { active: 0, terminating: 0, conditions: SUSPENDED }, true],
  ['whose pods are stopping does not', true, { terminating: 1, conditions: SUSPENDED }, false],
  ['with a pod that is active does not', true, { active: 1, conditions: SUSPENDED }, false],
  ['that is to be suspended and has not said so does not', true, {}, false],
  ['that is resumed and has not said so does not', false, { conditions: SUSPENDED }, false],
  ['that came to its verdict while it was suspended rests', true, { active: 0, conditions: [aCondition('SuccessCriteriaMet')] }, true],
  ['with a verdict whose pods are still stopping does not', false, { terminating: 1, conditions: [aCondition('FailureTarget')] }, false],
])('a copy %s', (_situation, suspend, status, expected) => {
  expect(rests(suspend, status)).toBe(expected);
});

test('only a suspended copy that has counted all of its pods has come to an end that its cluster cannot write', () => {
  const judged = (suspend: boolean, status: JobParts['status']): boolean =>
    isJudgedAtRest(aHomeJob({ spec: { suspend }, ...omitUndefined({ status }) }));
  const conditions = [aCondition('FailureTarget')];
  expect(judged(true, { conditions })).toBe(true);
  expect(judged(true, { conditions, uncountedTerminatedPods: { failed: ['a'] } })).toBe(false);
  expect(judged(true, { conditions, terminating: 1 })).toBe(false);
  expect(judged(false, { conditions })).toBe(false);
  expect(judged(true, { conditions: SUSPENDED })).toBe(false);
});

test.each([
  ['says nothing of itself', undefined, true],
  ['was suspended before it ever started', { conditions: SUSPENDED }, true],
  ['has finished indexes of an earlier placement', { succeeded: 2, completedIndexes: '0,1' }, true],
  ['has started', { startTime: '2026-01-01T00:00:00Z' }, false],
  ['has an active pod', { active: 1 }, false],
  ['has a pod that is stopping', { terminating: 1 }, false],
  ['has come to its verdict', { conditions: [aCondition('FailureTarget')] }, false],
  ['has ended', { conditions: [aCondition('Complete')] }, false],
])('whether a copy was begun that %s', (_situation, status, expected) => {
  expect(isUnbegun(aHomeJob({ ...omitUndefined({ status }) }))).toBe(expected);
});
