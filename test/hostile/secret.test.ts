/**
 * The adversary writes the Secret with the kubeconfig of a worker cluster. They want the manager to read its own files, run programs, talk
 * to services that only it can reach, and to tell them what it found, or what stands in Secrets that they cannot read.
 */
import { createServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { createServer as createPlainServer } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClientFactory } from '../../manager/process/client-factory.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { readWorkerAccess } from '../../manager/dispatch/token/worker-access.ts';
import { renewableAccess } from '../../manager/dispatch/token/renewable-access.ts';
import { EVENTS, SECRETS } from '../../shared/api/resources.ts';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import { guardedConnector } from '../../shared/kube/guarded-connector.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createLogger } from '../../shared/runtime/pino-logger.ts';
import { createDispatchWorld, type DispatchWorld, type DispatchWorldOptions } from '../scenario/dispatch-world.ts';
import { TestAuthority, type TestCertificate } from '../support/certificates.ts';

/** What must turn up nowhere. It stands alone in lower case, as host names do. */
const CANARY = 'canary4f1c';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const pem = (what: string): string => base64(`-----BEGIN ${what}-----\n${CANARY}\n-----END ${what}-----\n`);

/** A kubeconfig that is allowed, but for what is given; every name and every value in it is a canary. */
function aKubeconfig(
  parts: { readonly cluster?: object; readonly user?: object; readonly context?: object; readonly top?: object } = {},
): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': `${CANARY}-context`,
    contexts: [
      { name: `${CANARY}-context`, context: { cluster: `${CANARY}-cluster`, user: `${CANARY}-user`, namespace: CANARY, ...parts.context } },
    ],
    clusters: [{ name: `${CANARY}-cluster`, cluster: { server: `https://${CANARY}.invalid/${CANARY}`, ...parts.cluster } }],
    users: [{ name: `${CANARY}-user`, user: { token: `${CANARY}-token`, ...parts.user } }],
    ...parts.top,
  });
}

