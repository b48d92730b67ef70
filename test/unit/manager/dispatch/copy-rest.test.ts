import { expect, test } from 'vitest';
import { isAtRest } from '../../../../manager/dispatch/copy-rest.ts';
import { aCondition, aHomeJob, type JobParts } from '../../../support/jobs.ts';

const SUSPENDED = [aCondition('Suspended')];
const rests = (suspend: boolean, status: JobParts['status']): boolean =>
  isAtRest(aHomeJob({ spec: { suspend }, ...(status === undefined ? {} : { status }) }));

test.each([
  ['that has ended rests', false, { conditions: [aCondition('Complete')] }, true],
  ['that is suspended, and says so, rests', true, { active: 0, terminating: 0, conditions: SUSPENDED }, true],
  ['whose pods are stopping does not', true, { terminating: 1, conditions: SUSPENDED }, false],
  ['with a pod that is active does not', true, { active: 1, conditions: SUSPENDED }, false],
  ['that is to be suspended and has not said so does not', true, {}, false],
  ['that is resumed and has not said so does not', false, { conditions: SUSPENDED }, false],
  ['with a verdict whose pods are still stopping does not', false, { terminating: 1, conditions: [aCondition('FailureTarget')] }, false],
])('a copy %s', (_situation, suspend, status, expected) => {
  expect(rests(suspend, status)).toBe(expected);
});
