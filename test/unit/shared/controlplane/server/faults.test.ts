import { Agent, request as httpRequest } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Faults } from '../../../../../shared/controlplane/server/faults.ts';
import { WRITES } from '../../../../../shared/controlplane/server/faults.ts';
import { forbidden, tooManyRequests } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { aControlPlane, type Bench, CONFIG_MAPS, configMap, PODS, type Watched } from '../a-control-plane.ts';

let bench: Bench;
let faults: Faults;
beforeEach(async () => {
  bench = await aControlPlane();
  faults = bench.plane.faults;
});
afterEach(() => bench.plane.close());

const create = (name: string): ReturnType<Bench['call']> => bench.call('POST', CONFIG_MAPS, configMap(name));
const exists = async (name: string): Promise<boolean> => (await bench.call('GET', `${CONFIG_MAPS}/${name}`)).status === 200;
const named = (watched: Watched): string[] => watched.events.map(({ type, object }) => `${type} ${object.metadata.name}`);
const watchAll = (): Promise<Watched> => bench.watch(`${CONFIG_MAPS}?watch=1`);
/** A watch whose end is an error, with what came before it. */
const watchUntilBroken = async (): Promise<{ text: () => string; broken: Promise<unknown> }> => {
  const { chunks } = await bench.plane.transport().stream({ method: 'GET', path: `${CONFIG_MAPS}?watch=1`, headers: {} });
  let text = '';
  const reading = (async () => {
    for await (const chunk of chunks) text += chunk;
  })();
  return { text: () => text, broken: reading.catch((error: unknown) => error) };
};

describe('a refused request', () => {
  test('has no effect, and its answer is the error with when to come back', async () => {
    faults.add({ fault: { kind: 'refuse', error: tooManyRequests('slow down', 7) }, times: 1 });
    expect(await create('a')).toMatchObject({ status: 429, body: { reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } } });
    expect(await exists('a')).toBe(false);
    expect((await create('a')).status).toBe(201);
  });

  test('is one that the rule means: by verb, resource, namespace, name and user', async () => {
    const error = forbidden({ group: '', resource: 'configmaps' }, '', 'not now');
    const lift = faults.add({ verbs: WRITES, resources: ['configmaps'], namespaces: ['default'], fault: { kind: 'refuse', error } });
    expect((await create('a')).status).toBe(403);
    expect((await bench.call('GET', CONFIG_MAPS)).status).toBe(200);
    expect((await bench.call('POST', '/api/v1/namespaces/kube-system/configmaps', configMap('a'))).status).toBe(201);
    expect((await bench.call('DELETE', `${PODS}/none`)).status).toBe(404);
    lift();
    expect((await create('a')).status).toBe(201);
    faults.add({ users: ['somebody else'], fault: { kind: 'refuse', error } });
    faults.add({ resources: ['configmaps/status'], fault: { kind: 'refuse', error } });
    faults.add({ names: ['b'], fault: { kind: 'refuse', error } });
    expect((await bench.call('GET', `${CONFIG_MAPS}/a`)).status).toBe(200);
    expect((await bench.call('GET', `${CONFIG_MAPS}/b`)).status).toBe(403);
    faults.clear();
    expect((await bench.call('GET', `${CONFIG_MAPS}/b`)).status).toBe(404);
  });

  test('happens as often as the rate says', async () => {
    faults.add({ verbs: ['get'], rate: 0.3, fault: { kind: 'refuse', error: tooManyRequests('slow down', 1) } });
    await create('a');
    let refused = 0;
    for (let index = 0; index < 200; index++) if (!(await exists('a'))) refused++;
    expect(refused).toBeGreaterThan(40);
    expect(refused).toBeLessThan(80);
  });
});

