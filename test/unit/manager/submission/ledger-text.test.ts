import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../../../manager/submission/ledger.ts';
import { formatEntry, isLater, parseEntry } from '../../../../manager/submission/ledger-text.ts';

const BASE = { payload: 'p', attempt: 2, atSeconds: 7, submittedAt: 1_000, attemptsMade: 1, job: { namespace: 'team', name: 'sum' } };
const COMPLETED = {
  kind: 'Completed',
  result: { namespace: 'team', name: 'sum', uid: 'u', succeeded: 3, failed: 0, cluster: 'east', completedIndexes: '0-2' },
} as const;
const FAILED = { kind: 'Failed', failure: { reason: 'JobDeleted', message: 'it is gone' } } as const;
const ENTRIES: readonly LedgerEntry[] = [
  { ...BASE, state: 'Refused' },
  { ...BASE, state: 'Intended' },
  { ...BASE, state: 'Created', uid: 'u' },
  { ...BASE, state: 'Ended', uid: 'u', outcome: COMPLETED },
  { ...BASE, state: 'Ended', uid: 'u', outcome: FAILED },
];

test.each(ENTRIES)('an entry that is $state is read as it was written', (entry) => {
  expect(parseEntry(formatEntry(entry))).toEqual(entry);
});

test('an entry takes little room', () => {
  expect(formatEntry({ ...BASE, state: 'Created', uid: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' }).length).toBeLessThan(90);
});

test.each([
  '',
  'no JSON',
  '{}',
  '[]',
  '["p",1,1,1,1,"ns","n","X"]',
  '["p",1,1,1,1,"ns","n","C"]',
  '["p",1.5,1,1,1,"ns","n","I"]',
  '["p",1,1,1,1,"ns","n","E","u",["R"]]',
  '["p",1,1,1,1,null,"n","I"]',
])('%j is no entry', (text) => {
  expect(parseEntry(text)).toBeUndefined();
});

test.each([{ attempt: NaN }, { atSeconds: 0.5 }, { submittedAt: Infinity }, { attemptsMade: 1e300 }])(
  'an entry with %j is not written',
  (part) => {
    expect(() => formatEntry({ ...BASE, ...part, state: 'Intended' })).toThrow(RangeError);
  },
);

test('of two the later one is of the later attempt, or has come further, or has changed since', () => {
  const [refused, intended, created, ended] = ENTRIES.map(formatEntry) as [string, string, string, string];
  expect([isLater(intended, refused), isLater(created, intended), isLater(ended, created)]).toEqual([true, true, true]);
  expect([isLater(created, ended), isLater(created, created)]).toEqual([false, false]);
  expect(isLater(formatEntry({ ...BASE, attempt: 3, state: 'Intended' }), ended)).toBe(true);
  expect(isLater(formatEntry({ ...BASE, atSeconds: 8, state: 'Created', uid: 'u' }), created)).toBe(true);
  expect([isLater('nonsense', created), isLater(created, 'nonsense')]).toEqual([false, true]);
});

test('the result of an object of another kind names it as its API server does', () => {
  const job = { namespace: 'team', name: 'crews.example.com:argo' };
  const outcome = { ...COMPLETED, result: { ...COMPLETED.result, kind: 'Crew', name: 'argo' } };
  const entry: LedgerEntry = { ...BASE, job, state: 'Ended', uid: 'u', outcome };
  expect(parseEntry(formatEntry(entry))).toEqual(entry);
});
