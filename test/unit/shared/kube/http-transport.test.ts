import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createServingCertificate } from '../../../../shared/controlplane/server/serving-certificate.ts';
import { createAddressRanges, type AddressRanges } from '../../../../shared/kube/address-ranges.ts';
import { createHttpTransport } from '../../../../shared/kube/http-transport.ts';
import { accessFromKubeconfig } from '../../../../shared/kube/kubeconfig.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const cleanups: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function aServer(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<{ server: Server; url: string }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const kubeconfig = (url: string, user: object, clusterExtra: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'cl', cluster: { server: url, ...clusterExtra } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'cl', user: 'u', namespace: 'team' } }],
  });

function aTransport(yaml: string, clock = new FakeClock(), denied?: AddressRanges): Transport {
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'text', yaml }, clock), silentLogger, denied);
  cleanups.push(() => transport.close());
  return transport;
}

const aDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  cleanups.push(async () => rmSync(directory, { recursive: true }));
  return directory;
};

test('requests carry path, body and bearer token, and many share few connections', async () => {
  const seen: string[] = [];
  let connections = 0;
  const { server, url } = await aServer((request, response) => {
    request.setEncoding('utf8');
    let body = '';
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      response.writeHead(201, { 'retry-after': '3' }).end('{"ok":true}');
    });
  });
  server.on('connection', () => connections++);
  const transport = aTransport(kubeconfig(`${url}/base/`, { token: 'secret' }));
  const answer = await transport.send({ method: 'POST', path: '/api/v1/pods?x=1', headers: {}, body: 'hello' });
  expect(answer).toMatchObject({ status: 201, body: '{"ok":true}', headers: { 'retry-after': '3' } });
  expect(seen).toEqual(['POST /base/api/v1/pods?x=1 Bearer secret hello']);
  for (let count = 0; count < 50; count++) await transport.send({ method: 'GET', path: '/', headers: {} });
  expect(connections).toBeLessThanOrEqual(2);
});

test('a deletion that says how leaves its connection to the next request', async () => {
  let connections = 0;
  const { server, url } = await aServer((request, response) => void request.resume().on('end', () => response.end('{}')));
  server.on('connection', () => connections++);
  const transport = aTransport(kubeconfig(url, { token: 'secret' }));
  for (let count = 0; count < 5; count++) {
    await transport.send({ method: 'DELETE', path: '/', headers: {}, body: '{"gracePeriodSeconds":0}' });
  }
  expect(connections).toBeLessThanOrEqual(2);
});

test('a stream delivers text as it comes, whole characters only, and ends when the signal aborts', async () => {
  let closed = false;
  const { url } = await aServer((request, response) => {
    response.writeHead(200);
    const bytes = Buffer.from('{"name":"ä"}\n');
    response.write(bytes.subarray(0, 10));
    setTimeout(() => response.write(bytes.subarray(10)), 20);
    request.on('close', () => (closed = true));
  });
  const controller = new AbortController();
  const stream = await aTransport(kubeconfig(url, {})).stream({ method: 'GET', path: '/watch', headers: {}, signal: controller.signal });
  let text = '';
  const failure = await (async () => {
    for await (const chunk of stream.chunks) {
      text += chunk;
      if (text.endsWith('\n')) controller.abort(new Error('enough'));
    }
  })().catch((error: unknown) => error);
  expect(text).toBe('{"name":"ä"}\n');
  expect(failure).toBeInstanceOf(Error);
  await expect.poll(() => closed, { timeout: 30_000 }).toBe(true);
});

test('no answer is an error that names the request and has the cause', async () => {
  const { server, url } = await aServer(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  const failure = await aTransport(kubeconfig(url, {}))
    .send({ method: 'GET', path: '/version', headers: {} })
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: `GET ${url}/version: no answer`, cause: { code: 'ECONNREFUSED' } });
});

test('a token file is read again as time goes by, and at once when the server says 401', async () => {
  const directory = aDirectory();
  const tokens: (string | undefined)[] = [];
  const { url } = await aServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === 'Bearer two' ? 200 : 401).end('{}');
  });
  writeFileSync(join(directory, 'token'), 'one\n');
  writeFileSync(join(directory, 'config'), kubeconfig(url, { tokenFile: 'token' }));
  const access = accessFromKubeconfig({ kind: 'file', path: join(directory, 'config') }, new FakeClock());
  const transport = createHttpTransport(access, silentLogger);
  cleanups.push(() => transport.close());
  expect((await transport.send({ method: 'GET', path: '/', headers: {} })).status).toBe(401);
  writeFileSync(join(directory, 'token'), 'two\n');
  expect((await transport.send({ method: 'GET', path: '/', headers: {} })).status).toBe(200);
  expect(tokens).toEqual(['Bearer one', 'Bearer two']);
});

