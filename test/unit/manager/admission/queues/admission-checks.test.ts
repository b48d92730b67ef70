import { describe, expect, test } from 'vitest';
import { checkStep, pendingChecks, rejectedBy } from '../../../../../manager/admission/queues/admission-checks.ts';
import type { CheckState } from '../../../../../manager/api/check-states.ts';
import { aRecord } from '../../../../support/jobs.ts';

const SINCE = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const record = aRecord({ evicted: true, checks: ['budget', 'licence'] });
const said = (status: string, reason = '', atMs = 5_000, message = ''): CheckState => ({ status, reason, message, sinceMs: SINCE + atMs });
const step = (states: Record<string, CheckState>, timeoutMs = 0, atMs = MINUTE) =>
  checkStep(record, new Map(Object.entries(states)), timeoutMs, SINCE + atMs);

describe('a reservation', () => {
  test('is released when all of its checks have said yes since', () => {
    expect(step({ budget: said('True'), licence: said('True'), other: said('False') })).toEqual({ kind: 'Release' });
  });

  test('waits for those that have been asked, until its time is over', () => {
    const states = { budget: said('True'), licence: said('Unknown', 'Pending') };
    expect(step(states)).toEqual({ kind: 'Wait', dueMs: undefined });
    expect(step(states, 2 * MINUTE)).toEqual({ kind: 'Wait', dueMs: SINCE + 2 * MINUTE });
    expect(step(states, MINUTE)).toEqual({ kind: 'GiveUp', why: 'admission checks licence were not ready in time' });
  });

  test('asks those that have said nothing since, whatever they said before, also within the same second', () => {
    expect(step({})).toEqual({ kind: 'Ask', checks: ['budget', 'licence'] });
    expect(step({ budget: said('True', '', -5_000), licence: said('False', 'Rejected', 900) })).toEqual({
      kind: 'Ask',
      checks: ['budget', 'licence'],
    });
    expect(step({ budget: said('True', '', 1_000) })).toEqual({ kind: 'Ask', checks: ['licence'] });
  });

  test('ends when one of them says no, whatever the others say', () => {
    expect(step({ budget: said('True'), licence: said('False', 'Rejected', 5_000, 'none\nleft') })).toEqual({
      kind: 'GiveUp',
      why: 'admission check licence rejected it: none left',
    });
    expect(step({ licence: said('False', 'AnyOther') })).toMatchObject({
      kind: 'GiveUp',
      why: 'admission check licence wants another try',
    });
  });
});

test('a Job is kept out by a check of its queue that has rejected it, and by no other word', () => {
  const rules = [{ name: 'budget', onFlavors: [] }];
  const rejected = (states: Record<string, CheckState>) => rejectedBy({ checks: new Map(Object.entries(states)) }, rules);
  expect(rejected({ budget: said('False', 'Rejected', 0, 'no money') })).toEqual({
    reason: 'AdmissionCheckRejected',
    message: 'admission check budget rejected it: no money; it waits until that check says something else',
  });
  for (const states of [{}, { budget: said('False', 'Retry') }, { budget: said('True') }, { other: said('False', 'Rejected') }])
    expect(rejected(states)).toBeUndefined();
});

test('a Job says for which checks it waits', () => {
  expect(pendingChecks(record).message).toBe(
    'quota is reserved in cluster queue cq and room on cluster eu-1; waits for admission checks: budget, licence',
  );
});
