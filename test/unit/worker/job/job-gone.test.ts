import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { JobDeletingError, JobGoneError, tellsJobIsGone, tellsNamespaceIsGone } from '../../../../worker/job/job-gone.ts';

const notFound = new ApiError(404, { reason: 'NotFound', message: 'jobs.batch "j" not found' });
const conflict = (message: string) => new ApiError(409, { reason: 'Conflict', message });

describe('a refused write of a Job', () => {
  test.each<[string, unknown, boolean]>([
    ['that finds nothing', notFound, true],
    [
      'of another Job under its name',
      conflict(
        'Operation cannot be fulfilled on jobs.batch "j": StorageError: Precondition failed: UID in precondition: a, UID in object meta: b',
      ),
      true,
    ],
    ['of a version that is not the last', conflict('Operation cannot be fulfilled on jobs.batch "j": the object has been modified'), false],
    ['that is not allowed', new ApiError(403, { reason: 'Forbidden', message: 'Precondition failed: UID in precondition' }), false],
    ['that nobody answered', new Error('NotFound'), false],
    ['that is no error', undefined, false],
  ])('%s', (_what, error, gone) => {
    expect(tellsJobIsGone(error)).toBe(gone);
  });
});

test('a creation tells that there is no namespace by what caused it', () => {
  expect(tellsNamespaceIsGone(new Error('create pod', { cause: notFound }))).toBe(true);
  expect(tellsNamespaceIsGone(new Error('create pod', { cause: conflict('x') }))).toBe(false);
  expect(tellsNamespaceIsGone(new Error('create pod'))).toBe(false);
  expect(tellsNamespaceIsGone('NotFound')).toBe(false);
});

test('a Job that is gone and one that is going are told apart, and keep what told it', () => {
  const gone = new JobGoneError('j', { cause: notFound });
  expect([gone.name, gone.cause, gone instanceof JobDeletingError]).toEqual(['JobGoneError', notFound, false]);
  expect(new JobDeletingError('j').name).toBe('JobDeletingError');
});