/** What the adversary writes, and what the manager says to it. */
const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    'a file with a token',
    aKubeconfig({ user: { tokenFile: `/etc/${CANARY}` } }),
    /users\[0\]\.user\.tokenFile is not allowed in a Secret; write the token itself/,
  ],
  [
    'a file with a token, in the spelling of the client library',
    aKubeconfig({ user: { 'token-file': `/etc/${CANARY}` } }),
    /user\.token-file is not allowed/,
  ],
  [
    'a file with a certificate',
    aKubeconfig({ user: { 'client-certificate': `/${CANARY}` } }),
    /client-certificate is not allowed.* client-certificate-data/,
  ],
  ['a file with a key', aKubeconfig({ user: { 'client-key': `/${CANARY}` } }), /client-key is not allowed.* client-key-data/],
  ['a file with an authority', aKubeconfig({ cluster: { 'certificate-authority': `/${CANARY}` } }), /certificate-authority is not allowed/],
  [
    'a program',
    aKubeconfig({ user: { exec: { command: CANARY } } }),
    /exec is not allowed in a Secret; use a token or a client certificate/,
  ],
  ['an auth provider', aKubeconfig({ user: { 'auth-provider': { name: CANARY } } }), /auth-provider is not allowed/],
  ['a user name', aKubeconfig({ user: { username: CANARY } }), /username is not allowed/],
  ['a password', aKubeconfig({ user: { password: CANARY } }), /password is not allowed/],
  ['somebody to act as', aKubeconfig({ user: { as: CANARY } }), /user\.as is not allowed/],
  ['a uid to act as', aKubeconfig({ user: { 'as-uid': CANARY } }), /as-uid is not allowed/],
  ['groups to act as', aKubeconfig({ user: { 'as-groups': [CANARY] } }), /as-groups is not allowed/],
  ['extra fields to act with', aKubeconfig({ user: { 'as-user-extra': { [CANARY]: [CANARY] } } }), /as-user-extra is not allowed/],
  ['a proxy', aKubeconfig({ cluster: { 'proxy-url': `http://${CANARY}` } }), /proxy-url is not allowed/],
  ['no look at the certificate', aKubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }), /insecure-skip-tls-verify is not allowed/],
  ['http', aKubeconfig({ cluster: { server: `http://${CANARY}` } }), /clusters\[0\]\.cluster\.server is no https URL; write one/],
  ['another protocol', aKubeconfig({ cluster: { server: `file:///${CANARY}` } }), /server is no https URL/],
  ['a server that is no URL', aKubeconfig({ cluster: { server: CANARY } }), /server is no https URL/],
  ['no server', aKubeconfig({ cluster: { server: null } }), /server is no https URL/],
  [
    'a password in the URL',
    aKubeconfig({ cluster: { server: `https://${CANARY}:${CANARY}@a.test` } }),
    /server holds a user name or password/,
  ],
  ['a query in the URL', aKubeconfig({ cluster: { server: `https://a.test/?${CANARY}` } }), /server holds a query/],
  ['a server name that is none', aKubeconfig({ cluster: { 'tls-server-name': `${CANARY} ${CANARY}` } }), /tls-server-name is neither/],
  [
    'an authority that is no base64',
    aKubeconfig({ cluster: { 'certificate-authority-data': `${CANARY}!` } }),
    /certificate-authority-data is not base64/,
  ],
  [
    'an authority that is no PEM',
    aKubeconfig({ cluster: { 'certificate-authority-data': base64(CANARY) } }),
    /certificate-authority-data is no PEM/,
  ],
  [
    'a key that is none',
    aKubeconfig({ user: { 'client-certificate-data': pem('CERTIFICATE'), 'client-key-data': base64(CANARY) } }),
    /client-key-data is no PEM/,
  ],
  [
    'a key with a passphrase',
    aKubeconfig({ user: { 'client-certificate-data': pem('CERTIFICATE'), 'client-key-data': pem('ENCRYPTED PRIVATE KEY') } }),
    /client-key-data is no PEM file of the right kind, without a passphrase/,
  ],
  ['a certificate without a key', aKubeconfig({ user: { 'client-certificate-data': pem('CERTIFICATE') } }), /client-key-data is missing/],
  ['a key without a certificate', aKubeconfig({ user: { 'client-key-data': pem('PRIVATE KEY') } }), /client-certificate-data is missing/],
  ['a token of two lines', aKubeconfig({ user: { token: `${CANARY}\r\nx-${CANARY}: 1` } }), /token holds spaces, line breaks/],
  ['a token that is no text', aKubeconfig({ user: { token: { [CANARY]: CANARY } } }), /token is not text/],
  ['no credentials', aKubeconfig({ user: { token: '' } }), /users\[0\]\.user has no credentials/],
  [
    'a field of the user that nobody knows',
    aKubeconfig({ user: { [CANARY]: CANARY } }),
    /users\[0\]\.user has a field that is not allowed here; only these are: token,/,
  ],
  [
    'a field of the cluster that nobody knows',
    aKubeconfig({ cluster: { [CANARY]: CANARY } }),
    /clusters\[0\]\.cluster has a field that is not allowed/,
  ],
  [
    'a field of the context that nobody knows',
    aKubeconfig({ context: { [CANARY]: CANARY } }),
    /contexts\[0\]\.context has a field that is not allowed/,
  ],
  ['a context that is not there', aKubeconfig({ top: { 'current-context': CANARY } }), /current-context names no entry of contexts/],
  ['no context', aKubeconfig({ top: { 'current-context': '' } }), /current-context is not set/],
  ['a context that is no text', aKubeconfig({ top: { 'current-context': [CANARY] } }), /current-context is not text/],
  [
    'a cluster that is not there',
    aKubeconfig({ context: { cluster: `${CANARY}-other` } }),
    /cluster of the current context names no entry of clusters/,
  ],
  ['no user', aKubeconfig({ context: { user: null } }), /user of the current context is not set/],
  [
    'two users of one name',
    aKubeconfig({ top: { users: [1, 2].map(() => ({ name: `${CANARY}-user`, user: { token: CANARY } })) } }),
    /is the name of several entries of users/,
  ],
  ['users that are no list', aKubeconfig({ top: { users: CANARY } }), /users is not a list/],
  ['a user that is no mapping', aKubeconfig({ top: { users: [CANARY] } }), /users\[0\] is not a YAML mapping/],
  ['another kind', aKubeconfig({ top: { kind: CANARY } }), /kind is not Config/],
  ['a text', CANARY, /not a YAML mapping/],
  ['nothing', '', /current-context is not set/],
  ['broken YAML', `users:\n- user: {token: ${CANARY}\n  ${CANARY}: [`, /is not YAML \(\w+ in line \d+, column \d+\)/],
  ['a token with a tab before it', `current-context: a\n\ttoken: ${CANARY}`, /is not YAML/],
  ['one key twice', `${CANARY}: 1\n${CANARY}: 2`, /is not YAML/],
  ['an anchor that is not there', `users: *${CANARY}`, /is not YAML|aliases cannot be resolved/],
  ['aliases without end', aliasBomb(), /aliases cannot be resolved/],
  ['a tag that nobody knows', `users: !${CANARY} ${CANARY}`, /current-context is not set/],
  ['a mapping as a key', `? {${CANARY}: ${CANARY}}\n: ${CANARY}`, /current-context is not set/],
  ['a hundred thousand brackets', '['.repeat(100_000), /nested too deeply|is not YAML/],
  ['half a megabyte', `${aKubeconfig()}\n# ${CANARY.repeat(50_000)}`, /is longer than 131072 characters/],
];

