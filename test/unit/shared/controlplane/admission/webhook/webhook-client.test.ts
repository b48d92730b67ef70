/** The way to webhooks over real sockets: what a certificate is held against, where a Service is reached at another address. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWebhookClient, type WebhookClient } from '../../../../../../shared/controlplane/admission/webhook/webhook-client.ts';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../../../../shared/runtime/clock.ts';
import { TestAuthority } from '../../../../../support/certificates.ts';

let server: Server;
let client: WebhookClient;
let port: number;
let certPem: string;

beforeEach(async () => {
  const authority = await TestAuthority.create();
  const certificate = await authority.sign('hook', ['hook.system.svc']);
  certPem = authority.certPem;
  server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (request, response) =>
    response.end(JSON.stringify({ host: request.headers.host, url: request.url })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  client = createWebhookClient(systemClock);
});
afterEach(async () => {
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});

const call = (host: string) =>
  client.call({
    url: `https://${host}:443/mutate`,
    connectTo: `127.0.0.1:${port}`,
    caBundle: Buffer.from(certPem).toString('base64'),
    timeoutSeconds: 5,
    body: '{}',
  });

test('a Service is reached where it listens, and asked by its own name', async () => {
  expect(JSON.parse(await call('hook.system.svc'))).toEqual({ host: 'hook.system.svc', url: '/mutate?timeout=5s' });
});

test('its certificate has to be that of the Service, whatever the address', async () => {
  await expect(call('other.system.svc')).rejects.toThrow(
    /^Post "https:\/\/other\.system\.svc:443\/mutate\?timeout=5s": .*(altnames|does not match)/,
  );
});
