import { expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aWorld, cached, lists, watches } from './informer-world.ts';

test('what exists is in the cache and reported before the informer counts as synced', async () => {
  const world = aWorld();
  world.api.put('a');
  expect(world.informer.hasSynced()).toBe(false);
  expect(world.informer.lastResourceVersion()).toBe('');
  await world.start();
  await world.informer.waitForSync();
  expect(world.seen).toEqual(['added a uid-1 initially']);
  expect(world.informer.get({ namespace: 'ns', name: 'a' })?.metadata.uid).toBe('uid-1');
  expect(world.informer.lastResourceVersion()).toBe('101');
});

test('changes arrive with the cache already updated', async () => {
  const world = aWorld();
  await world.start();
  world.api.put('a');
  world.api.put('a');
  await world.clock.settle();
  world.api.remove('a');
  await world.clock.settle();
  expect(world.seen).toEqual(['added a uid-1', 'updated a 101->102', 'deleted a uid-1']);
  expect(cached(world.informer)).toEqual([]);
  expect(world.informer.lastResourceVersion()).toBe('103');
});

test('managedFields are not kept', async () => {
  const world = aWorld();
  world.api.put('a');
  await world.start();
  expect(world.informer.list()[0]?.metadata.managedFields).toBeUndefined();
});

test('a long list comes in pages, and nothing of it is lost', async () => {
  const world = aWorld();
  for (let index = 0; index < 1203; index++) world.api.put(`pod-${index}`);
  await world.start();
  expect(cached(world.informer)).toHaveLength(1203);
  expect(world.api.requests.filter((request) => request.startsWith('GET'))).toHaveLength(3);
});

test('a page that takes long to be taken in is so a part at a time', async () => {
  const clock = new FakeClock();
  let workedMs = 0;
  const slow: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + workedMs,
    schedule: (callback, delayMs) => clock.schedule(callback, delayMs),
  };
  const transform = (pod: Pod): Pod => {
    workedMs++;
    return pod;
  };
  const world = aWorld({ clock: slow, transform });
  for (let index = 0; index < 100; index++) world.api.put(`pod-${index}`);
  const taken: number[] = [];
  const others = (): void => {
    taken.push(cached(world.informer).length);
    if (!world.informer.hasSynced()) clock.schedule(others, 0);
  };
  await world.start();
  others();
  await clock.advance(1);
  expect(taken).toEqual([20, 40, 60, 80, 100]);
});

test('a list whose continue token has expired is fetched again in one piece', async () => {
  const world = aWorld();
  for (let index = 0; index < 501; index++) world.api.put(`pod-${index}`);
  const realSend = world.api.send.bind(world.api);
  world.api.send = async (request) =>
    request.path.includes('continue=')
      ? { status: 410, headers: {}, body: '{"kind":"Status","reason":"Expired","code":410}' }
      : realSend(request);
  await world.start();
  expect(world.informer.hasSynced()).toBe(true);
  expect(cached(world.informer)).toHaveLength(501);
});

test('a watch that breaks is resumed from where it was, without a new list', async () => {
  const world = aWorld();
  world.api.put('a');
  await world.start();
  world.api.cutWatches(new Error('connection reset'));
  world.api.put('b');
  await world.clock.advance(2000);
  expect(cached(world.informer)).toEqual(['a', 'b']);
  expect(lists(world)).toHaveLength(1);
  expect(watches(world).at(-1)).toContain('resourceVersion=101&timeoutSeconds=');
});

test('a watch that the server ends after a while is resumed at once', async () => {
  const world = aWorld();
  await world.start();
  await world.clock.advance(5000);
  world.api.cutWatches();
  world.api.put('b');
  await world.clock.settle();
  expect(cached(world.informer)).toEqual(['b']);
});

test('after a bookmark a broken watch is resumed from the bookmark', async () => {
  const world = aWorld();
  world.api.put('a');
  await world.start();
  world.api.bookmark();
  await world.clock.settle();
  expect(world.informer.lastResourceVersion()).toBe('102');
  world.api.compact();
  world.api.cutWatches(new Error('connection reset'));
  await world.clock.advance(2000);
  expect(watches(world).at(-1)).toContain('resourceVersion=102');
  expect(world.seen).toEqual(['added a uid-1 initially']);
});

test('when the server has forgotten our place, a new list reports what was missed', async () => {
  const world = aWorld();
  for (const name of ['kept', 'changed', 'gone', 'replaced']) world.api.put(name);
  await world.start();
  world.seen.length = 0;
  world.api.cutWatches(new Error('connection reset'));
  world.api.put('changed');
  world.api.remove('gone');
  world.api.remove('replaced');
  world.api.put('replaced');
  world.api.put('new');
  world.api.compact();
  await world.clock.advance(10_000);
  expect([...world.seen].sort()).toEqual(
    [
      'updated changed 102->105',
      'deleted gone uid-3 unseen',
      'deleted replaced uid-4 unseen',
      'added replaced uid-5',
      'added new uid-6',
    ].sort(),
  );
  expect(world.seen.indexOf('deleted replaced uid-4 unseen')).toBeLessThan(world.seen.indexOf('added replaced uid-5'));
  expect(cached(world.informer)).toEqual(world.api.names());
});

test('an object deleted and recreated under its name is deleted, then added', async () => {
  const world = aWorld();
  world.api.put('a');
  await world.start();
  world.api.remove('a');
  world.api.put('a');
  await world.clock.settle();
  expect(world.seen).toEqual(['added a uid-1 initially', 'deleted a uid-1', 'added a uid-2']);
});

