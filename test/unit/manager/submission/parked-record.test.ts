import { expect, test } from 'vitest';
import { isNamed, isParked } from '../../../../manager/submission/parked-record.ts';

const PARKED = { ref: { key: 'a', id: 'a', submittedAt: 1 }, job: { namespace: 'team', name: 'sum' }, uid: 'u', attempt: 1 };

test('a record that the manager writes is one', () => {
  expect(isParked(PARKED)).toBe(true);
});

test('a record of an object of another kind is one', () => {
  expect(isParked({ ...PARKED, job: { namespace: 'team', name: 'crews.example.com:argo' } })).toBe(true);
});

test.each([undefined, null, '1', 1.5])('an attempt %j makes it none', (attempt) => {
  expect(isParked({ ...PARKED, attempt })).toBe(false);
});

test.each([null, 7, ['u'], '', undefined, {}])('a UID %j makes it none', (uid) => {
  expect(isParked({ ...PARKED, uid })).toBe(false);
});

test.each([
  null,
  'team/sum',
  [],
  {},
  { namespace: 'team' },
  { namespace: 'team', name: '../../secrets/x' },
  { namespace: '', name: 'sum' },
  { namespace: 'team', name: '../x:sum' },
  { namespace: 'team', name: 'crews.example.com:' },
  { namespace: 'team', name: 'crews.example.com:a:b' },
  { namespace: 'crews.example.com:team', name: 'sum' },
])('a Job %j makes it none', (job) => {
  expect([isNamed(job), isParked({ ...PARKED, job })]).toEqual([false, false]);
});

test.each([undefined, {}, { key: 7, id: 'a', submittedAt: 1 }, { key: 'a', id: 'a', submittedAt: '1' }])(
  'a submission %j makes it none',
  (ref) => {
    expect(isParked({ ...PARKED, ref })).toBe(false);
  },
);
