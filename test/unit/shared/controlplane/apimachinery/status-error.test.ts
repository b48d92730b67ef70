import { describe, expect, test } from 'vitest';
import { invalid as invalidField, required } from '../../../../../shared/controlplane/apimachinery/field-error.ts';
import {
  conflict,
  forbidden,
  internalError,
  invalid,
  notFound,
  timeout,
  tooManyRequests,
  unknownError,
} from '../../../../../shared/controlplane/apimachinery/status-error.ts';

const JOBS = { group: 'batch', resource: 'jobs' };
const JOB = { group: 'batch', kind: 'Job' };

describe('the sentence of a refusal', () => {
  test.each([
    [notFound(JOBS, 'a'), 404, 'jobs.batch "a" not found'],
    [notFound({ group: '', resource: 'pods' }, 'a'), 404, 'pods "a" not found'],
    [conflict(JOBS, 'a', 'why'), 409, 'Operation cannot be fulfilled on jobs.batch "a": why'],
    [forbidden(JOBS, 'a', 'why'), 403, 'jobs.batch "a" is forbidden: why'],
    [forbidden(JOBS, '', 'why'), 403, 'jobs.batch is forbidden: why'],
    [forbidden({ group: '', resource: '' }, '', 'why'), 403, 'forbidden: why'],
    [internalError('why'), 500, 'Internal error occurred: why'],
    [unknownError('why'), 500, 'why'],
    [timeout('why', 1), 504, 'Timeout: why'],
  ])('%#: %s', (error, code, message) => {
    expect(error).toMatchObject({ code, message });
  });
});

describe('an invalid object', () => {
  test('with one finding says it plainly', () => {
    expect(invalid(JOB, 'a', [required('spec')]).message).toBe('Job.batch "a" is invalid: spec: Required value');
  });

  test('with several says each once, and lists every cause', () => {
    const found = [required('spec'), required('spec'), invalidField('', 1, 'no')];
    const error = invalid(JOB, 'a', found);
    expect(error.message).toBe('Job.batch "a" is invalid: [spec: Required value, <nil>: Invalid value: 1: no]');
    expect(error.toStatus().details?.causes).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec' },
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec' },
      { reason: 'FieldValueInvalid', message: 'Invalid value: 1: no' },
    ]);
  });
});

test('a time to wait stands in the details; none is none', () => {
  expect(tooManyRequests('slow', 2).toStatus().details).toEqual({ retryAfterSeconds: 2 });
  expect(tooManyRequests('slow', 0).retryAfterSeconds).toBeUndefined();
});

test('the fields of the body come in the order in which Go writes them', () => {
  expect(Object.keys(notFound(JOBS, 'a').toStatus())).toEqual([
    'kind',
    'apiVersion',
    'metadata',
    'status',
    'message',
    'reason',
    'details',
    'code',
  ]);
});
