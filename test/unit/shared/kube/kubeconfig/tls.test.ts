/** Requests over real TLS, with what the kubeconfig says about certificates. */
import { writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpTransport } from '../../../../../shared/kube/http-transport.ts';
import { accessFromKubeconfig } from '../../../../../shared/kube/kubeconfig.ts';
import type { Transport } from '../../../../../shared/kube/transport.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { TestAuthority } from '../../../../support/certificates.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aDirectory, aKubeconfig } from './a-kubeconfig.ts';

/** An API server that tells each client who its certificate and its headers say it is. */
async function anApiServer(authority: TestAuthority, names: readonly string[]): Promise<string> {
  const { certPem, keyPem } = await authority.sign('server', names);
  const options = { cert: certPem, key: keyPem, ca: authority.certPem, requestCert: true, rejectUnauthorized: false };
  const server: Server = createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket;
    const certificate = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'nobody';
    response.end(`${certificate} ${JSON.stringify(request.headersDistinct['impersonate-group'] ?? [])}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function aTransport(yaml: string, clock = new FakeClock()): Transport {
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'text', yaml }, clock), silentLogger);
  onTestFinished(() => transport.close());
  return transport;
}
const ask = async (transport: Transport): Promise<string> => (await transport.send({ method: 'GET', path: '/', headers: {} })).body;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** The code of the innermost cause. */
const reason = async (transport: Transport): Promise<unknown> => {
  const failure = await ask(transport).catch((error: unknown) => error);
  return failure instanceof Error && failure.cause instanceof Error && 'code' in failure.cause ? failure.cause.code : failure;
};

test('a server is trusted by the authority of the kubeconfig, as text or file, and not without it', async () => {
  const authority = await TestAuthority.create();
  const server = await anApiServer(authority, ['127.0.0.1']);
  const file = path.join(aDirectory({ 'ca.crt': authority.certPem }), 'ca.crt');
  expect(await ask(aTransport(aKubeconfig({}, { server, 'certificate-authority-data': base64(authority.certPem) })))).toBe('nobody []');
  expect(await ask(aTransport(aKubeconfig({}, { server, 'certificate-authority': file })))).toBe('nobody []');
  expect(await reason(aTransport(aKubeconfig({}, { server })))).toBe('SELF_SIGNED_CERT_IN_CHAIN');
  expect(await ask(aTransport(aKubeconfig({}, { server, 'insecure-skip-tls-verify': true })))).toBe('nobody []');
});

test('tls-server-name is the name that the certificate is checked against', async () => {
  const authority = await TestAuthority.create();
  const server = await anApiServer(authority, ['api.test']);
  const cluster = { server, 'certificate-authority-data': base64(authority.certPem) };
  expect(await reason(aTransport(aKubeconfig({}, cluster)))).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(await ask(aTransport(aKubeconfig({}, { ...cluster, 'tls-server-name': 'api.test' })))).toBe('nobody []');
});

test('a client certificate says who we are, also after its files have been renewed', async () => {
  const authority = await TestAuthority.create();
  const server = await anApiServer(authority, ['127.0.0.1']);
  const cluster = { server, 'certificate-authority-data': base64(authority.certPem) };
  const alice = await authority.sign('alice');
  const asText = { 'client-certificate-data': base64(alice.certPem), 'client-key-data': base64(alice.keyPem) };
  expect(await ask(aTransport(aKubeconfig(asText, cluster)))).toBe('alice []');
  const directory = aDirectory({ crt: alice.certPem, key: alice.keyPem });
  const clock = new FakeClock();
  const transport = aTransport(aKubeconfig({ 'client-certificate': `${directory}/crt`, 'client-key': `${directory}/key` }, cluster), clock);
  expect(await ask(transport)).toBe('alice []');
  const bob = await authority.sign('bob');
  writeFileSync(`${directory}/crt`, bob.certPem);
  writeFileSync(`${directory}/key`, bob.keyPem);
  await clock.advance(10_000);
  expect(await ask(transport)).toBe('bob []');
});

test('a client certificate from an exec plugin says who we are', async () => {
  const authority = await TestAuthority.create();
  const server = await anApiServer(authority, ['127.0.0.1']);
  const carol = await authority.sign('carol');
  const apiVersion = 'client.authentication.k8s.io/v1';
  const status = { clientCertificateData: carol.certPem, clientKeyData: carol.keyPem };
  const answer = path.join(aDirectory({ answer: JSON.stringify({ apiVersion, kind: 'ExecCredential', status }) }), 'answer');
  const exec = { apiVersion, command: 'cat', args: [answer], interactiveMode: 'Never' };
  expect(await ask(aTransport(aKubeconfig({ exec }, { server, 'certificate-authority-data': base64(authority.certPem) })))).toBe(
    'carol []',
  );
});

test('groups to act as arrive as one header each', async () => {
  const authority = await TestAuthority.create();
  const server = await anApiServer(authority, ['127.0.0.1']);
  const user = { as: 'boss', 'as-groups': ['a,b', 'c'] };
  expect(await ask(aTransport(aKubeconfig(user, { server, 'insecure-skip-tls-verify': true })))).toBe('nobody ["a,b","c"]');
});

test('requests go through the proxy that the kubeconfig names, its credentials with them, and the server still sees our certificate', async () => {
  const authority = await TestAuthority.create();
  const server = await anApiServer(authority, ['127.0.0.1']);
  const seen: unknown[] = [];
  const proxy = createPlainServer();
  proxy.on('connect', (request, client) => {
    seen.push([request.url, request.headers['proxy-authorization']]);
    const target = connect(Number(new URL(server).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    // Either end may close first.
    target.on('error', () => client.destroy());
    client.on('error', () => target.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => proxy.close(() => resolve())));
  const alice = await authority.sign('alice');
  const user = { 'client-certificate-data': base64(alice.certPem), 'client-key-data': base64(alice.keyPem) };
  const proxyUrl = `http://me:pw@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const cluster = { server, 'certificate-authority-data': base64(authority.certPem), 'proxy-url': proxyUrl };
  expect(await ask(aTransport(aKubeconfig(user, cluster)))).toBe('alice []');
  expect(seen).toEqual([[new URL(server).host, `Basic ${base64('me:pw')}`]]);
});
