import { describe, expect, test } from 'vitest';
import {
  created,
  ended,
  entryOfParked,
  intendedEntry,
  judge,
  refused,
  type Delivery,
  type LedgerEntry,
} from '../../../../manager/submission/ledger.ts';
import type { Outcome } from '../../../../manager/submission/submission-queue.ts';

const JOB = { namespace: 'team', name: 'sum' };
const FAILED: Outcome = { kind: 'Failed', failure: { reason: 'BackoffLimitExceeded', message: 'too often' } };
const DONE: Outcome = { kind: 'Completed', result: { ...JOB, uid: 'u-1', succeeded: 1, failed: 0 } };
const delivery = (parts: Partial<Delivery> = {}): Delivery => ({ payload: 'p', submittedAt: 1_000, attemptsMade: 0, ...parts });
const intended = intendedEntry(delivery(), 1, JOB, 5_000);
const apply = (entry: LedgerEntry, ...transitions: ((entry: LedgerEntry) => LedgerEntry | undefined)[]): LedgerEntry =>
  transitions.reduce((before, transition) => transition(before) ?? before, entry);
const made = apply(intended, created(1, JOB, 'u-1', 6_000));
const endedWith = (outcome: Outcome): LedgerEntry => apply(made, ended({ uid: 'u-1' }, outcome, 7_000));
const mark = (attempt: number, submittedAt = 1_000) => ({ attempt, submittedAt, attemptsMade: 0 });

describe('a submission', () => {
  test.each<[string, LedgerEntry | undefined, Partial<Delivery>, object]>([
    ['that nobody knows is new', undefined, {}, { kind: 'New', attempt: 1 }],
    [
      'whose first outcome BullMQ has taken, and of which nothing else is known, is at its second attempt',
      undefined,
      { delivered: mark(1) },
      { kind: 'New', attempt: 2 },
    ],
    [
      'put there anew, of which only another’s outcome is known, is new',
      undefined,
      { delivered: mark(1, 900) },
      { kind: 'New', attempt: 1 },
    ],
    ['that is intended is made under the same name', intended, {}, { kind: 'Again', entry: intended }],
    ['that has its Job keeps it', made, {}, { kind: 'Created' }],
    ['that has ended is told so again', endedWith(FAILED), {}, { kind: 'Ended' }],
    ['put there anew after it has failed is told so again', endedWith(FAILED), { submittedAt: 2_000, attemptsMade: 1 }, { kind: 'Ended' }],
    ['that has failed and was delivered was retried', endedWith(FAILED), { delivered: mark(1) }, { kind: 'New', attempt: 2 }],
    [
      'that has failed and was retried is known by its attempts without a mark',
      endedWith(FAILED),
      { attemptsMade: 1 },
      { kind: 'New', attempt: 2 },
    ],
    ['that has completed is never run again', endedWith(DONE), { delivered: mark(1), attemptsMade: 1 }, { kind: 'Ended' }],
    ['of another payload is a conflict', made, { payload: 'q' }, { kind: 'Conflict' }],
    [
      'of another payload is a conflict also when it is a retry',
      endedWith(FAILED),
      { payload: 'q', attemptsMade: 1 },
      { kind: 'Conflict' },
    ],
    ['that became no Job may have another payload', apply(intended, refused(1, 6_000)), { payload: 'q' }, { kind: 'New', attempt: 1 }],
  ])('%s', (_name, entry, parts, judgment) => {
    expect(judge(entry, delivery(parts))).toMatchObject(judgment);
  });

  test('is not retried by a mark of the attempt before', () => {
    const second = apply({ ...intended, attempt: 2 }, created(2, JOB, 'u-2', 0), ended({ uid: 'u-2' }, FAILED, 0));
    expect(judge({ ...second, attemptsMade: 1 }, delivery({ delivered: mark(1), attemptsMade: 1 }))).toMatchObject({ kind: 'Ended' });
  });
});

describe('an entry', () => {
  test('goes forward alone: the first outcome stands, and what is of another attempt is nothing to it', () => {
    const over = endedWith(DONE);
    expect(ended({ uid: 'u-1' }, FAILED, 9_000)(over)).toBeUndefined();
    expect(created(1, JOB, 'u-2', 9_000)(over)).toBeUndefined();
    expect(created(2, JOB, 'u-2', 9_000)(intended)).toBeUndefined();
    expect(refused(1, 9_000)(made)).toBeUndefined();
    expect(ended({ uid: 'another' }, FAILED, 9_000)(made)).toBeUndefined();
    expect(ended({ uid: 'u-2', attempt: 2 }, FAILED, 9_000)(intended)).toBeUndefined();
    expect(ended({ uid: 'u-1' }, DONE, 9_000)(intended)).toMatchObject({ state: 'Ended', uid: 'u-1', atSeconds: 9 });
  });

  test('does not keep texts of any length', () => {
    const long = endedWith({ kind: 'Failed', failure: { reason: 'R', message: 'x'.repeat(10_000) } });
    expect(JSON.stringify(long).length).toBeLessThan(1_000);
    const result = { ...JOB, uid: 'u-1', succeeded: 1, failed: 0, completedIndexes: '1,3,'.repeat(1_000), failedIndexes: '2' };
    const indexed = endedWith({ kind: 'Completed', result });
    expect(indexed).toMatchObject({ outcome: { kind: 'Completed', result: { succeeded: 1, failedIndexes: '2' } } });
    expect(JSON.stringify(indexed)).not.toContain('completedIndexes');
  });
});

describe('what Redis knows of a parked submission', () => {
  const parked = { ref: { key: 'k', id: 'k', submittedAt: 1_000 }, job: JOB, uid: 'u-1', attempt: 1 };

  test('stands in for a ledger that does not', () => {
    expect(entryOfParked(undefined, delivery({ parked }), 0)).toMatchObject({ state: 'Created', uid: 'u-1', attempt: 1, job: JOB });
    expect(entryOfParked(intended, delivery({ parked }), 0)).toMatchObject({ state: 'Created', uid: 'u-1' });
  });

  test.each<[string, LedgerEntry | undefined, Partial<Delivery>]>([
    ['another submission', undefined, { parked: { ...parked, ref: { ...parked.ref, submittedAt: 900 } } }],
    ['an attempt whose outcome BullMQ has taken', undefined, { parked, delivered: mark(1) }],
    ['another payload', { ...intended, payload: 'q' }, { parked }],
    ['what the ledger knows better', endedWith(DONE), { parked }],
    ['nothing', undefined, {}],
  ])('says nothing where it is of %s', (_of, entry, parts) => {
    expect(entryOfParked(entry, delivery(parts), 0)).toBeUndefined();
  });
});
