import { expect, test } from 'vitest';
import type { ConfigMap } from '../../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, JOBS, NODES, PODS } from '../../../../shared/api/resources.ts';
import { ApiError, isConflict, isGone, isNotFound } from '../../../../shared/kube/api-error.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../../../shared/kube/rate-limiter.ts';
import type { KubeClient, StreamClient } from '../../../../shared/kube/client.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../../shared/kube/transport.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

type Answer = { status?: number; headers?: Record<string, string>; body?: unknown };

function aClient(...answers: Answer[]): { client: KubeClient & StreamClient; requests: TransportRequest[]; clock: FakeClock } {
  const requests: TransportRequest[] = [];
  const clock = new FakeClock();
  const respond = (request: TransportRequest): TransportResponse => {
    requests.push(request);
    const { status = 200, headers = {}, body = {} } = answers.shift() ?? {};
    return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };
  const transport: Transport = {
    send: async (request) => respond(request),
    stream: async (request) => {
      const { status, headers, body } = respond(request);
      return {
        status,
        headers,
        chunks: (async function* () {
          yield body;
        })(),
      };
    },
    close: async () => undefined,
  };
  return { client: createKubeClient(transport, { userAgent: 'test/1', clock }), requests, clock };
}

const key = { namespace: 'ns', name: 'a' };

test('every call goes to the path of its resource', async () => {
  const { client, requests } = aClient({}, {}, { body: { items: [] } }, { body: { items: null } });
  await client.get(PODS, key);
  await client.get(NODES, { namespace: '', name: 'n' });
  await client.list(JOBS, { namespace: 'ns', labelSelector: 'a=b,c', limit: 5, continueToken: 't', resourceVersion: '0' });
  await client.list(PODS);
  await client.delete(JOBS, key, { propagationPolicy: 'Background', uid: 'u' });
  await client.patchStatus(JOBS, key, { type: 'merge', body: { status: {} } }, { fieldManager: 'me' });
  await client.patch(JOBS, key, { type: 'apply', body: {}, force: true }, { dryRun: true });
  await client.raw({ method: 'GET', path: '/version' });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/v1/namespaces/ns/pods/a',
    'GET /api/v1/nodes/n',
    'GET /apis/batch/v1/namespaces/ns/jobs?labelSelector=a%3Db%2Cc&limit=5&continue=t&resourceVersion=0',
    'GET /api/v1/pods',
    'DELETE /apis/batch/v1/namespaces/ns/jobs/a',
    'PATCH /apis/batch/v1/namespaces/ns/jobs/a/status?fieldManager=me',
    'PATCH /apis/batch/v1/namespaces/ns/jobs/a?dryRun=All&force=true',
    'GET /version',
  ]);
  expect(requests[4]?.body).toBe('{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background","preconditions":{"uid":"u"}}');
  expect(requests.map(({ headers }) => headers['content-type'])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'application/json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
    undefined,
  ]);
});

test('what is written carries its kind, also when it came from a list', async () => {
  const { client, requests } = aClient();
  const meta = { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  await client.create<ConfigMap>(CONFIG_MAPS, { metadata: { generateName: 'a-', namespace: 'ns' }, data: { x: 'y' } });
  await client.replace<ConfigMap>(CONFIG_MAPS, { metadata: meta });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api/v1/namespaces/ns/configmaps',
    'PUT /api/v1/namespaces/ns/configmaps/a',
  ]);
  expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
});

test('a list gives items, version and continue token', async () => {
  const { client } = aClient(
    { body: { metadata: { resourceVersion: '7', continue: 'more' }, items: [{}] } },
    { body: { metadata: { resourceVersion: '8' }, items: null } },
  );
  expect(await client.list(PODS)).toEqual({ items: [{}], resourceVersion: '7', continueToken: 'more' });
  expect(await client.list(PODS)).toEqual({ items: [], resourceVersion: '8' });
});

test('refusals become ApiErrors with the reason of the server', async () => {
  const status = (code: number, reason: string): Answer => ({
    status: code,
    body: { kind: 'Status', code, reason, message: `it is ${reason}` },
  });
  const { client } = aClient(status(404, 'NotFound'), status(409, 'Conflict'), { status: 502, body: '<html>bad gateway</html>' });
  expect(await client.get(PODS, key).catch(isNotFound)).toBe(true);
  expect(await client.get(PODS, key).catch(isConflict)).toBe(true);
  await expect(client.get(PODS, key)).rejects.toThrow('the server answered 502: <html>bad gateway</html>');
});

test('429 with Retry-After is waited out and sent again, ten times at most', async () => {
  const busy = { status: 429, headers: { 'retry-after': '2' } };
  const patient = aClient(busy, busy, { body: { metadata: { name: 'a' } } });
  const got = patient.client.get(PODS, key);
  await patient.clock.advance(3999);
  expect(patient.requests).toHaveLength(2);
  await patient.clock.advance(1);
  expect((await got).metadata.name).toBe('a');

  const hopeless = aClient(...Array.from({ length: 20 }, () => busy));
  const failure = hopeless.client.get(PODS, key).catch((error: unknown) => error);
  await hopeless.clock.advance(100_000);
  expect(await failure).toBeInstanceOf(ApiError);
  expect(hopeless.requests).toHaveLength(11);
});

test("429 without Retry-After, such as a refused eviction, is the caller's", async () => {
  const { client, requests } = aClient({ status: 429, body: { kind: 'Status', code: 429, reason: 'TooManyRequests' } });
  await expect(client.get(PODS, key)).rejects.toMatchObject({ code: 429 });
  expect(requests).toHaveLength(1);
});

