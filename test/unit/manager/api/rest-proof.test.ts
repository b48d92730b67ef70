import { expect, test } from 'vitest';
import { isProvenAtRest } from '../../../../manager/api/rest-proof.ts';
import { aCondition, aRecord, restingAfter } from '../../../support/jobs.ts';

const RECORD = aRecord({ cluster: 'eu-1', epoch: 2, since: '2026-01-01T00:00:05Z' });

test.each([
  ['dispatch has said so of this admission', [restingAfter(RECORD)], true],
  [
    'the cluster has refused this placement for good',
    [aCondition('Dispatched', { status: 'False', reason: 'NameTaken', message: 'placement 2: taken' })],
    true,
  ],
  ['dispatch said so of an earlier admission of the same placement', [restingAfter({ ...RECORD, since: '2026-01-01T00:00:04Z' })], false],
  [
    'the cluster had refused an earlier placement',
    [aCondition('Dispatched', { status: 'False', reason: 'NameTaken', message: 'placement 1: taken' })],
    false,
  ],
  ['the Job was suspended before it was admitted', [aCondition('Suspended')], false],
  ['nobody has said anything', [], false],
])('that nothing runs is %s: proven or not', (_situation, conditions, proven) => {
  expect(isProvenAtRest({ conditions }, RECORD)).toBe(proven);
});
