/** Where a watch goes on after a refusal: from its place when the server is merely busy, from a new list when the place is lost. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { PODS } from '../../../../shared/api/resources.ts';
import { GENEROUS_LIMITS } from '../../../../shared/kube/answer-limits.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../../shared/kube/informer.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { createObjectBudget } from '../../../../shared/kube/object-budget.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { UnusableAnswer } from '../../../../shared/kube/unusable-answer.ts';
import { sleep } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { isQuestion, ScriptedApi } from './scripted-api.ts';

const clock = new FakeClock();
let api: ScriptedApi;
let informer: Informer<Pod>;
let stop: () => Promise<void>;
beforeEach(async () => {
  api = new ScriptedApi();
  const client = createKubeClient(api, { userAgent: 'test', clock });
  informer = createInformer<Pod>({ client, resource: PODS, clock, random: seededRandom(1), log: silentLogger });
  const controller = new AbortController();
  const running = informer.run(controller.signal);
  stop = async () => {
    controller.abort(new Error('stop'));
    await clock.settle();
    await running;
  };
  await clock.settle();
});
afterEach(() => stop());

const lists = (): number => api.requests.filter((request) => request.startsWith('GET') && !isQuestion(request)).length;
const status = (code: number, reason: string, parts: object = {}) => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason, ...parts }),
});
const names = (): string[] => informer.list().map(({ metadata }) => metadata.name);

test.each([
  ['has no time for it', status(429, 'TooManyRequests')],
  ['does not know us for a while', status(401, 'Unauthorized')],
  ['does not let us for a while', status(403, 'Forbidden')],
  ['is not well', status(500, 'InternalError')],
  ['is not ready', status(503, 'ServiceUnavailable')],
])('a watch that the server refuses because it %s is resumed, without a new list', async (_, refusal) => {
  api.failNext(refusal);
  api.cutWatches();
  await clock.settle();
  api.put('a');
  await clock.advance(60_000);
  expect(names()).toEqual(['a']);
  expect(lists()).toBe(1);
});

test.each([
  ['has forgotten its place', status(410, 'Expired')],
  ['cannot make sense of its place', status(400, 'BadRequest')],
  ['was restored from an older backup', status(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })],
])('a watch whose server %s begins with a new list', async (_, refusal) => {
  api.failNext(refusal);
  api.cutWatches();
  await clock.settle();
  api.put('a');
  await clock.advance(60_000);
  expect(names()).toEqual(['a']);
  expect(lists()).toBe(2);
});

test('one event is enough to believe in the server again: a watch that breaks after it is resumed soon', async () => {
  api.failNext(...Array.from({ length: 6 }, () => status(500, 'InternalError')));
  api.cutWatches(new Error('connection reset'));
  await clock.advance(120_000);
  expect(api.openWatches()).toBe(1);
  api.put('a');
  await clock.settle();
  api.cutWatches(new Error('connection reset'));
  await clock.advance(2_000);
  expect(api.openWatches()).toBe(1);
});

describe('a server whose answers cannot be used', () => {
  const faults: string[] = [];
  let untrusted: Informer<Pod>;
  let stopUntrusted: () => Promise<void>;
  const start = async (options: Partial<InformerOptions<Pod>> = {}, pageBytes = 1_000_000): Promise<void> => {
    faults.length = 0;
    const limits = { ...GENEROUS_LIMITS, pageBytes, eventLength: 5_000, answerMs: 30_000, json: { depth: 10, values: 20_000 } };
    const client = createKubeClient(boundedBodies(api), { userAgent: 'test', clock, limits });
    untrusted = createInformer<Pod>({
      client,
      resource: PODS,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      onFault: (source, fault) => faults.push(`${source} ${fault?.fault ?? 'none'}`),
      ...options,
    });
    const controller = new AbortController();
    const running = untrusted.run(controller.signal);
    stopUntrusted = async () => {
      controller.abort(new Error('stop'));
      await clock.settle();
      await running;
    };
    await clock.settle();
  };
  afterEach(() => stopUntrusted());
  const count = (): number => untrusted.list().length;
  const limitsAsked = (): (string | null)[] =>
    api.requests
      .filter((request) => request.startsWith('GET'))
      .slice(1)
      .map((request) => new URL(request.slice(4), 'http://a').searchParams.get('limit'));

  test('is asked for smaller pages where one is too large, and for larger ones again', async () => {
    for (let index = 0; index < 300; index++) api.put(`pod-${index}`);
    await start({}, 4_000);
    expect(count()).toBe(300);
    expect(limitsAsked().slice(0, 3)).toEqual(['500', '100', '20']);
    expect(limitsAsked()).toContain('100');
    expect(faults).toEqual([]);
  });

  test('is left alone for a while where even one object is too large, and believed again when it is not', async () => {
    api.put('large', { label: 'x'.repeat(5_000) });
    await start({}, 4_000);
    expect(faults).toEqual(['pods/ AnswerTooLarge']);
    const asked = lists();
    await clock.advance(14_000);
    expect(lists()).toBe(asked);
    api.remove('large');
    api.put('small');
    await clock.advance(60_000);
    expect(faults).toEqual(['pods/ AnswerTooLarge', 'pods/ none']);
    expect(count()).toBe(1);
  });

  test('that has one bad answer after the other is asked less and less', async () => {
    api.put('large', { label: 'x'.repeat(5_000) });
    await start({}, 4_000);
    await clock.advance(3_600_000);
    expect(faults.length).toBeLessThan(25);
    await clock.advance(3_600_000);
    expect(faults.length).toBeLessThan(45);
  });

  test.each([
    [
      'gives the same continue token again and again',
      () => ({ metadata: { resourceVersion: '1', continue: 'same' }, items: [] }),
      'NotKubernetes',
    ],
    [
      'gives the same continue token with new objects',
      (page: number) => ({ ...aPage(page, `pod-${page}`), metadata: { resourceVersion: '1', continue: 'same' } }),
      'NotKubernetes',
    ],
    ['lists the same objects page by page', (page: number) => aPage(page, 'pod'), 'NotKubernetes'],
    ['lists new objects page by page', (page: number) => aPage(page, `pod-${page}`), 'TooManyObjects'],
    [
      'has empty pages without end',
      (page: number) => ({ metadata: { resourceVersion: '1', continue: `c${page}` }, items: [] }),
      'NotKubernetes',
    ],
    ['answers with another document', () => ({ kind: 'Greeting' }), 'NotKubernetes'],
    ['lists what are no objects', () => ({ metadata: {}, items: [7] }), 'NotKubernetes'],
    ['answers with a deep document', () => ({ metadata: {}, items: JSON.parse('['.repeat(50) + ']'.repeat(50)) }), 'AnswerTooLarge'],
    ['answers with very many values', () => ({ metadata: {}, items: Array.from({ length: 30_000 }, () => 1) }), 'AnswerTooLarge'],
  ])('%s', async (_what, answer, fault) => {
    let page = 0;
    api.answerLists(() => JSON.stringify(answer(page++)));
    await start({ budget: createObjectBudget(100_000) });
    await clock.advance(5_000);
    expect(faults).toEqual([`pods/ ${fault}`]);
    expect(untrusted.hasSynced()).toBe(false);
  });

  test('does not answer in time', async () => {
    api.answerLists(() => new Promise(() => undefined));
    await start();
    await clock.advance(29_000);
    expect(faults).toEqual([]);
    await clock.advance(2_000);
    expect(faults).toEqual(['pods/ AnswerTooSlow']);
  });

  test('answers each page in time, and never the last', async () => {
    let page = 0;
    api.answerLists(async () => {
      await sleep(clock, 29_000);
      return JSON.stringify(aPage(page, `pod-${page++}`));
    });
    await start();
    await clock.advance(6 * 60_000);
    expect(faults).toEqual(['pods/ AnswerTooSlow']);
  });

  test('sends an event without an end, and another that is none', async () => {
    api.put('a');
    await start();
    expect(faults).toEqual([]);
    for (let piece = 0; piece < 6; piece++) api.sendRaw('x'.repeat(1_000));
    await clock.settle();
    expect(faults).toEqual(['pods/ AnswerTooLarge']);
    await clock.advance(60_000);
    api.sendRaw('{"type":"ADDED","object":{"metadata":{"name":"b"}}}\n');
    await clock.settle();
    expect(faults).toEqual(['pods/ AnswerTooLarge', 'pods/ none', 'pods/ NotKubernetes']);
    expect(count()).toBe(1);
  });

  test('has more objects than there is room for: what was kept is let go, and taken again when they fit', async () => {
    await start({ budget: createObjectBudget(20_000) });
    for (let index = 0; index < 10; index++) api.put(`pod-${index}`);
    await clock.settle();
    expect(count()).toBe(10);
    for (let index = 10; index < 100; index++) api.put(`pod-${index}`);
    await clock.settle();
    expect(faults).toEqual(['pods/ TooManyObjects']);
    expect(count()).toBe(0);
    for (let index = 5; index < 100; index++) api.remove(`pod-${index}`);
    await clock.advance(60_000);
    expect(faults).toEqual(['pods/ TooManyObjects', 'pods/ none']);
    expect(count()).toBe(5);
  });

  test('gives back what a deleted object took', async () => {
    await start({ budget: createObjectBudget(5_000) });
    for (let index = 0; index < 200; index++) {
      api.put(`pod-${index}`);
      await clock.settle();
      api.remove(`pod-${index}`);
      await clock.settle();
    }
    expect(faults).toEqual([]);
  });
});

const aPage = (page: number, name: string) => ({
  metadata: { resourceVersion: '1', continue: `c${page}` },
  items: [{ metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '1' } }],
});

/** Refuses bodies as the transport over HTTP does. */
const boundedBodies = (transport: Transport): Transport => ({
  send: async (request) => {
    const answer = await unlessAborted(transport.send(request), request.signal);
    if (answer.status < 300 && answer.body.length > (request.bodyMaxBytes ?? 0)) throw new UnusableAnswer('AnswerTooLarge', 'too large');
    return answer;
  },
  stream: (request) => transport.stream(request),
  close: () => transport.close(),
});

const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    work.then(resolve, reject);
  });