test('a handler that throws stops nobody', async () => {
  const world = aWorld();
  const names: string[] = [];
  world.informer.addHandler({
    added: () => {
      throw new Error('broken handler');
    },
  });
  world.informer.addHandler({ added: (pod) => names.push(pod.metadata.name) });
  world.api.put('a');
  await world.start();
  world.api.put('b');
  await world.clock.settle();
  expect(names).toEqual(['a', 'b']);
});

test('a server that is down is asked again with growing pauses until it is back', async () => {
  const world = aWorld();
  world.api.put('a');
  world.api.failNext(...Array.from({ length: 8 }, () => new Error('connect ECONNREFUSED')));
  await world.start();
  expect(world.informer.hasSynced()).toBe(false);
  const times: number[] = [];
  for (let second = 0; second < 200 && !world.informer.hasSynced(); second++) {
    const before = world.api.requests.length;
    await world.clock.advance(1000);
    if (world.api.requests.length > before) times.push(second);
  }
  expect(cached(world.informer)).toEqual(['a']);
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(31);
  expect(Math.max(...pauses)).toBeGreaterThan(5);
});

test('a server that throttles is left alone for as long as it asks', async () => {
  const world = aWorld();
  await world.start();
  world.api.failNext({ status: 503, headers: { 'retry-after': '20' }, body: '' });
  world.api.cutWatches(new Error('connection reset'));
  await world.clock.advance(2000);
  const asked = world.api.requests.length;
  await world.clock.advance(17_000);
  expect(world.api.requests).toHaveLength(asked);
  await world.clock.advance(5000);
  expect(world.api.openWatches()).toBe(1);
});

test('a version that the server never had, as after a restored backup, leads to a new list', async () => {
  const world = aWorld();
  await world.start();
  world.api.put('a');
  await world.clock.settle();
  const tooLarge = { kind: 'Status', code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } };
  world.api.failNext({ status: 504, headers: {}, body: JSON.stringify(tooLarge) });
  world.api.cutWatches(new Error('connection reset'));
  await world.clock.advance(5000);
  expect(world.api.requests.filter((request) => request.startsWith('GET'))).toHaveLength(2);
  expect(world.api.openWatches()).toBe(1);
});

test('a watch that goes silent is taken for dead and resumed', async () => {
  const world = aWorld();
  await world.start();
  await world.clock.advance(100_000);
  world.api.bookmark();
  await world.clock.advance(100_000);
  expect(world.api.requests.filter((request) => request.startsWith('WATCH'))).toHaveLength(1);
  await world.clock.advance(40_000);
  expect(world.api.requests.filter((request) => request.startsWith('WATCH'))).toHaveLength(2);
});

test('a watch that the server ends at once, again and again, does not become a hot loop', async () => {
  const world = aWorld();
  const realStream = world.api.stream.bind(world.api);
  world.api.stream = async (request) => {
    const stream = await realStream(request);
    world.api.cutWatches();
    return stream;
  };
  await world.start();
  await world.clock.advance(60_000);
  expect(world.api.requests.length).toBeLessThan(20);
});

test('events cut anywhere by the network are put together again', async () => {
  const world = aWorld();
  await world.start();
  const event = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'ä', namespace: 'ns', uid: 'u', resourceVersion: '200' } } });
  for (const character of `${event}\n`) world.api.sendRaw(character);
  await world.clock.settle();
  expect(world.seen).toEqual(['added ä u']);
});

test('indexes follow the objects', async () => {
  const world = aWorld({ indexers: { app: (pod) => (pod.metadata.labels?.app === undefined ? [] : [pod.metadata.labels.app]) } });
  world.api.put('a', { app: 'x' });
  world.api.put('b', { app: 'x' });
  await world.start();
  expect(world.informer.byIndex('app', 'x').map((pod) => pod.metadata.name)).toEqual(['a', 'b']);
  world.api.put('a', { app: 'y' });
  world.api.remove('b');
  await world.clock.settle();
  expect(world.informer.byIndex('app', 'x')).toEqual([]);
  expect(world.informer.byIndex('app', 'y').map((pod) => pod.metadata.name)).toEqual(['a']);
  expect(() => world.informer.byIndex('other', 'x')).toThrow('no index "other"');
});

test('stopped, it leaves neither a watch nor a timer behind', async () => {
  const world = aWorld();
  await world.start();
  expect(world.api.openWatches()).toBe(1);
  await world.stop();
  expect(world.clock.pendingTimers()).toBe(0);
  await expect(aWorld().informer.waitForSync(AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
});

test('whatever happens to the connection, the cache ends up like the server', async () => {
  const random = seededRandom(42);
  const world = aWorld();
  await world.start();
  const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
  for (let step = 0; step < 400; step++) {
    const name = names[Math.floor(random() * names.length)] ?? '';
    if (world.api.names().includes(name) && random() < 0.5) world.api.remove(name);
    else world.api.put(name);
    if (random() < 0.1) world.api.cutWatches(random() < 0.5 ? new Error('connection reset') : undefined);
    if (random() < 0.05) world.api.compact();
    if (random() < 0.05) world.api.bookmark();
    if (random() < 0.3) await world.clock.advance(Math.floor(random() * 3000));
  }
  await world.clock.advance(120_000);
  expect(cached(world.informer)).toEqual(world.api.names());
  const alive = new Set<string>();
  for (const [kind, name, uid] of world.seen.map((entry) => entry.split(' '))) {
    const identity = `${name} ${uid}`;
    if (kind === 'added') expect(alive.has(identity)).toBe(false);
    if (kind === 'added') alive.add(identity);
    if (kind === 'deleted') expect(alive.delete(identity)).toBe(true);
  }
  expect(alive.size).toBe(world.api.names().length);
});
