import { expect, test } from 'vitest';
import { codeOf, isFinal } from '../../../../manager/submission/final-answer.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';

const answer = (code: number, reason: string, message = 'no'): ApiError =>
  new ApiError(code, { kind: 'Status', status: 'Failure', code, reason, message });

test('an answer is final when the server has looked at the object and would say no again', () => {
  expect([answer(403, 'Forbidden'), answer(422, 'Invalid'), answer(404, 'NotFound')].map(isFinal)).toEqual([true, true, true]);
  expect(
    [answer(401, 'Unauthorized'), answer(429, 'TooManyRequests'), answer(500, 'InternalError'), new Error('lost')].map(isFinal),
  ).toEqual([false, false, false, false]);
  expect(isFinal(answer(403, 'Forbidden', 'configmaps "a" is forbidden: exceeded quota: few'))).toBe(false);
  expect([403, 422].map((code) => codeOf(answer(code, 'x')))).toEqual(['Forbidden', 'Invalid']);
});