test('an exec plugin gives the token', async () => {
  const { url } = await aServer((request, response) => response.end(request.headers.authorization));
  const credential = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'from-plugin' },
  });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [credential], interactiveMode: 'Never' };
  const answer = await aTransport(kubeconfig(url, { exec })).send({ method: 'GET', path: '/', headers: {} });
  expect(answer.body).toBe('Bearer from-plugin');
});

test('credentials that cannot be had are the error of the request, and no request is sent without them', async () => {
  let requests = 0;
  const { url } = await aServer((_request, response) => {
    requests++;
    response.end();
  });
  const request = aTransport(kubeconfig(url, { tokenFile: '/does/not/exist' })).send({ method: 'GET', path: '/version', headers: {} });
  await expect(request).rejects.toThrow(`GET ${url}/version: user "u" (the kubeconfig): the tokenFile /does/not/exist cannot be read`);
  expect(requests).toBe(0);
});

test('an exec plugin whose token is refused is asked again for the next request', async () => {
  const { url } = await aServer((request, response) =>
    response.writeHead(request.headers.authorization === 'Bearer token-2' ? 200 : 401).end('{}'),
  );
  const directory = aDirectory();
  const answer = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-%s"}}`;
  const script = `echo run >> runs; printf '${answer}' "$(wc -l < runs | tr -d ' ')"`;
  const args = ['-c', `cd ${directory} && ${script}`];
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args, interactiveMode: 'Never' };
  const transport = aTransport(kubeconfig(url, { exec }));
  expect((await transport.send({ method: 'GET', path: '/', headers: {} })).status).toBe(401);
  expect((await transport.send({ method: 'GET', path: '/', headers: {} })).status).toBe(200);
});

test('user and password become basic authentication', async () => {
  const { url } = await aServer((request, response) => response.end(request.headers.authorization));
  const answer = await aTransport(kubeconfig(url, { username: 'me', password: 'pw' })).send({ method: 'GET', path: '/', headers: {} });
  expect(answer.body).toBe(`Basic ${Buffer.from('me:pw').toString('base64')}`);
});

test('the context names server and namespace, and one that does not exist is refused by name', () => {
  const yaml = kubeconfig('https://example.test:6443/', {});
  const access = accessFromKubeconfig({ kind: 'text', yaml }, new FakeClock());
  expect(access).toMatchObject({ server: 'https://example.test:6443', namespace: 'team' });
  expect(() => accessFromKubeconfig({ kind: 'text', yaml, context: 'x' }, new FakeClock())).toThrow(
    'the kubeconfig has no context "x"; it has: c',
  );
  expect(() => accessFromKubeconfig({ kind: 'file', path: '/does/not/exist' }, new FakeClock())).toThrow(
    'cannot read the kubeconfig /does/not/exist',
  );
  expect(() => accessFromKubeconfig({ kind: 'text', yaml: 'just text' }, new FakeClock())).toThrow('the kubeconfig is not valid');
});

test('what nobody reads of a stream stays with its server, and a reader who leaves closes the connection', async () => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const { url } = await aServer((_request, response) => {
    const line = `${'x'.repeat(16_383)}\n`;
    const send = (): void => {
      // 64 MiB, as fast as they are taken.
      while (sent < 64 * 1024 * 1024) {
        sent += line.length;
        if (!response.write(line)) return void response.once('drain', send);
      }
    };
    response.on('close', () => closed.resolve());
    send();
  });
  const transport = aTransport(kubeconfig(url, { token: 'secret' }));
  const { chunks } = await transport.stream({ method: 'GET', path: '/', headers: {} });
  for await (const chunk of chunks) {
    expect(chunk.length).toBeGreaterThan(0);
    for (let before = -1; before !== sent; ) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(24 * 1024 * 1024);
    break;
  }
  await closed.promise;
});

test.each([
  { of: 'of the manager cluster', denied: undefined },
  { of: 'of a worker cluster, whose addresses are judged', denied: createAddressRanges(['169.254.0.0/16']) },
])('an API server $of that offers HTTP/2 is asked by HTTP/1.1: each connection carries one request at a time', async ({ denied }) => {
  const { certPem, keyPem } = await createServingCertificate('127.0.0.1');
  const versions: string[] = [];
  const server = createSecureServer({ cert: certPem, key: keyPem, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const trusted = { 'certificate-authority-data': Buffer.from(certPem).toString('base64') };
  const transport = aTransport(kubeconfig(url, { token: 't' }, trusted), new FakeClock(), denied);
  await transport.send({ method: 'GET', path: '/version', headers: {} });
  expect(versions).toEqual(['1.1']);
});
