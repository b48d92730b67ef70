import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectionsOf, type ServerConnections } from '../../../../shared/runtime/server-connections.ts';
import { createServingCertificate } from '../../../../shared/controlplane/server/serving-certificate.ts';

let server: Server;
let connections: ServerConnections;
let clients: (Socket | undefined)[];
beforeEach(async () => {
  const { certPem, keyPem } = await createServingCertificate('127.0.0.1');
  server = createServer({ cert: certPem, key: keyPem, keepAliveTimeout: 0 }, (_request, response) => response.end('hello'));
  connections = connectionsOf(server);
  clients = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  for (const client of clients) client?.destroy();
});
const port = (): number => (server.address() as AddressInfo).port;

test('connections that are idle, that wait for their answer and that have not even shaken hands end with their server', async () => {
  const idle = connectTls({ port: port(), host: '127.0.0.1', rejectUnauthorized: false });
  clients.push(idle);
  await once(idle, 'secureConnect');
  idle.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
  await once(idle, 'data');
  const accepted = once(server, 'connection');
  const silent = connect(port(), '127.0.0.1');
  clients.push(silent);
  await Promise.all([once(silent, 'connect'), accepted]);
  const ends = Promise.all([once(idle, 'close'), once(silent, 'close')]);
  await connections.close();
  await ends;
  expect(server.listening).toBe(false);
});

test('a server with nobody on it ends at once', async () => {
  await connections.close();
  expect(server.listening).toBe(false);
});
