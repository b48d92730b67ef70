import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askProbe } from '../../../../../../shared/controlplane/controllers/node-agent/ask-probe.ts';
import type { Probe } from '../../../../../../shared/controlplane/controllers/node-agent/probes.ts';

let server: Server;
let port: number;
beforeEach(async () => {
  server = createServer((request, response) =>
    response.writeHead(request.url === '/well' && request.headers['x-as'] === 'kubelet' ? 204 : 503).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterEach(() => server.close());

const ask = (probe: Probe) =>
  askProbe(probe, { name: 'main', ports: [{ name: 'web', containerPort: port }] }, '127.0.0.1', new AbortController().signal);
const httpHeaders = [{ name: 'x-as', value: 'kubelet' }];

test('an answer from 200 to 399 is a success, at the address of the pod and at a port by number or name', async () => {
  expect(await ask({ httpGet: { path: '/well', port, httpHeaders }, timeoutSeconds: 30 })).toBeUndefined();
  expect(await ask({ httpGet: { path: '/well', port: 'web', httpHeaders }, timeoutSeconds: 30 })).toBeUndefined();
  expect(await ask({ httpGet: { port }, timeoutSeconds: 30 })).toBe('HTTP probe failed with statuscode: 503');
});

test('a connection is a success, and none is told as it fails', async () => {
  expect(await ask({ tcpSocket: { port }, timeoutSeconds: 30 })).toBeUndefined();
  await new Promise((resolve) => server.close(resolve));
  expect(await ask({ tcpSocket: { port }, timeoutSeconds: 30 })).toMatch(/ECONNREFUSED/);
  expect(await ask({ httpGet: { port }, timeoutSeconds: 30 })).toMatch(/ECONNREFUSED/);
});