function aliasBomb(): string {
  const levels = Array.from({ length: 12 }, (_each, level) => `k${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`);
  return [`k0: &a0 ${CANARY}`, ...levels].join('\n');
}

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

type Watched = {
  readonly world: DispatchWorld;
  secret(name: string, text: string): Promise<void>;
  cluster(name: string): Promise<WorkerCluster>;
  said(): Promise<string>;
};

/** A manager of which everything that it says is kept. */
async function aWatchedManager(
  options: Pick<DispatchWorldOptions, 'realTime'> & { readonly denied?: readonly string[] } = {},
): Promise<Watched> {
  let logged = '';
  const log = createLogger('debug', { write: (line: string) => void (logged += line) });
  const registry = new Registry();
  const clientOver = createClientFactory({ registry, clock: systemClock });
  const denied = createAddressRanges(options.denied ?? []);
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(String(warning));
  process.on('warning', onWarning);
  const world = await createDispatchWorld({
    workers: [],
    log,
    registry,
    ...options,
    connectCluster: (_name, access) => clientOver(createHttpTransport(access, log, denied), access, { qps: 0, burst: 1 }),
  });
  cleanups.push(async () => {
    await world.close();
    process.off('warning', onWarning);
  });
  return {
    world,
    async secret(name, text) {
      await world.home.create(SECRETS, { metadata: { name, namespace: 'switchyard' }, data: { kubeconfig: base64(text) } });
      const spec = { kubeconfigSecretRef: { namespace: 'switchyard', name } };
      await world.home.create(WORKER_CLUSTERS, { metadata: { name }, spec });
    },
    cluster: (name) => world.home.get(WORKER_CLUSTERS, { namespace: '', name }),
    async said() {
      const clusters = await world.home.list(WORKER_CLUSTERS);
      const events = await world.home.list(EVENTS);
      return [JSON.stringify(clusters.items), JSON.stringify(events.items), logged, await registry.metrics(), ...warnings].join('\n');
    },
  };
}

const readiness = ({ status }: WorkerCluster) => status?.conditions?.find(({ type }) => type === 'Ready');

