/** The adversary reaches the port of the HTTP API: they have no token, or one and bad manners. Others must be served all the same. */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, Route, ServerEvent } from '../../manager/http/route.ts';
import { serveApi, type ApiServer } from '../../manager/http/server.ts';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import type { AccessGate } from '../../shared/kube/access-gate.ts';
import { certificateFromFiles } from '../../shared/runtime/serving-certificate.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { TestAuthority } from '../support/certificates.ts';
import { FakeClock } from '../support/fake-clock.ts';

const MIB = 1024 * 1024;

let clock: FakeClock;
let server: ApiServer;
let registry: Registry;
let answer: (signal: AbortSignal) => AsyncIterable<ServerEvent>;
/** Resolves what the gate waits for. */
let admit: Promise<void>;
let bodies: unknown[];
const sockets = new Set<Socket>();

const route = (method: Route['method'], at: string, handle: Route['handle']): Route => ({
  method,
  path: at,
  summary: 'a thing',
  access: ({ namespace = '' }) => ({ resourceAttributes: { namespace, verb: 'get', group: 'switchyard.dev', resource: 'things' } }),
  ...(method === 'POST' ? { body: 'Thing' } : {}),
  answers: {},
  handle,
});
const json = async (body: object): Promise<ApiAnswer> => ({ kind: 'Json', status: 200, body });
const routes: readonly Route[] = [
  route('GET', '/namespaces/{namespace}/things', ({ parameters }) => json(parameters)),
  route('POST', '/namespaces/{namespace}/things', ({ body }) => {
    bodies.push(body);
    return json({ taken: true });
  }),
  route('GET', '/namespaces/{namespace}/events', async ({ signal }) => ({ kind: 'Events', events: answer(signal) })),
];
/** Tokens are names of namespaces, and good for these; what follows a dot is another token of the same user. */
const gate: AccessGate = async (authorization, access) => {
  await admit;
  if (authorization === undefined) return { kind: 'Refused', status: 401, why: 'send a token' };
  const namespace = 'resourceAttributes' in access ? access.resourceAttributes.namespace : '';
  const username = authorization.slice('Bearer '.length).split('.', 1)[0] ?? '';
  return username === namespace
    ? { kind: 'Allowed', user: { username } }
    : { kind: 'Refused', status: 403, why: `grant get things in ${namespace}` };
};

beforeEach(async () => {
  clock = new FakeClock();
  registry = new Registry();
  admit = Promise.resolve();
  bodies = [];
  answer = () => forEver([]);
  server = await serveApi('127.0.0.1:0', deps());
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await server.close();
});
const deps = () => ({
  routes,
  openApi: { openapi: '3.1.0' },
  gate,
  bodyBytesMax: MIB,
  metrics: createManagerMetrics(registry).api,
  clock,
  log: silentLogger,
});

/** These events, and then nothing until the client has left or is sent away. */
async function* forEver(events: readonly ServerEvent[], signal?: AbortSignal): AsyncGenerator<ServerEvent> {
  yield* events;
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
}

const get = (
  at: string,
  token: string | undefined = 'a',
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> =>
  fetch(server.url + at, { ...init, headers: { ...init.headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) } });

/** A connection that sends this, and what comes back on it. */
function raw(text: string): { readonly socket: Socket; readonly closed: Promise<string>; received(): string } {
  const socket = connectTcp(Number(new URL(server.url).port), '127.0.0.1');
  sockets.add(socket);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  // Whoever is cut off in the middle of sending hears of that as an error.
  socket.on('error', () => undefined);
  socket.write(text);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return { socket, closed, received: () => received };
}
const requestOf = (method: string, at: string, headers: Record<string, string> = {}, body = ''): string =>
  [
    `${method} ${at} HTTP/1.1`,
    'host: x',
    'authorization: Bearer a',
    ...Object.entries(headers).map((each) => each.join(': ')),
    '',
    body,
  ].join('\r\n');
const metric = async (name: string): Promise<unknown> => (await registry.getSingleMetric(name)?.get())?.values;

