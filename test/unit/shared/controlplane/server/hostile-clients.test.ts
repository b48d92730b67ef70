import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createControlPlane, type ControlPlane } from '../../../../../shared/controlplane/control-plane.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { type Logger, silentLogger } from '../../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { aControlPlane, CONFIG_MAPS, configMap, JOBS, MERGE } from '../a-control-plane.ts';

const unforeseen: unknown[] = [];
const log: Logger = { ...silentLogger, error: (message, fields) => unforeseen.push({ message, ...fields }), with: () => log };
afterEach(() => expect(unforeseen.splice(0)).toEqual([]));

const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const YAML = { 'content-type': 'application/yaml' };

describe('a document that is made to hurt', () => {
  test('is refused when it nests too deeply, whatever it comes as', async () => {
    const { call } = await aControlPlane({ log });
    await call('POST', CONFIG_MAPS, configMap('c'));
    for (const depth of [1001, 20_000, 200_000]) {
      const deep = `{"metadata":${nested('{"a":', '}', depth).replace('":}', '":1}')}}`;
      const deepList = `{"metadata":{"labels":${nested('[', ']', depth)}}}`;
      for (const body of [deep, deepList]) {
        expect([400, 422]).toContain((await call('POST', CONFIG_MAPS, body)).status);
        expect([400, 422]).toContain((await call('PATCH', `${CONFIG_MAPS}/c`, body, MERGE)).status);
        expect([400, 422]).toContain((await call('PATCH', `${CONFIG_MAPS}/c?fieldManager=m`, body, APPLY)).status);
        expect([400, 422]).toContain((await call('POST', CONFIG_MAPS, body, YAML)).status);
        expect((await call('DELETE', `${CONFIG_MAPS}/none`, body)).status).toBe(400);
      }
      const operation = `[{"op":"add","path":"/data","value":${nested('[', ']', depth)}}]`;
      expect((await call('PATCH', `${CONFIG_MAPS}/c`, operation, JSON_PATCH)).status).toBe(400);
      expect((await call('POST', CONFIG_MAPS, nested('- ', '', Math.min(depth, 5000)), YAML)).status).toBe(400);
    }
    expect((await call('GET', `${CONFIG_MAPS}/c`)).status).toBe(200);
  });

  test('is refused when its patch doubles itself', async () => {
    const { call } = await aControlPlane({ log });
    await call('POST', CONFIG_MAPS, configMap('c', { data: { a: 'x'.repeat(1000) } }));
    const doubling = Array.from({ length: 40 }, (_, round) => ({ op: 'copy', from: '/data', path: `/data/${round}` }));
    expect((await call('PATCH', `${CONFIG_MAPS}/c`, doubling, JSON_PATCH)).status).toBe(422);
  });

  test('is refused when its aliases multiply', async () => {
    const { call } = await aControlPlane({ log });
    const levels = Array.from(
      { length: 12 },
      (_, level) =>
        `l${level}: &l${level} [${Array(10)
          .fill(`*l${level - 1}`)
          .join(', ')}]`,
    );
    const bomb = ['l: &l-1 x', ...levels].join('\n').replaceAll('l-1', 'base');
    expect((await call('POST', CONFIG_MAPS, bomb, YAML)).status).toBe(400);
  });

  test('reaches no prototype through the path of a scale', async () => {
    const { call, clock } = await aControlPlane({ log });
    const scale = { specReplicasPath: '.spec.__proto__.polluted', statusReplicasPath: '.status.constructor.prototype.polluted' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const version = { name: 'v1', served: true, storage: true, schema, subresources: { scale } };
    const names = { plural: 'widgets', kind: 'Widget' };
    await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions: [version] },
    });
    await clock.advance(1000);
    await call('POST', '/apis/example.com/v1/widgets', { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: {} });
    await call('PATCH', '/apis/example.com/v1/widgets/w/scale', { spec: { replicas: 7 } }, MERGE);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('with keys that every object inherits is an object like any other', async () => {
    const { call } = await aControlPlane({ log });
    const body = '{"metadata":{"name":"c","labels":{"__proto__":"a","constructor":"b"}},"data":{"__proto__":"x","toString":"y"}}';
    const { text, status } = await call('POST', CONFIG_MAPS, body);
    expect(status).toBe(422);
    expect(text).toContain('__proto__');
    const patch = '{"data":{"toString":"z"},"metadata":{"annotations":{"constructor":"b"}}}';
    await call('POST', CONFIG_MAPS, configMap('d'));
    expect((await call('PATCH', `${CONFIG_MAPS}/d`, patch, MERGE)).body).toMatchObject({ data: { toString: 'z' } });
    expect((await call('GET', `${CONFIG_MAPS}?labelSelector=constructor`)).body['items']).toEqual([]);
    expect((await call('GET', `${JOBS}?labelSelector=toString=x`)).body['items']).toEqual([]);
  });

  test('may ask for a grace period beyond the end of time', async () => {
    const { call } = await aControlPlane({ log });
    const spec = { nodeName: 'n', restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
    await call('POST', '/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
    const { status, body } = await call('DELETE', '/api/v1/namespaces/default/pods/p', { gracePeriodSeconds: 2 ** 53 });
    expect([status, body.metadata.deletionTimestamp]).toEqual([200, '9999-12-31T23:59:59Z']);
  });
});

describe('a connection that is no good', () => {
  let plane: ControlPlane;
  let port = 0;
  let token = '';
  beforeEach(async () => {
    plane = await createControlPlane({ clock: systemClock, random: seededRandom(1), log });
    const { url, kubeconfig } = await plane.listen({ plain: true });
    port = Number(new URL(url).port);
    token = /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';
  });
  afterEach(() => plane.close());

  /** What comes back until the server hangs up, or nothing more comes for a while. */
  const say = async (text: string | Buffer, patienceMs = 200): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(text);
    const patience = systemClock.schedule(() => socket.destroy(), patienceMs);
    await closed;
    patience.cancel();
    return heard;
  };
  const post = (headers: string, body: string): string =>
    `POST ${CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n${body}`;
  // It hangs up when it has answered, so that patience costs nothing.
  const serves = async (): Promise<boolean> =>
    (await say(`GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, 30_000)).startsWith('HTTP/1.1 200');

  test.each([
    ['bytes that are no HTTP', '\u0000\u0001\u00ff garbage\r\n\r\n'],
    ['a request line without end', `GET /${'a'.repeat(100_000)}`],
    ['a method that does not exist', `BREW /api/v1/pods HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['headers without end', `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(10_000)}`],
    ['a target that is no path', `GET http://[::1:99999/%%% HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a target that only options may have', `OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a tunnel', `CONNECT 10.0.0.1:443 HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['an upgrade', `GET /api/v1/pods HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`],
  ])('%s: the server serves on', async (_, text) => {
    await say(text);
    expect(await serves()).toBe(true);
  });

  test('chunks that are none are refused, and nothing of them is stored', async () => {
    const heard = await say(post('transfer-encoding: chunked', 'zz\r\n{"metadata":{"name":"c"}}\r\n0\r\n\r\n'));
    expect(heard).not.toContain(' 201 ');
    expect(await serves()).toBe(true);
  });

  test('a body that never ends in time is not stored', async () => {
    await say(post('content-length: 1000', '{"metadata":{"name":"c"}}'));
    const heard = await say(
      `GET ${CONFIG_MAPS}/c HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`,
      30_000,
    );
    expect(heard).toContain(' 404 ');
  });

  test('a chunked body without end is refused once it is too large, and the memory stays', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const heard = await say(post('transfer-encoding: chunked', chunk.repeat(64) + '0\r\n\r\n'), 10_000);
    expect(heard).toContain(' 413 ');
    expect(await serves()).toBe(true);
  });

  test('a watcher that never reads hurts nobody', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET ${CONFIG_MAPS}?watch=1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    const transport = plane.transport();
    for (let index = 0; index < 50; index++) {
      const body = JSON.stringify(configMap(`c-${index}`, { data: { a: 'x'.repeat(100_000) } }));
      const { status } = await transport.send({ method: 'POST', path: CONFIG_MAPS, headers: { 'content-type': 'application/json' }, body });
      expect(status).toBe(201);
    }
    expect(await serves()).toBe(true);
    socket.destroy();
  });
});