describe('in the Secret of a worker cluster', () => {
  test.each(REFUSED)('%s is refused, with the remedy and without a word of the Secret', (_what, text, problem) => {
    const failure = failureOf(() => readWorkerAccess(text));
    expect(failure.message).toMatch(problem);
    expect(failure.cause).toBeUndefined();
    expect(`${failure.message} ${failure.stack}`).not.toMatch(canary());
  });

  test('ten times as many fields take about ten times as long', () => {
    const costOf = (fields: number): number => {
      const text = Array.from({ length: fields }, (_each, index) => `k${index}: 1`).join('\n');
      const runs = [1, 2, 3].map(() => {
        const before = process.cpuUsage();
        failureOf(() => readWorkerAccess(text));
        const { user, system } = process.cpuUsage(before);
        return user + system;
      });
      return Math.min(...runs);
    };
    const many = costOf(10_000);
    // Each compared with each, it would be a hundred times.
    expect(many).toBeLessThan(50 * Math.max(1_000, costOf(1_000)));
  });

  test('whatever stands there is told in no condition, log, event, metric or warning', async () => {
    const manager = await aWatchedManager();
    for (const [index, [, text]] of REFUSED.entries()) await manager.secret(`bad-${index}`, text);
    await manager.world.settle(2_000);
    for (const [index, [what, , problem]] of REFUSED.entries()) {
      const ready = readiness(await manager.cluster(`bad-${index}`));
      expect(ready, what).toMatchObject({ status: 'False', reason: 'KubeconfigInvalid' });
      expect(ready?.message, what).toMatch(problem);
    }
    expect(await manager.said()).not.toMatch(canary());
  });

  test('entries that the current context does not name are not looked into', () => {
    const other = { name: 'other', user: { exec: { command: 'sh' }, token: ['no', 'text'] } };
    const users = [other, { name: `${CANARY}-user`, user: { token: 't' } }, { name: 17 }];
    expect(readWorkerAccess(aKubeconfig({ top: { users } }))).toEqual({
      endpoint: { server: `https://${CANARY}.invalid/${CANARY}` },
      credentials: { token: 't' },
    });
  });

  test('what kubectl writes beside the credentials is passed over', () => {
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { command: 'sh' } }];
    const cluster = { extensions, 'insecure-skip-tls-verify': false, 'proxy-url': '', 'certificate-authority': null };
    expect(readWorkerAccess(aKubeconfig({ cluster, user: { exec: null }, top: { preferences: {} } })).credentials).toEqual({
      token: `${CANARY}-token`,
    });
  });
});

let authority: TestAuthority;
let certificate: TestCertificate;
beforeAll(async () => {
  authority = await TestAuthority.create();
  certificate = await authority.sign('server', ['127.0.0.1', 'localhost']);
});

/** A server inside, which the adversary cannot reach. */
async function aServer(answer: {
  readonly status: number;
  readonly headers?: Record<string, string>;
}): Promise<{ port: number; connections(): number }> {
  let connections = 0;
  const server: Server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (_request, response) =>
    response.writeHead(answer.status, answer.headers).end('{"gitVersion":"v1"}'),
  );
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** What a manager gets that connects as such a Secret says. */
async function ask(server: string, denied: readonly string[]): Promise<string> {
  const cluster = { server, 'certificate-authority-data': base64(authority.certPem) };
  const access = renewableAccess('east', readWorkerAccess(aKubeconfig({ cluster })), () => undefined);
  const client = createClientFactory({ registry: new Registry(), clock: systemClock })(
    createHttpTransport(access, silentLogger, createAddressRanges(denied)),
    access,
    { qps: 0, burst: 1 },
  );
  onTestFinished(() => client.close());
  return client.raw({ method: 'GET', path: '/version' });
}

