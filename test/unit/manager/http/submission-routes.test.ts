import { expect, test } from 'vitest';
import {
  SubmissionProblem,
  type SubmissionPayload,
  type SubmissionState,
  type SubmissionPort,
} from '../../../../manager/api/submission-port.ts';
import { matchRoute } from '../../../../manager/http/match-route.ts';
import { RequestRefused, type ApiAnswer, type ServerEvent } from '../../../../manager/http/route.ts';
import { submissionRoutes } from '../../../../manager/http/submission-routes.ts';

const view: SubmissionState = { key: 'k', submittedAt: '2026-01-01T00:00:00.000Z', state: 'Accepted' };
const ended: SubmissionState = { ...view, state: 'Failed', failure: { code: 'Cancelled', message: 'by somebody' } };

function aDoor(parts: Partial<SubmissionPort> = {}): SubmissionPort & { readonly submitted: SubmissionPayload[] } {
  const submitted: SubmissionPayload[] = [];
  return {
    submitted,
    submit: async (payload, key = 'made') => {
      submitted.push(payload);
      return { key, isNew: true };
    },
    look: async () => view,
    cancel: async () => ({ cancelled: true, state: 'delayed' }),
    async *follow() {
      yield view;
      yield ended;
    },
    ...parts,
  };
}

async function ask(
  door: SubmissionPort | undefined,
  method: string,
  rest: string,
  body?: unknown,
  lastEventId?: string,
  traceparent = '',
): Promise<ApiAnswer> {
  const match = matchRoute(
    submissionRoutes(() => door),
    method,
    `/apis/submissions/v1/namespaces/team/queues/batch/submissions${rest}`,
  );
  if (match.kind !== 'Route') throw new Error(match.kind);
  const { route, parameters } = match;
  const caller = { authorization: undefined, address: undefined, header: () => undefined };
  return route.handle({
    parameters,
    query: new URLSearchParams(),
    body,
    lastEventId,
    traceparent,
    caller,
    countFor: () => undefined,
    signal: new AbortController().signal,
  });
}
const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  const error = await asked.then(
    () => undefined,
    (problem: unknown) => problem,
  );
  return error instanceof RequestRefused ? `${error.status} ${error.reason}: ${error.message}` : String(error);
};
const eventsOf = async (answer: ApiAnswer): Promise<Exclude<ServerEvent, { frame: Uint8Array }>[]> => {
  if (answer.kind !== 'Events') throw new Error(answer.kind);
  const events: Exclude<ServerEvent, { frame: Uint8Array }>[] = [];
  for await (const event of answer.events) if (!('frame' in event)) events.push(event);
  return events;
};

test('the trace of a request is that of its submission, and what is no traceparent is left out', async () => {
  const door = aDoor();
  const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await ask(door, 'POST', '/k', { spec: {} }, undefined, given);
  await ask(door, 'POST', '/k', { spec: {} }, undefined, `${given}, ${given}`);
  expect(door.submitted).toEqual([{ manifest: { spec: {} }, traceparent: given }, { manifest: { spec: {} } }]);
});

test('a manifest alone is a payload, too, and options are handed on', async () => {
  const door = aDoor();
  expect(await ask(door, 'POST', '', { spec: {} })).toMatchObject({ status: 201, body: { key: 'made' } });
  await ask(door, 'POST', '/a%2Fb', { manifest: { spec: {} }, options: { priority: 2, delayMs: 1000, retry: true, name: 'x' } });
  await ask(door, 'POST', '/c', { manifest: { spec: {} }, options: { retry: false }, attachments: [] });
  const attachments = [{ name: 'settings', data: { a: '1' } }];
  await ask(door, 'POST', '/d', { manifest: { spec: {} }, attachments });
  expect(door.submitted).toEqual([
    { manifest: { spec: {} } },
    { manifest: { spec: {} }, priority: 2, delayMs: 1000, retry: true, name: 'x' },
    { manifest: { spec: {} } },
    { manifest: { spec: {} }, attachments },
  ]);
});

test.each([
  ['text', 'the body is no JSON object'],
  [null, 'the body is no JSON object'],
  [{ manifest: [] }, 'manifest: is no object'],
  [{ manifest: {}, options: 1 }, 'options: is no object'],
  [{ manifest: {}, attachments: {} }, 'attachments: is no list'],
  [{ manifest: {}, attachments: [{ name: 'a', data: { x: 1 } }] }, 'attachments[0].data[x]: is no text'],
  [{ manifest: {}, key: 'x' }, 'key: is unknown'],
  [{ manifest: {}, options: { prio: 1 } }, 'options.prio: is unknown'],
  [{ manifest: {}, options: { name: 1 } }, 'options.name: is no text'],
  [{ manifest: {}, options: { retry: 'yes' } }, 'options.retry: write true or false'],
  [{ manifest: {}, options: { priority: -1 } }, 'options.priority: is no whole number'],
  [{ manifest: {}, options: { delayMs: 1.5 } }, 'options.delayMs: is no whole number'],
])('%j is refused by its field', async (body, message) => {
  expect(await refusalOf(ask(aDoor(), 'POST', '', body))).toContain(`422 Invalid: ${message}`);
});

test('what the queue says is told in the words of HTTP', async () => {
  const failing = (code: SubmissionProblem['code']) =>
    aDoor({
      submit: async () => {
        throw new SubmissionProblem(code, 'why');
      },
    });
  expect(await refusalOf(ask(failing('Conflict'), 'POST', '/k', { spec: {} }))).toBe('409 Conflict: why');
  expect(await refusalOf(ask(failing('Invalid'), 'POST', '/k', { spec: {} }))).toBe('422 Invalid: why');
  expect(await refusalOf(ask(undefined, 'GET', '/k'))).toContain('404 NotFound: SubmissionQueue team/batch does not exist');
  const empty = aDoor({ look: async () => undefined, cancel: async () => ({ cancelled: false, state: 'unknown' }) });
  for (const [method, rest] of [
    ['GET', '/k'],
    ['GET', '/k/events'],
    ['DELETE', '/k'],
  ] as const)
    expect(await refusalOf(ask(empty, method, rest))).toContain('404 NotFound: the queue does not know a submission "k"');
  const slow = aDoor({
    cancel: async () => {
      throw new SubmissionProblem('TimedOut', 'no manager');
    },
  });
  expect(await ask(slow, 'DELETE', '/k')).toMatchObject({ status: 202, body: { cancelled: false } });
  const broken = aDoor({
    submit: async () => {
      throw new Error('Redis');
    },
  });
  expect(await refusalOf(ask(broken, 'POST', '', { spec: {} }))).toBe('Error: Redis');
});

test('who comes back is not told again what he has seen', async () => {
  const [first, last] = await eventsOf(await ask(aDoor(), 'GET', '/k/events'));
  expect([first?.event, last?.event]).toEqual(['progress', 'ended']);
  expect(await eventsOf(await ask(aDoor(), 'GET', '/k/events', undefined, first?.id))).toEqual([last]);
});
