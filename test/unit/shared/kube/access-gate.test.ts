import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { RawClient } from '../../../../shared/kube/client.ts';
import { createMetricsGate } from '../../../../shared/kube/access-gate.ts';
import type { MetricsGate } from '../../../../shared/runtime/http-server.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

type Answers = { valid: Set<string>; mayRead: Set<string>; failure: Error | undefined; silent: boolean };

let clock: FakeClock;
let server: Answers;
let asked: { kind: string; spec: Record<string, unknown> }[];
let gate: MetricsGate;
beforeEach(() => {
  clock = new FakeClock();
  server = { valid: new Set(['good', 'poor']), mayRead: new Set(['user of good']), failure: undefined, silent: false };
  asked = [];
  const raw: RawClient['raw'] = async ({ path, body, signal }) => {
    const review = body as (typeof asked)[number];
    asked.push(review);
    if (server.failure !== undefined) throw server.failure;
    if (server.silent) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    const { token, user } = review.spec as { token?: string; user?: string };
    if (path !== '/apis/authentication.k8s.io/v1/tokenreviews')
      return JSON.stringify({ status: { allowed: server.mayRead.has(user ?? '') } });
    if (!server.valid.has(token ?? '')) return JSON.stringify({ status: { error: 'invalid' } });
    const known = { username: `user of ${token}`, uid: '7', groups: ['g'], extra: { a: ['b'] } };
    return JSON.stringify({ status: { authenticated: true, user: known } });
  };
  gate = createMetricsGate({ client: { raw }, clock, log: silentLogger });
});

const bearer = async (token: string): Promise<number> => (await gate(`Bearer ${token}`))?.status ?? 200;

test('who is known and may get /metrics is let in', async () => {
  expect(await gate('bearer good')).toBeUndefined();
  expect(asked).toMatchObject([
    { kind: 'TokenReview', spec: { token: 'good' } },
    {
      kind: 'SubjectAccessReview',
      spec: {
        user: 'user of good',
        uid: '7',
        groups: ['g'],
        extra: { a: ['b'] },
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      },
    },
  ]);
});

test('others are told what they lack', async () => {
  expect(await gate('Bearer bad')).toEqual({ status: 401, why: 'the bearer token is not valid in this cluster' });
  expect(await gate('Bearer poor')).toEqual({
    status: 403,
    why: 'the user of the bearer token may not get the path /metrics: grant nonResourceURLs [/metrics], verbs [get]',
  });
});

test('without a bearer token nothing is asked', async () => {
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic Z29vZA==', 'good', 'Bearer a b', 'Bearer a, Bearer b']) {
    expect(await gate(header), header).toMatchObject({ status: 401 });
  }
  expect(asked).toEqual([]);
});

describe('answers', () => {
  test('are kept: a minute for who is let in, ten seconds for who is not', async () => {
    for (let i = 0; i < 5; i++) expect([await bearer('good'), await bearer('poor'), await bearer('bad')]).toEqual([200, 403, 401]);
    expect(asked).toHaveLength(5);
    server.mayRead = new Set(['user of poor']);
    await clock.advance(10_000);
    expect([await bearer('good'), await bearer('poor')]).toEqual([200, 200]);
    await clock.advance(50_000);
    expect([await bearer('good'), await bearer('poor')]).toEqual([403, 200]);
  });

  test('are given to all who ask the same at once', async () => {
    expect(await Promise.all(Array.from({ length: 50 }, () => bearer('good')))).toEqual(Array.from({ length: 50 }, () => 200));
    expect(asked).toHaveLength(2);
  });
});

describe('when the API server', () => {
  test('refuses to answer, nobody is let in, and the next request asks again', async () => {
    server.failure = new ApiError(403, { reason: 'Forbidden', message: 'tokenreviews is forbidden: secret details' });
    expect(await gate('Bearer good')).toEqual({ status: 503, why: 'cannot find out who asks: the API server answered 403 Forbidden' });
    server.failure = undefined;
    expect(await bearer('good')).toBe(200);
  });

  test('is silent, that is known after five seconds', async () => {
    server.silent = true;
    const answer = gate('Bearer good');
    await clock.advance(5_000);
    expect(await answer).toEqual({ status: 503, why: 'cannot find out who asks: the API server did not answer' });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('stops answering, who is let in stays so until the answer is a minute old', async () => {
    expect(await bearer('good')).toBe(200);
    server.failure = new Error('gone');
    await clock.advance(59_999);
    expect(await bearer('good')).toBe(200);
    await clock.advance(1);
    expect(await bearer('good')).toBe(503);
  });
});

describe('a crowd of strangers', () => {
  test('is asked about ten times a second, and no more than 32 wait', async () => {
    const answers = Array.from({ length: 100 }, (_, i) => bearer(`stranger-${i}`));
    await clock.settle();
    expect(asked).toHaveLength(20);
    await clock.advance(1_000);
    expect(asked).toHaveLength(30);
    await clock.advance(5_000);
    const statuses = await Promise.all(answers);
    expect(statuses.filter((status) => status === 401)).toHaveLength(32);
    expect(statuses.filter((status) => status === 503)).toHaveLength(68);
  });

  test('does not keep those waiting who were let in before', async () => {
    expect(await bearer('good')).toBe(200);
    await clock.advance(60_000);
    server.silent = true;
    const crowd = Array.from({ length: 100 }, (_, i) => bearer(`stranger-${i}`));
    await clock.settle();
    server.silent = false;
    expect(await bearer('good')).toBe(200);
    await clock.advance(5_000);
    await Promise.all(crowd);
  });

  test('does not push out who asks now and then', async () => {
    expect(await bearer('good')).toBe(200);
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 300; i++) {
        const answer = bearer(`stranger-${round}-${i}`);
        await clock.advance(100);
        await answer;
      }
      await bearer('good');
    }
    expect(asked.filter(({ spec }) => spec['token'] === 'good').length).toBeLessThanOrEqual(3);
  });
});