describe('the address of a worker cluster', () => {
  test.each([
    'https://127.0.0.1:PORT',
    'https://localhost:PORT',
    'https://LocalHost:PORT',
    'https://127.1:PORT',
    'https://2130706433:PORT',
    'https://0x7f000001:PORT',
    'https://0177.0.0.1:PORT',
    'https://0.0.0.0:PORT',
    'https://[::1]:PORT',
    'https://[::]:PORT',
    'https://[::ffff:127.0.0.1]:PORT',
    'https://[0:0:0:0:0:ffff:7f00:1]:PORT',
    'https://[::ffff:0.0.0.0]:PORT',
  ])('that is denied is not dialled, however it is written: %s', async (url) => {
    const server = await aServer({ status: 200 });
    const failure = await ask(url.replace('PORT', String(server.port)), LOOPBACK).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      cause: { name: 'AddressDeniedError', message: expect.stringMatching(/is in (127\.0\.0\.0\/8|::1\/128), which is denied/) },
    });
    expect(server.connections()).toBe(0);
  });

  test('that is not denied is dialled', async () => {
    const server = await aServer({ status: 200 });
    expect(await ask(`https://localhost:${server.port}`, ['169.254.0.0/16', 'fe80::/10'])).toBe('{"gitVersion":"v1"}');
  });

  test.each([
    ['with the denied address second', [['127.0.0.1', '127.0.0.2']], 0],
    ['with another answer when it is asked again', [['127.0.0.1'], ['127.0.0.2']], 1],
  ])('is judged by the very answer that is dialled, for a name %s', async (_what, answers, reached) => {
    let connections = 0;
    const server = createPlainServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    let lookups = 0;
    const lookup: LookupFunction = (_hostname, _options, callback) => {
      const addresses = answers[Math.min(lookups++, answers.length - 1)] ?? [];
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    };
    const dial = guardedConnector({}, createAddressRanges(['127.0.0.2/32']), lookup);
    const { port } = server.address() as AddressInfo;
    const connect = (): Promise<unknown> =>
      new Promise((resolve) =>
        dial({ hostname: 'rebind.test', host: 'rebind.test', protocol: 'http:', port: String(port) }, (error, socket) => {
          socket?.destroy();
          resolve(error ?? 'connected');
        }),
      );
    for (let count = 0; count < reached; count++) expect(await connect()).toBe('connected');
    expect(await connect()).toMatchObject({ name: 'AddressDeniedError' });
    expect(lookups).toBe(reached + 1);
    await expect.poll(() => connections, { timeout: 30_000 }).toBe(reached);
  });

  test('is not changed by a redirect, which is an answer that nobody follows', async () => {
    const inside = await aServer({ status: 200 });
    const location = `https://127.0.0.1:${inside.port}/${CANARY}`;
    for (const status of [301, 302, 307, 308]) {
      const outside = await aServer({ status, headers: { location } });
      await expect(ask(`https://127.0.0.1:${outside.port}`, [])).rejects.toMatchObject({ code: status });
    }
    expect(inside.connections()).toBe(0);
  });

  test('that is denied, or leads nowhere, is a condition with the reason, and stands nowhere', async () => {
    const manager = await aWatchedManager({ realTime: true, denied: ['169.254.0.0/16', '127.0.0.2/32'] });
    const server = await aServer({ status: 200 });
    await manager.secret('metadata', aKubeconfig({ cluster: { server: `https://169.254.169.254/${CANARY}` } }));
    await manager.secret(
      'untrusted',
      aKubeconfig({ cluster: { server: `https://127.0.0.1:${server.port}/${CANARY}`, 'tls-server-name': `${CANARY}.test` } }),
    );
    const trusted = {
      server: `https://127.0.0.1:${server.port}/${CANARY}`,
      'tls-server-name': `${CANARY}.test`,
      'certificate-authority-data': base64(authority.certPem),
    };
    await manager.secret('misnamed', aKubeconfig({ cluster: trusted }));
    await manager.secret('closed', aKubeconfig({ cluster: { server: `https://127.0.0.1:1/${CANARY}` } }));
    const garbled = { 'client-certificate-data': pem('CERTIFICATE'), 'client-key-data': pem('PRIVATE KEY') };
    await manager.secret('garbled', aKubeconfig({ cluster: { server: `https://127.0.0.1:${server.port}` }, user: garbled }));
    const expected: Readonly<Record<string, readonly [string, RegExp]>> = {
      metadata: [
        'AddressDenied',
        /in 169\.254\.0\.0\/16, which is denied; give another server, or permit that range with the manager's flag --worker-address-deny$/,
      ],
      untrusted: ['ConnectionFailed', /^the certificate of its server is not trusted; look at .* \([A-Z_]+\)$/],
      misnamed: ['ConnectionFailed', /^the certificate of its server is not trusted.*ALTNAME/],
      closed: ['ConnectionFailed', /^the connection was refused \(ECONNREFUSED\)$/],
      garbled: ['ConnectionFailed', /^TLS failed; look at certificates and keys of the kubeconfig \(ERR_OSSL\w+\)$/],
    };
    for (const [name, [reason, message]] of Object.entries(expected)) {
      await expect.poll(async () => readiness(await manager.cluster(name))?.reason, { timeout: 50_000, interval: 200 }).toBe(reason);
      expect(readiness(await manager.cluster(name))).toMatchObject({ status: 'False', message: expect.stringMatching(message) });
    }
    const said = await manager.said();
    expect(said).toContain('rest_client_requests_total{code="<error>",method="GET",host="metadata",cluster="metadata"}');
    expect(said).not.toMatch(canary());
  });
});

function failureOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it was not refused');
}

/** In clear, and in base64 wherever it begins. */
function canary(): RegExp {
  const shifted = [0, 1, 2].map((offset) => base64('-'.repeat(offset) + CANARY).slice(offset === 0 ? 0 : 4, 12));
  return new RegExp([CANARY, ...shifted].join('|'), 'i');
}
