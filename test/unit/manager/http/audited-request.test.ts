import { expect, test } from 'vitest';
import { entryOfAnswer, entryOfError, type AuditedRequest } from '../../../../manager/http/audited-request.ts';
import { RequestRefused } from '../../../../manager/http/route.ts';

const request: AuditedRequest = {
  audited: { what: 'submit', on: ({ namespace = '' }) => ({ kind: 'Submission', namespace }), lines: 'All' },
  parameters: { namespace: 'team' },
  user: { username: 'ann' },
  from: { door: 'http', address: '10.0.0.1' },
};

test('an answer is done, with the name that only the answer has, unless it says otherwise', () => {
  const done = { user: request.user, what: 'submit', from: request.from, outcome: 'Done', on: { kind: 'Submission', namespace: 'team' } };
  expect(entryOfAnswer(request, { kind: 'Json', status: 200, body: {} })).toEqual(done);
  expect(entryOfAnswer(request, { kind: 'Json', status: 201, body: {}, audited: { name: 'batch/key' } })).toEqual({
    ...done,
    on: { ...done.on, name: 'batch/key' },
  });
  const audited = { outcome: 'Missing', reason: 'it has ended' } as const;
  expect(entryOfAnswer(request, { kind: 'Json', status: 200, body: {}, audited })).toEqual({ ...done, ...audited });
});

test('a route that notes by itself what it does has no line for its answer, and one for what is refused before', () => {
  const own: AuditedRequest = { ...request, audited: { ...request.audited, lines: 'Refusals' } };
  expect(entryOfAnswer(own, { kind: 'Json', status: 200, body: {} })).toBeUndefined();
  expect(entryOfError(own, new RequestRefused(401, 'Unauthorized', 'send a token'))).toMatchObject({ outcome: 'Refused' });
});

test.each([
  [401, 'Refused'],
  [403, 'Refused'],
  [404, 'Missing'],
  [422, 'Refused'],
  [500, 'Failed'],
  [503, 'Failed'],
])('a request that is refused with %d is %s, with the reason that the caller hears', (status, outcome) => {
  const entry = entryOfError(request, new RequestRefused(status, 'Why', 'because'));
  expect([entry.outcome, entry.reason]).toEqual([outcome, `${status} Why: because`]);
});

test('an error that the caller does not hear is not told here either', () => {
  const entry = entryOfError(request, new Error('Redis at 10.0.0.9 is away'));
  expect(entry.outcome).toBe('Failed');
  expect(entry.reason).not.toContain('10.0.0.9');
});