test('refusals are Kubernetes Statuses, and no browser takes an answer for a page', async () => {
  const seen = await Promise.all(
    [
      get('/namespaces/a/things', ''),
      get('/namespaces/b/things'),
      get('/elsewhere'),
      get('/namespaces/a/things', 'a', { method: 'DELETE' }),
      get('/namespaces/a/things', 'a', { method: 'POST', body: '{"a":', headers: { 'content-type': 'application/json' } }),
      get('/namespaces/a/things', 'a', { method: 'POST', body: '<a/>', headers: { 'content-type': 'text/xml' } }),
    ].map(async (asked) => {
      const response = await asked;
      const { kind, code, reason } = (await response.json()) as Record<string, unknown>;
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(response.headers.get('content-type')).toBe('application/json');
      return [response.status, kind, code, reason, response.headers.get('allow') ?? response.headers.get('www-authenticate')];
    }),
  );
  expect(seen).toEqual([
    [401, 'Status', 401, 'Unauthorized', 'Bearer'],
    [403, 'Status', 403, 'Forbidden', null],
    [404, 'Status', 404, 'NotFound', null],
    [405, 'Status', 405, 'MethodNotAllowed', 'GET, POST'],
    [400, 'Status', 400, 'BadRequest', null],
    [415, 'Status', 415, 'UnsupportedMediaType', null],
  ]);
  expect(bodies).toEqual([]);
  const counted = (await metric('switchyard_api_requests_total')) as { labels: Record<string, string> }[];
  expect(counted.map(({ labels }) => `${labels['method']} ${labels['route']} ${labels['code']}`).toSorted()).toEqual([
    'GET /namespaces/{namespace}/things 401',
    'GET /namespaces/{namespace}/things 403',
    'POST /namespaces/{namespace}/things 400',
    'POST /namespaces/{namespace}/things 415',
    'other other 404',
    'other other 405',
  ]);
});

