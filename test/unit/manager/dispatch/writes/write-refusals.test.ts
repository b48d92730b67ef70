import { expect, test } from 'vitest';
import { DispatchRefused, isAnswer, jobOfOther, problemOf } from '../../../../../manager/dispatch/writes/write-refusals.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';

const answer = (code: number, message: string): ApiError => new ApiError(code, { message });

test.each([
  ['a refusal of ours', new DispatchRefused(jobOfOther('eu-1')), 'NameTaken', true],
  ['a right that is missing', answer(403, 'no'), 'Refused', true],
  ['a field that the cluster does not know', answer(400, 'strict decoding error: unknown field "spec.new"'), 'FieldsUnknown', true],
  ['a token that ended', answer(401, 'who are you'), undefined, true],
  ['another version', answer(409, 'changed'), undefined, true],
  ['a busy server', answer(429, 'later'), undefined, true],
  ['a server that timed out', answer(408, 'too slow'), undefined, false],
  ['a server that failed', answer(500, 'oh'), undefined, false],
  ['a connection that was cut', new Error('cut'), undefined, false],
])('%s: whether it is a refusal, and whether an answer', (_, error, reason, answers) => {
  expect(problemOf('eu-1', error)?.reason).toBe(reason);
  expect(isAnswer(error)).toBe(answers);
});