test('a watch yields the complete lines of each chunk, and an ERROR event is thrown after what came before it', async () => {
  const event = (type: string, object: object): string => JSON.stringify({ type, object });
  const pod = (resourceVersion: string): object => ({ metadata: { resourceVersion } });
  const body = `${event('ADDED', pod('1'))}\n${event('BOOKMARK', pod('2'))}\n${event('ERROR', { kind: 'Status', code: 410 })}\n`;
  const { client, requests } = aClient({ body });
  const seen: string[] = [];
  const failure = await (async () => {
    for await (const batch of await client.watch(PODS, { resourceVersion: '0', timeoutSeconds: 5 })) {
      seen.push(batch.map((each) => `${each.type} ${each.object.metadata.resourceVersion}`).join(', '));
    }
  })().catch((error: unknown) => error);
  expect(seen).toEqual(['ADDED 1, BOOKMARK 2']);
  expect(isGone(failure)).toBe(true);
  expect(requests[0]?.path).toBe('/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=0&timeoutSeconds=5');
});

test('a watch that is refused throws the refusal', async () => {
  const { client } = aClient({ status: 403, body: { kind: 'Status', code: 403, reason: 'Forbidden' } });
  await expect(client.watch(PODS, { resourceVersion: '0' })).rejects.toMatchObject({ reason: 'Forbidden' });
});

test('the rate limiter lets a burst through and then one call per interval, in order', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ qps: 10, burst: 3, clock });
  const times: number[] = [];
  const startMs = clock.now();
  const calls = Array.from({ length: 6 }, () => limiter.acquire().then(() => times.push(clock.now() - startMs)));
  await clock.runUntilIdle();
  await Promise.all(calls);
  expect(times).toEqual([0, 0, 0, 100, 200, 300]);
  await clock.advance(10_000);
  expect(await limiter.acquire()).toBe(0);
});

test('a caller that gives up waiting gives its turn back', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ qps: 1, burst: 1, clock });
  await limiter.acquire();
  const controller = new AbortController();
  const given = limiter.acquire(controller.signal).catch((error: unknown) => error);
  controller.abort(new Error('enough'));
  expect(await given).toBeInstanceOf(Error);
  let waitedMs = -1;
  void limiter.acquire().then((waited) => (waitedMs = waited));
  await clock.advance(1000);
  expect(waitedMs).toBe(1000);
});

test('no limit means no waiting', async () => {
  const limiter = createRateLimiter({ qps: 0, burst: 0, clock: new FakeClock() });
  for (let call = 0; call < 1000; call++) expect(await limiter.acquire()).toBe(0);
});

test('calls and watches wait for the same rate limiter', async () => {
  const clock = new FakeClock();
  const begun: string[] = [];
  const transport: Transport = {
    send: async ({ path }) => (begun.push(path), { status: 200, headers: {}, body: '{"metadata":{},"items":[]}' }),
    stream: async ({ path }) => (begun.push(path.split('?')[0] ?? ''), { status: 200, headers: {}, chunks: (async function* () {})() }),
    close: async () => undefined,
  };
  const client = createKubeClient(transport, { userAgent: 'test/1', clock, rateLimiter: createRateLimiter({ qps: 1, burst: 1, clock }) });
  const all = [client.list(PODS), client.watch(PODS, { resourceVersion: '1' }), client.list(NODES)];
  await clock.advance(900);
  expect(begun).toEqual(['/api/v1/pods']);
  await clock.advance(200);
  expect(begun).toEqual(['/api/v1/pods', '/api/v1/pods']);
  await clock.advance(1_000);
  expect(begun).toHaveLength(3);
  await Promise.all(all);
});

test('a stream is the body as it comes, and its refusal an error', async () => {
  const { client, requests } = aClient(
    { body: 'a line\nand anoth' },
    { status: 403, body: { kind: 'Status', reason: 'Forbidden', message: 'no' } },
  );
  const { signal } = new AbortController();
  const chunks = await client.stream('/api/v1/namespaces/ns/pods/a/log?follow=true', { signal });
  const pieces: string[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  expect(pieces).toEqual(['a line\nand anoth']);
  expect(requests[0]).toMatchObject({ method: 'GET', path: '/api/v1/namespaces/ns/pods/a/log?follow=true', headers: { accept: '*/*' } });
  await expect(client.stream('/x', { signal })).rejects.toMatchObject({ code: 403, message: 'no' });
});

test('a write whose caller reads metadata alone asks for them first, and takes the whole object from a server without that form', async () => {
  const { client, requests } = aClient({ body: { metadata: { name: 'a' } } }, { body: { metadata: { name: 'a' } } });
  await client.patch(PODS, key, { type: 'merge', body: {} }, { answer: 'metadata' });
  await client.patch(PODS, key, { type: 'merge', body: {} });
  expect(requests.map(({ headers }) => headers['accept'])).toEqual([
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    'application/json',
  ]);
});

test('a list of which metadata alone is read asks for that form of a list', async () => {
  const { client, requests } = aClient({ body: { metadata: {}, items: [{ metadata: { name: 'a' } }] } });
  const { items } = await client.list(PODS, { answer: 'metadata' });
  expect(items).toEqual([{ metadata: { name: 'a' } }]);
  expect(requests[0]?.headers['accept']).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json');
});