describe('a body of 100 MB', () => {
  const HUGE = { 'content-length': String(100 * MIB), 'content-type': 'application/json' };

  test('is refused by its announced length, and the rest of it goes with the connection', async () => {
    const { closed } = raw(requestOf('POST', '/namespaces/a/things', HUGE, 'x'.repeat(1_000)));
    expect(await closed).toMatch(/^HTTP\/1\.1 413 [^]*connection: close[^]*at most 1048576 are taken/i);
  });

  test('is not sent at all by who asks first', async () => {
    const { closed } = raw(requestOf('POST', '/namespaces/a/things', { ...HUGE, expect: '100-continue' }));
    expect(await closed).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('is not read for who may not send it, and not where its length is not said', async () => {
    const { closed } = raw(requestOf('POST', '/namespaces/b/things', HUGE, 'x'));
    expect(await closed).toMatch(/^HTTP\/1\.1 403 /);
    const chunked = raw(requestOf('POST', '/namespaces/a/things', { 'transfer-encoding': 'chunked' }, '5\r\n{"a":'));
    expect(await chunked.closed).toMatch(/^HTTP\/1\.1 411 /);
    expect(bodies).toEqual([]);
  });

  test('one that may be sent is asked for', async () => {
    const headers = { 'content-length': '7', expect: '100-continue', connection: 'close' };
    const { socket, closed } = raw(requestOf('POST', '/namespaces/a/things', headers));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 100 Continue/);
    socket.write('{"a":1}');
    expect(await closed).toContain('200 OK');
    expect(bodies).toEqual([{ a: 1 }]);
  });
});

describe('garbage', () => {
  test.each(['\0\x01\x02\x03\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`])(
    'instead of a request, and behind a good one, ends its connection alone (%#)',
    async (garbage) => {
      expect(await raw(garbage).closed).toMatch(/^HTTP\/1\.1 4\d\d /);
      const behind = await raw(requestOf('GET', '/namespaces/a/things') + garbage).closed;
      expect(behind.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(2);
      expect((await get('/namespaces/a/things')).status).toBe(200);
    },
  );

  test('of paths is no request of anybody', async () => {
    for (const at of ['//', '/%', '/namespaces/%ff/things', '/namespaces//things', '/namespaces/a/things/', '/openapi.json/'])
      expect(await raw(requestOf('GET', at, { connection: 'close' })).closed, at).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('two lengths of one body are never two requests', async () => {
    const smuggled = { 'content-length': '4', 'transfer-encoding': 'chunked' };
    expect(await raw(requestOf('POST', '/namespaces/a/things', smuggled, '0\r\n\r\nGET /x HTTP/1.1\r\n\r\n')).closed).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });
});

test('who sends a thousand requests without waiting for an answer loses the connection, and nobody else notices', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  admit = promise;
  const { closed } = raw(requestOf('GET', '/namespaces/a/things').repeat(1_000));
  expect(await closed).toBe('');
  resolve();
  expect((await get('/namespaces/a/things')).status).toBe(200);
});

describe('streams', () => {
  test('of one user are 128 at most, however many are asked for and with however many tokens; others have theirs', {
    timeout: 60_000,
  }, async () => {
    answer = (signal) => forEver([{ id: '1', event: 'progress', data: {} }], signal);
    const stop = new AbortController();
    const opened = await Promise.all(
      Array.from({ length: 500 }, (_, number) => get('/namespaces/a/events', `a.${number}`, { signal: stop.signal })),
    );
    const statuses = opened.map(({ status }) => status);
    expect([statuses.filter((each) => each === 200).length, statuses.filter((each) => each === 429).length]).toEqual([128, 372]);
    expect((await get('/namespaces/b/events', 'b', { signal: stop.signal })).status).toBe(200);
    expect(await metric('switchyard_api_streams')).toMatchObject([{ value: 129 }]);
    stop.abort();
    await expect.poll(async () => metric('switchyard_api_streams')).toMatchObject([{ value: 0 }]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('that are asked for one behind the other are let go with their connection', async () => {
    const left: string[] = [];
    answer = async function* (signal) {
      yield { id: '1', event: 'progress', data: {} };
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      left.push('left');
    };
    const { socket } = raw(requestOf('GET', '/namespaces/a/events').repeat(3));
    await expect.poll(() => metric('switchyard_api_streams')).toMatchObject([{ value: 3 }]);
    socket.destroy();
    await expect.poll(() => left).toEqual(['left', 'left', 'left']);
    await expect.poll(() => metric('switchyard_api_streams')).toMatchObject([{ value: 0 }]);
  });

  test('of who does not read are not read from their source either', async () => {
    let asked = 0;
    let ended = false;
    answer = async function* () {
      try {
        for (;;) yield { id: String(++asked), event: 'progress', data: { filling: 'x'.repeat(100_000) } };
      } finally {
        ended = true;
      }
    };
    const { socket } = raw('');
    socket.pause();
    socket.write(requestOf('GET', '/namespaces/a/events'));
    // The kernel takes some; then nobody asks for more.
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = asked > 0 && asked === before;
          before = asked;
          return isStill;
        },
        { interval: 300, timeout: 20_000 },
      )
      .toBe(true);
    expect(asked).toBeLessThan(500);
    expect((await get('/namespaces/a/things')).status).toBe(200);
    socket.destroy();
    await expect.poll(() => ended).toBe(true);
  });

  test('show that they live, and end after ten minutes, so that who has lost the right must come back', async () => {
    answer = (signal) => forEver([{ id: '7', event: 'progress', data: { a: 1 } }], signal);
    const { socket, closed, received } = raw(requestOf('GET', '/namespaces/a/events'));
    await once(socket, 'data');
    await expect.poll(received).toContain('id: 7\nevent: progress\ndata: {"a":1}\n\n');
    await clock.advance(15_000);
    await expect.poll(received).toContain(': still here');
    await clock.advance(585_000);
    // Chunked, and properly ended.
    expect(await closed).toMatch(/\r\n0\r\n\r\n$/);
    expect(clock.pendingTimers()).toBe(0);
  });
});

test('a renewed certificate is shown to the next who connects', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-api-'));
  const [certFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
  const authority = await TestAuthority.create();
  const put = async (name: string): Promise<void> => {
    const { certPem, keyPem } = await authority.sign(name, ['127.0.0.1']);
    writeFileSync(certFile, certPem);
    writeFileSync(keyFile, keyPem);
  };
  await put('first');
  registry.clear();
  const secure = await serveApi('127.0.0.1:0', {
    ...deps(),
    tls: certificateFromFiles({ of: 'api', certFile, keyFile, clock, log: silentLogger }),
  });
  try {
    const shown = async (): Promise<unknown> => {
      const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(secure.url).port), ca: authority.certPem });
      await once(socket, 'secureConnect');
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return CN;
    };
    expect([new URL(secure.url).protocol, await shown()]).toEqual(['https:', 'first']);
    await put('second');
    await clock.advance(10_000);
    await expect.poll(shown).toBe('second');
  } finally {
    await secure.close();
    rmSync(directory, { recursive: true, force: true });
  }
  expect(clock.pendingTimers()).toBe(0);
});
