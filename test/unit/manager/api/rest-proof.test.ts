import { expect, test } from 'vitest';
import { fencedOffMessage, isProvenAtRest, isProvenNowhere, nowhereMessage } from '../../../../manager/api/rest-proof.ts';
import { aCondition, aHomeJob, aRecord, restingAfter } from '../../../support/jobs.ts';

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

test('that nothing of a Job without a record runs anywhere is proven for this generation of it, and for no other', () => {
  const told = aCondition('Dispatched', { status: 'False', reason: 'AtRest', message: nowhereMessage(3) });
  const of = (generation: number) => aHomeJob({ metadata: { generation }, status: { conditions: [told] } });
  expect(isProvenNowhere(of(3))).toBe(true);
  expect(isProvenNowhere(of(4))).toBe(false);
  expect(isProvenNowhere(aHomeJob({ status: { conditions: [restingAfter(RECORD)] } }))).toBe(false);
});

test('a Job that is fenced off on a lost cluster rests, for the admission that is named and no other', () => {
  const told = (record = aRecord()) => ({
    conditions: [aCondition('Dispatched', { status: 'False', reason: 'FencedOff', message: fencedOffMessage(record) })],
  });
  expect(isProvenAtRest(told(), aRecord())).toBe(true);
  expect(isProvenAtRest(told(aRecord({ since: '2026-01-01T00:00:01Z' })), aRecord())).toBe(false);
  expect(isProvenAtRest(told(aRecord({ cluster: 'us-2' })), aRecord())).toBe(false);
});