describe('a broken connection', () => {
  test('that loses the request leaves no effect, one that loses the answer leaves all of it', async () => {
    faults.add({ times: 1, fault: { kind: 'lose-request' } });
    await expect(create('a')).rejects.toThrow('connection lost');
    expect(await exists('a')).toBe(false);
    faults.add({ verbs: ['create'], times: 1, fault: { kind: 'lose-answer' } });
    await expect(create('a')).rejects.toThrow('connection lost');
    expect(await exists('a')).toBe(true);
  });

  test('is a broken one over the network too', async () => {
    const { url, kubeconfig } = await bench.plane.listen({ plain: true });
    const dispatcher = new Agent();
    const headers = { authorization: `Bearer ${/token: (\S+)/.exec(kubeconfig)?.[1] ?? ''}` };
    const lift = faults.add({ verbs: ['list'], fault: { kind: 'lose-answer' } });
    await expect(httpRequest(url + CONFIG_MAPS, { dispatcher, headers })).rejects.toThrow('other side closed');
    lift();
    const { statusCode, body } = await httpRequest(`${url}${CONFIG_MAPS}?watch=1`, { dispatcher, headers });
    expect(statusCode).toBe(200);
    const reading = body.text();
    expect(faults.cutWatches({ resources: ['configmaps'] })).toBe(1);
    await expect(reading).rejects.toThrow();
    await dispatcher.destroy();
  });
});

test('a delayed request is carried out when its time has come', async () => {
  faults.add({ verbs: ['create'], fault: { kind: 'delay', ms: 500 } });
  const creating = create('a');
  await bench.clock.advance(499);
  expect(await exists('a')).toBe(false);
  await bench.clock.advance(1);
  expect((await creating).status).toBe(201);
});

describe('a watch', () => {
  test('is cut after its time, with everything before it delivered', async () => {
    faults.add({ verbs: ['watch'], fault: { kind: 'cut-watches', afterMs: 1000 } });
    const { text, broken } = await watchUntilBroken();
    await create('a');
    await bench.clock.advance(1000);
    expect(await broken).toBeInstanceOf(Error);
    expect(text()).toContain('"ADDED"');
  });

  test('is cut when told so, if it is among those meant', async () => {
    const { broken } = await watchUntilBroken();
    expect(faults.cutWatches({ resources: ['pods'] })).toBe(0);
    expect(faults.cutWatches()).toBe(1);
    expect(await broken).toBeInstanceOf(Error);
    expect(faults.cutWatches()).toBe(0);
  });

  test('that is held is stale, also when it was open before, and delivers in order when it is let go', async () => {
    const before = await watchAll();
    const lift = faults.add({ resources: ['configmaps'], fault: { kind: 'hold-watches' } });
    const after = await watchAll();
    await create('a');
    await create('b');
    await bench.clock.settle();
    expect([named(before), named(after)]).toEqual([[], []]);
    expect(await exists('b')).toBe(true);
    lift();
    await bench.clock.settle();
    expect(named(before)).toEqual(['ADDED a', 'ADDED b']);
    expect(named(after)).toEqual(['ADDED a', 'ADDED b']);
    await create('c');
    await bench.clock.settle();
    expect(named(before)).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
    for (const each of [before, after]) each.stop();
  });
});

describe('a black hole', () => {
  test('gives nothing back until its caller gives up', async () => {
    faults.add({ fault: { kind: 'black-hole' } });
    const giving = new AbortController();
    const transport = bench.plane.transport();
    const waiting = transport.send({ method: 'GET', path: CONFIG_MAPS, headers: {}, signal: giving.signal });
    giving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('swallows requests and events, and leaves broken connections when it closes', async () => {
    const { text, broken } = await watchUntilBroken();
    const lift = faults.add({ users: ['kubernetes-admin'], fault: { kind: 'black-hole' } });
    const creating = create('a').catch((error: unknown) => error);
    const other = bench.plane.transport({ name: 'other', groups: ['system:masters'] });
    const headers = { 'content-type': 'application/json' };
    const posted = await other.send({ method: 'POST', path: CONFIG_MAPS, headers, body: JSON.stringify(configMap('b')) });
    expect(posted.status).toBe(201);
    await bench.clock.advance(60_000);
    expect(text()).toBe('');
    lift();
    expect(await creating).toBeInstanceOf(Error);
    expect(await broken).toBeInstanceOf(Error);
    expect([await exists('a'), await exists('b')]).toEqual([false, true]);
  });
});
