import { expect, test } from 'vitest';
import type { RecordKeys } from '../../../../manager/api/record-seal.ts';
import { isSealedSubmission, sealSubmission } from '../../../../manager/submission/submission-seal.ts';
import { SHARED_TENANT, SUBMISSION_SEAL_ANNOTATION } from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const key = (letter: string): Uint8Array => Buffer.alloc(32, letter);
const KEYS: RecordKeys = { current: key('a'), others: [] };
const REF = { id: '7', submittedAt: 1_000, tenant: SHARED_TENANT, made: { payload: 'p', attempt: 1 } };
const seal = sealSubmission(KEYS, { namespace: 'team', name: 'sum' }, REF);
const aJob = (metadata: object = {}, text = seal) =>
  aHomeJob({ metadata: { annotations: { [SUBMISSION_SEAL_ANNOTATION]: text }, ...metadata } });

test('the Job that was made of a submission is known by its seal', () => {
  expect(isSealedSubmission(KEYS, aJob(), REF)).toBe(true);
  expect(isSealedSubmission({ current: key('b'), others: [key('a')] }, aJob(), REF)).toBe(true);
});

test('a seal is for one Job, one submission and one key', () => {
  expect(isSealedSubmission(KEYS, aJob({ name: 'other' }), REF)).toBe(false);
  expect(isSealedSubmission(KEYS, aJob({ namespace: 'other' }), REF)).toBe(false);
  expect(isSealedSubmission(KEYS, aJob(), { ...REF, id: '8' })).toBe(false);
  expect(isSealedSubmission(KEYS, aJob(), { ...REF, submittedAt: 1_001 })).toBe(false);
  expect(isSealedSubmission(KEYS, aJob(), { ...REF, tenant: 'another' })).toBe(false);
  expect(isSealedSubmission(KEYS, aJob(), { ...REF, made: { payload: 'p', attempt: 2 } })).toBe(false);
  expect(isSealedSubmission(KEYS, aJob(), { ...REF, made: { payload: 'q', attempt: 1 } })).toBe(false);
  expect(isSealedSubmission({ current: key('b'), others: [] }, aJob(), REF)).toBe(false);
});

test.each(['', 'x', seal.slice(1), `${seal}AAAA`])('%j is no seal', (text) => {
  expect(isSealedSubmission(KEYS, aJob({}, text), REF)).toBe(false);
});

test('a Job without a seal is of no submission', () => {
  expect(isSealedSubmission(KEYS, aHomeJob(), REF)).toBe(false);
});
