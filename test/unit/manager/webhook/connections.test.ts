/** The webhook and a client that sends no request a second time: a connection that ends under one costs a user a create. */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createWebhookServer, type ListeningWebhook } from '../../../../manager/webhook/server.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import type { ServingCertificate } from '../../../../shared/runtime/serving-certificate.ts';
import { TestAuthority } from '../../../support/certificates.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { createGoLikeClient, type GoLikeClient } from '../../../support/go-like-client.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'r', operation: 'CREATE', userInfo: { username: 'jane' }, object: aHomeJob() },
});
let pair: ServingCertificate;
let next: ServingCertificate;
beforeAll(async () => {
  const authority = await TestAuthority.create();
  const [first, second] = [await authority.sign('webhook', ['127.0.0.1']), await authority.sign('webhook', ['127.0.0.1'])];
  pair = { cert: first.certPem, key: first.keyPem };
  next = { cert: second.certPem, key: second.keyPem };
});

let clock: FakeClock;
let renew: (certificate: ServingCertificate) => void;
let server: ListeningWebhook;
let client: GoLikeClient;
beforeEach(async () => {
  clock = new FakeClock();
  server = await serve();
  client = createGoLikeClient(() => portOf(server), clock);
  onTestFinished(async () => {
    client.close();
    await server.close();
  });
});

const portOf = ({ url }: ListeningWebhook): number => Number(new URL(url).port);
const serve = (): Promise<ListeningWebhook> =>
  createWebhookServer({
    kind: JOB_KIND,
    certificate: {
      first: async () => pair,
      follow: (_shown, show) => {
        renew = show;
        return () => undefined;
      },
    },
    identities: { managers: [], localWorkers: [] },
    onSharedIdentity: () => undefined,
    clock,
    log: silentLogger,
  }).listen('127.0.0.1:0');
const create = (): Promise<number> => client.post('/mutate?timeout=5s', REVIEW);

async function open(localAddress = '127.0.0.1'): Promise<{ readonly socket: TLSSocket; ended(): boolean }> {
  const socket = connect({ socket: connectPlain({ host: '127.0.0.1', port: portOf(server), localAddress }), rejectUnauthorized: false });
  let ended = false;
  socket.on('close', () => (ended = true)).on('error', () => (ended = true));
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  socket.resume();
  return { socket, ended: () => ended };
}

test('a connection that was idle for 89 s takes the next create', async () => {
  expect(await create()).toBe(200);
  for (let seconds = 0; seconds < 89; seconds++) await clock.advance(1_000);
  expect(client.idle()).toBe(1);
  expect(await create()).toBe(200);
});

test('one that was opened ahead and never used does, too', async () => {
  await client.connectAhead();
  for (let seconds = 0; seconds < 89; seconds++) await clock.advance(1_000);
  expect(client.idle()).toBe(1);
  expect(await create()).toBe(200);
});

test('a create that came during a stall is read before the limit of its connection counts', async () => {
  const { socket, ended } = await open();
  await clock.advance(99_000);
  let answered = '';
  socket.on('data', (chunk: Buffer) => (answered += chunk.toString()));
  socket.write(`POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: ${Buffer.byteLength(REVIEW)}\r\n\r\n${REVIEW}`);
  clock.stall(2_000);
  await expect.poll(() => [answered.slice(0, 12), ended()]).toEqual(['HTTP/1.1 200', false]);
});

test('a connection that nobody uses ends, after what any Go client keeps it', async () => {
  const { ended } = await open();
  await turn();
  await clock.advance(102_000);
  await expect.poll(ended).toBe(true);
});

test.each([
  ['headers', 'POST /mutate HTTP/1.1\r\nX: ', 7_000],
  ['a body', 'POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{', 12_000],
])('%s that never end do not last as long', async (_what, text, limitMs) => {
  const { socket, ended } = await open();
  socket.write(text);
  // Until the server has read it.
  expect(await create()).toBe(200);
  await clock.advance(limitMs);
  await expect.poll(ended).toBe(true);
});

test('a flood from one address ends its own connections: those of others stay, and the newest come in', async () => {
  await client.connectAhead();
  const flood: Awaited<ReturnType<typeof open>>[] = [];
  for (let count = 0; count < 1_100; count++) flood.push(await open('127.0.0.2'));
  await expect.poll(() => flood.filter(({ ended }) => ended()).length).toBe(1_100 - 1_024 + 1);
  expect(flood.slice(0, 77).every(({ ended }) => ended())).toBe(true);
  expect(client.idle()).toBe(1);
  expect(await create()).toBe(200);
  // By its answer, while there are so many.
  expect(client.idle()).toBe(0);
}, 60_000);

test('a renewed certificate ends no connection', async () => {
  expect(await create()).toBe(200);
  renew(next);
  await turn();
  expect(client.idle()).toBe(1);
  expect(await create()).toBe(200);
  await client.connectAhead();
});

test('a server that drains answers old and new connections, ends them by their answers, and the others when it closes', async () => {
  expect(await create()).toBe(200);
  await client.connectAhead();
  server.drain();
  expect([await create(), client.idle()]).toEqual([200, 1]);
  expect([await create(), client.idle()]).toEqual([200, 0]);
  expect([await create(), client.idle()]).toEqual([200, 0]);
  await client.connectAhead();
  const closed = server.close();
  // Where the server has not seen the end of the handshake, it waits a little for the request.
  await expect.poll(() => clock.advance(1_000).then(() => client.idle())).toBe(0);
  await closed;
});

test('what has begun when the server closes is answered', async () => {
  const { socket } = await open();
  let answered = '';
  socket.on('data', (chunk: Buffer) => (answered += chunk.toString()));
  socket.write(`POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: ${Buffer.byteLength(REVIEW)}\r\n\r\n${REVIEW.slice(0, 10)}`);
  expect(await create()).toBe(200);
  const closed = server.close();
  socket.write(REVIEW.slice(10));
  await closed;
  await expect.poll(() => answered).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*connection: close\r\n/i);
});
