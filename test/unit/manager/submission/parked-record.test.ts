import { expect, test } from 'vitest';
import { isNamed, isParked } from '../../../../manager/submission/parked-record.ts';

const PARKED = { ref: { key: 'a', id: 'a', submittedAt: 1 }, job: { namespace: 'team', name: 'sum' }, uid: 'u', attempt: 1 };

test('a record that the manager writes is one, also without the count of attempts', () => {
  const { attempt: _attempt, ...earlier } = PARKED;
  expect([isParked(PARKED), isParked(earlier)]).toEqual([true, true]);
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
])('a Job %j makes it none', (job) => {
  expect([isNamed(job), isParked({ ...PARKED, job })]).toEqual([false, false]);
});

test.each([undefined, {}, { key: 7, id: 'a', submittedAt: 1 }, { key: 'a', id: 'a', submittedAt: '1' }])(
  'a submission %j makes it none',
  (ref) => {
    expect(isParked({ ...PARKED, ref })).toBe(false);
  },
);
