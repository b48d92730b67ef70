/** The adversary reaches the ports of the manager and has no credentials. They want its memory, or its attention. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../shared/runtime/http-server.ts';
import { TestAuthority } from '../support/certificates.ts';

const MIB = 1024 * 1024;
/** Limits of the servers, and time for a busy machine. */
const ENDS_WITHIN = { timeout: 50_000, interval: 100 };

describe('the webhook', () => {
  let folder: string;
  let program: ChildProcess;
  let port: number;
  /** API servers keep their connections, and use them again. */
  let agent: Agent;
  beforeEach(async () => {
    agent = new Agent({ keepAlive: true });
    folder = mkdtempSync(path.join(tmpdir(), 'anonymous-'));
    const { certPem, keyPem } = await (await TestAuthority.create()).sign('webhook', ['127.0.0.1']);
    writeFileSync(path.join(folder, 'tls.crt'), certPem);
    writeFileSync(path.join(folder, 'tls.key'), keyPem);
    const files = ['tls.crt', 'tls.key'].map((file) => path.join(folder, file));
    program = fork(path.join(import.meta.dirname, 'support', 'webhook-program.ts'), files, { execArgv: ['--expose-gc'] });
    const [{ url }] = (await once(program, 'message')) as [{ url: string }];
    port = Number(new URL(url).port);
  });
  afterEach(async () => {
    agent.destroy();
    const ended = once(program, 'exit');
    program.disconnect();
    await ended;
    rmSync(folder, { recursive: true });
  });

  const memory = async (): Promise<number> => {
    const answer = once(program, 'message') as Promise<[{ residentBytes: number }]>;
    program.send('memory');
    return (await answer)[0].residentBytes;
  };

  /** A connection that may write; what is answered is kept. */
  const open = (): Promise<Attack> => attack((ready) => connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }, ready));

  /** What an API server gets that sends a review, with a Job of about so many bytes. */
  const review = (jobBytes: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const object = { metadata: { name: 'a', namespace: 'b', annotations: { much: 'x'.repeat(jobBytes) } }, spec: { template: {} } };
      const body = JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: { uid: 'r', operation: 'CREATE', userInfo: { username: 'jane' }, object },
      });
      const headers = { 'content-length': Buffer.byteLength(body) };
      const outgoing = request(
        { host: '127.0.0.1', port, path: '/mutate', method: 'POST', headers, rejectUnauthorized: false, agent },
        (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  test('holds no more for a hundred unfinished reviews of 4 MiB than for a few, and answers others meanwhile', async () => {
    expect(await review(100)).toBe(200);
    expect(await review(3 * MIB)).toBe(200);
    const before = await memory();
    const body = Buffer.alloc(4 * MIB - 1, 120);
    const attacks: Attack[] = [];
    // A hundred handshakes at once may take a busy machine longer than the server waits for one.
    while (attacks.length < 100) attacks.push(...(await Promise.all(Array.from({ length: 10 }, open))));
    for (const { socket } of attacks) {
      socket.write(`POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: ${4 * MIB}\r\n\r\n`);
      socket.write(body);
    }
    let most = 0;
    while (attacks.some(({ ended }) => !ended())) {
      expect(await review(100)).toBe(200);
      most = Math.max(most, await memory());
    }
    expect((most - before) / MIB).toBeLessThan(64);
    // Those that came too late were told so, and nobody was judged.
    const statuses = new Set(attacks.map(({ received }) => /^HTTP\/1\.1 (\d+)/.exec(received())?.[1] ?? 'closed'));
    for (const status of statuses) expect(['503', '408', 'closed']).toContain(status);
    expect(await review(3 * MIB)).toBe(200);
  });

  test('refuses a body of more than 8 MiB before it is sent', async () => {
    const { socket, received } = await open();
    socket.write(`POST /validate HTTP/1.1\r\nHost: a\r\nContent-Length: ${8 * MIB + 1}\r\n\r\n`);
    await expect.poll(received, ENDS_WITHIN).toContain('HTTP/1.1 413');
  });

  test('reads no more than 8 MiB of a body without a length', async () => {
    const { socket, ended } = await open();
    socket.write('POST /validate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `100000\r\n${'x'.repeat(MIB)}\r\n`;
    for (let count = 0; count < 9; count++) socket.write(chunk);
    await expect.poll(ended, ENDS_WITHIN).toBe(true);
  });

  test('ends connections that never end their headers or body, or never speak TLS', async () => {
    const texts = ['POST /mutate HTTP/1.1\r\nHost: a\r\nX: ', 'POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{'];
    const silent = await attack((ready) => connectPlain({ host: '127.0.0.1', port }, ready));
    const slow = await Promise.all(texts.map(open));
    for (const [index, { socket }] of slow.entries()) socket.write(texts[index] ?? '');
    await expect.poll(() => [silent, ...slow].map(({ ended }) => ended()), ENDS_WITHIN).toEqual([true, true, true]);
  });

  test('gives the place of those that say nothing to those that come later', async () => {
    const silent: Attack[] = [];
    for (let count = 0; count < 1_100; count++) silent.push(await open());
    expect(await review(100)).toBe(200);
    await expect.poll(() => silent.filter(({ ended }) => ended()).length, ENDS_WITHIN).toBeGreaterThanOrEqual(1_100 - 1_024);
  }, 60_000);

  test('answers a path that is no URL as one that it does not know', async () => {
    const { socket, received } = await open();
    socket.write('GET // HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(received, ENDS_WITHIN).toContain('HTTP/1.1 404');
  });

  test('refuses headers of more than 16 KiB', async () => {
    const { socket, received } = await open();
    socket.write(`POST /mutate HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    await expect.poll(received, ENDS_WITHIN).toContain('HTTP/1.1 431');
  });
});

describe('the port of metrics and health', () => {
  const serve = async (): Promise<number> => {
    const { url, close } = await listen(async (_request, response) => void response.end('ok'), '127.0.0.1:0');
    onTestFinished(close);
    return Number(new URL(url).port);
  };
  const open = (port: number): Promise<Attack> => attack((ready) => connectPlain({ host: '127.0.0.1', port }, ready));

  test('is open again some seconds after somebody has taken all its connections', async () => {
    const port = await serve();
    const attacks = await Promise.all(Array.from({ length: 100 }, () => open(port)));
    for (const { socket } of attacks.slice(0, 50)) socket.write('GET /metrics HTTP/1.1\r\nX: ');
    await expect.poll(() => attacks.filter(({ ended }) => ended()).length, ENDS_WITHIN).toBeGreaterThanOrEqual(100 - 64);
    await expect.poll(() => attacks.every(({ ended }) => ended()), ENDS_WITHIN).toBe(true);
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe('ok');
  });
});

type Attack = { readonly socket: Socket; ended(): boolean; received(): string };

/** Resolves once it is connected. A server that closes it, in whatever way, is what is waited for. */
async function attack(connect: (ready: () => void) => Socket): Promise<Attack> {
  let ended = false;
  let received = '';
  const socket = await new Promise<Socket>((resolve) => {
    const made = connect(() => resolve(made));
    made.on('error', () => resolve(made));
    made.on('close', () => {
      ended = true;
      resolve(made);
    });
    made.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  });
  onTestFinished(() => void socket.destroy());
  return { socket, ended: () => ended, received: () => received };
}
