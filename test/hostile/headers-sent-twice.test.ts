/**
 * The adversary reaches the dashboard through the sign-in proxy, and sends headers that the proxy sends as well, or some of them twice.
 * None of them may count beside another one.
 */
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import { serveTestDashboard, type ServedDashboard } from '../scenario/served-dashboard.ts';

let served: ServedDashboard;
beforeEach(async () => {
  served = await serveTestDashboard({
    proxy: { userHeader: 'x-forwarded-user', groupsHeader: 'x-forwarded-groups', from: createAddressRanges(['127.0.0.0/8']) },
  });
});
afterEach(() => served.close());

/** `headers` as they stand on the line, one after the other. */
function ask(headers: readonly (readonly [string, string])[], method = 'GET', path = '/api/v1/viewer', body = ''): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const lines = [['host', 'x'], ['content-length', String(body.length)], ...headers].flat();
  const asked = request(served.server.url + path, { method, headers: lines, agent: false }, (response) => {
    let text = '';
    response.on('data', (chunk) => (text += String(chunk)));
    response.once('end', () => resolve(`${response.statusCode} ${text}`));
  });
  asked.once('error', reject);
  asked.end(body);
  return promise;
}

/** All that is answered to these bytes on one connection, until its end. */
async function rawly(text: string): Promise<string> {
  const { hostname, port } = new URL(served.server.url);
  const socket = connect(Number(port), hostname);
  socket.end(text);
  let answers = '';
  for await (const chunk of socket) answers += String(chunk);
  return answers;
}

test('a header of groups that comes twice is refused, and no group of it counts', async () => {
  const groups = [
    ['x-forwarded-user', 'ann'],
    ['X-Forwarded-Groups', 'dev'],
    ['X-Forwarded-Groups', 'platform-admins'],
  ] as const;
  expect(await ask(groups)).toMatch(/^400 .*the header x-forwarded-groups comes 2 times/);
  expect(served.seen.asked).toBe(0);
  expect(await ask(groups.slice(0, 2))).toMatch(/^200 .*"name":"ann"/);
});

test('a header of the user that comes twice is refused, whichever comes first', async () => {
  for (const names of [
    ['ann', 'admin'],
    ['admin', 'ann'],
    ['ann', 'ann'],
    ['', 'admin'],
  ]) {
    expect(await ask(names.map((name) => ['X-Forwarded-User', name] as const))).toMatch(/^400 .*the header x-forwarded-user comes 2 times/);
  }
  expect(served.seen.asked).toBe(0);
});

test('a token that comes twice is refused, also beside the word of the proxy', async () => {
  const tokens = [
    ['authorization', 'Bearer ann'],
    ['authorization', 'Bearer admin'],
  ] as const;
  expect(await ask(tokens)).toMatch(/^400 .*the header authorization comes 2 times/);
  expect(await ask([['x-forwarded-user', 'ann'], ...tokens])).toMatch(/^400 /);
  expect(served.seen.asked).toBe(0);
});

test('a header of the user with underscores, or beside others that proxies know, is nobody', async () => {
  for (const name of ['X_Forwarded_User', 'x-forwarded_user', 'X-Remote-User', 'Remote-User', 'X-Forwarded-Preferred-Username'])
    expect(await ask([[name, 'admin']])).toMatch(/^401 /);
  expect(
    await ask([
      ['x-forwarded-user', 'ann'],
      ['X_Forwarded_User', 'admin'],
      ['X-Remote-Group', 'system:masters'],
    ]),
  ).toMatch(/^200 .*"name":"ann"/);
});

test('a request with two lengths is no request, and what hides behind it is not answered', async () => {
  const hidden = 'GET /api/v1/viewer HTTP/1.1\r\nhost: x\r\nx-forwarded-user: admin\r\n\r\n';
  for (const lengths of [
    ['content-length: 4', 'transfer-encoding: chunked'],
    ['content-length: 0', `content-length: ${hidden.length}`],
  ]) {
    const head = ['POST /api/v1/actions HTTP/1.1', 'host: x', 'x-forwarded-user: ann', ...lengths].join('\r\n');
    const answers = await rawly(`${head}\r\n\r\n0\r\n\r\n${hidden}`);
    expect(answers).toMatch(/^HTTP\/1.1 400 /);
    expect(answers).not.toContain('admin');
  }
  expect(served.seen.asked).toBe(0);
});

test('what a browser says of the asking site is not outvoted by a second header', async () => {
  const body = JSON.stringify({ action: 'Cancel', jobs: ['ann/hers'], count: 1 });
  const own = [
    ['authorization', 'Bearer admin'],
    ['content-type', 'application/json'],
    ['x-switchyard-dashboard', '1'],
  ] as const;
  const sites = [
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-origin'],
  ] as const;
  expect(await ask([...own, ...sites], 'POST', '/api/v1/actions', body)).toMatch(/^400 .*the header sec-fetch-site comes 2 times/);
  expect(await ask([['x-forwarded-user', 'admin'], ...sites])).toMatch(/^400 /);
});
