/** Where a watch goes on after a refusal: from its place when the server is merely busy, from a new list when the place is lost. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { PODS } from '../../../../shared/api/resources.ts';
import { createInformer, type Informer } from '../../../../shared/kube/informer.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ScriptedApi } from './scripted-api.ts';

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

const lists = (): number => api.requests.filter((request) => request.startsWith('GET')).length;
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
