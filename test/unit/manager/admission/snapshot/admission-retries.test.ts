import { expect, test } from 'vitest';
import { createAdmissionRetries, retryDelayMs } from '../../../../../manager/admission/snapshot/admission-retries.ts';

const why = (message: string) => ({ reason: 'AdmissionRefused', message }) as const;

test('the delay doubles from half a second to a minute', () => {
  expect([1, 2, 3, 7, 8, 9, 2_000].map(retryDelayMs)).toEqual([500, 1_000, 2_000, 32_000, 60_000, 60_000, 60_000]);
});

test('a Job that failed waits for its retry with the last reason, and may be tried once that is due', () => {
  const retries = createAdmissionRetries();
  expect([retries.nextMs(), retries.takeDue(0), retries.failuresOf('a'), retries.reasonToWait('a')]).toEqual([
    undefined,
    undefined,
    0,
    undefined,
  ]);
  expect(retries.failed('a', 0, why('first'))).toBe(1);
  expect(retries.failed('a', 100, why('second'))).toBe(2);
  expect([retries.nextMs(), retries.failuresOf('a'), retries.reasonToWait('a')]).toEqual([1_100, 2, why('second')]);
  expect(retries.takeDue(1_099)).toBeUndefined();
  expect(retries.takeDue(1_100)).toBe('a');
  expect([retries.takeDue(1_100), retries.reasonToWait('a'), retries.failuresOf('a')]).toEqual([undefined, undefined, 2]);
});

test('retries are due in the order of their times', () => {
  const retries = createAdmissionRetries();
  retries.failed('late', 0, why('x'));
  retries.failed('late', 0, why('x'));
  retries.failed('early', 0, why('x'));
  expect([retries.takeDue(5_000), retries.takeDue(5_000), retries.takeDue(5_000)]).toEqual(['early', 'late', undefined]);
});

test('a retry for which there is no slot is postponed a little, and that is no failure', () => {
  const retries = createAdmissionRetries();
  for (let failures = 0; failures < 4; failures++) retries.failed('a', 0, why('x'));
  expect(retries.takeDue(4_000)).toBe('a');
  retries.postpone('a', 4_000);
  expect([retries.nextMs(), retries.failuresOf('a'), retries.reasonToWait('a')]).toEqual([4_500, 4, why('x')]);
});

test('an admission that was stored begins anew', () => {
  const retries = createAdmissionRetries();
  retries.failed('a', 0, why('x'));
  retries.forget('a');
  expect([retries.nextMs(), retries.failuresOf('a'), retries.reasonToWait('a')]).toEqual([undefined, 0, undefined]);
  expect(retries.failed('a', 0, why('x'))).toBe(1);
});
