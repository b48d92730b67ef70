import { expect, test } from 'vitest';
import { FinalCode } from '../../../../shared/api/submission-codes.ts';
import {
  Cancelled,
  Conflict,
  errorOf,
  Failed,
  Forbidden,
  Invalid,
  Rejected,
  SubmissionError,
  TimedOut,
} from '../../../../shared/client/submission-errors.ts';

test('each code is an error of its own class, and says its key', () => {
  for (const Class of [Invalid, Forbidden, Conflict, Rejected, Cancelled, TimedOut]) {
    const error = errorOf('nightly', `${Class.name}: metadata.name: is missing`);
    expect(error).toBeInstanceOf(Class);
    expect(error).toBeInstanceOf(SubmissionError);
    expect(error).toMatchObject({ code: Class.name, name: Class.name, key: 'nightly', message: 'metadata.name: is missing' });
  }
});

test('every code of the manager has a class, but for that of a deleted Job, which is a Job that failed', () => {
  const codes = Object.values(FinalCode).map((code) => errorOf('k', `${code}: x`).code);
  expect(codes).toEqual(['Invalid', 'Forbidden', 'Conflict', 'Rejected', 'Cancelled', 'Failed', 'TimedOut']);
});

test('anything else is a Job that failed, with its reason', () => {
  const error = errorOf('k', 'BackoffLimitExceeded: three strikes\nand out');
  expect(error).toBeInstanceOf(Failed);
  expect(error).toMatchObject({ code: 'Failed', reason: 'BackoffLimitExceeded', message: 'BackoffLimitExceeded: three strikes\nand out' });
  expect(errorOf('k', 'job stalled')).toMatchObject({ code: 'Failed', reason: 'Failed', message: 'Failed: job stalled' });
  expect(errorOf('k', 'constructor: x')).toMatchObject({ code: 'Failed' });
});
