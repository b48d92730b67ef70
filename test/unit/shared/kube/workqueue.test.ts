import { expect, test } from 'vitest';
import { createWorkqueue, type Workqueue } from '../../../../shared/kube/workqueue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function aQueue(): { queue: Workqueue; clock: FakeClock } {
  const clock = new FakeClock();
  return { clock, queue: createWorkqueue({ name: 'test', clock, rateLimit: { baseDelayMs: 10, maxDelayMs: 1000 } }) };
}

async function takeAll(queue: Workqueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length() > 0) {
    const key = await queue.get();
    if (key !== undefined) keys.push(key);
    if (key !== undefined) queue.done(key);
  }
  return keys;
}

test('keys come out in the order of their arrival, each once however often it was added', async () => {
  const { queue } = aQueue();
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  expect(await takeAll(queue)).toEqual(['a', 'b', 'c']);
});

test('keys added in bulk wait behind those added one by one, at most eight of which in a row go first', async () => {
  const { queue } = aQueue();
  queue.addInBulk(['bulk-0', 'bulk-1', 'bulk-2']);
  for (let index = 0; index < 10; index++) queue.add(`key-${index}`);
  const order = await takeAll(queue);
  expect(order.slice(0, 9)).toEqual([...Array.from({ length: 8 }, (_, index) => `key-${index}`), 'bulk-0']);
  expect(order.slice(9)).toEqual(['key-8', 'key-9', 'bulk-1', 'bulk-2']);
});

test('a key that waits in bulk and is added by itself comes in its turn among those, once', async () => {
  const { queue } = aQueue();
  queue.addInBulk(['a', 'b', 'c']);
  queue.add('x');
  queue.add('b');
  queue.addInBulk(['b', 'x']);
  expect(await takeAll(queue)).toEqual(['x', 'b', 'a', 'c']);
});

test('a key that is processed as it is added in bulk waits again when that is done', async () => {
  const { queue } = aQueue();
  queue.add('a');
  const key = await queue.get();
  queue.addInBulk(['a', 'b']);
  expect([key, queue.length()]).toEqual(['a', 1]);
  queue.done('a');
  expect(await takeAll(queue)).toEqual(['a', 'b']);
});

test('a key added while it is processed waits again only when processing is done', async () => {
  const { queue } = aQueue();
  queue.add('a');
  expect(await queue.get()).toBe('a');
  queue.add('a');
  queue.add('a');
  expect(queue.length()).toBe(0);
  queue.done('a');
  expect(await takeAll(queue)).toEqual(['a']);
});

test('a getter that waits is served by the next add', async () => {
  const { queue } = aQueue();
  const next = queue.get();
  queue.add('a');
  expect(await next).toBe('a');
});

test('of several delays of one key the earliest counts', async () => {
  const { queue, clock } = aQueue();
  queue.addAfter('a', 100);
  queue.addAfter('a', 50);
  queue.addAfter('a', 200);
  queue.addAfter('b', 60);
  await clock.advance(49);
  expect(queue.length()).toBe(0);
  await clock.advance(11);
  expect(await takeAll(queue)).toEqual(['a', 'b']);
  await clock.advance(1000);
  expect(queue.length()).toBe(0);
});

test('many delayed keys come out by due time', async () => {
  const { queue, clock } = aQueue();
  const delays = Array.from({ length: 500 }, (_, index) => ((index * 7919) % 500) + 1);
  for (const delay of delays) queue.addAfter(`k${delay}`, delay);
  await clock.advance(1000);
  expect(await takeAll(queue)).toEqual([...delays].sort((x, y) => x - y).map((delay) => `k${delay}`));
});

test('thousands of keys that are due together do not keep one that is added by itself waiting', async () => {
  const { queue, clock } = aQueue();
  for (let index = 0; index < 5_000; index++) queue.addAfter(`late-${index}`, 1_000);
  await clock.advance(1_000);
  queue.add('one');
  expect(queue.length()).toBe(5_001);
  expect(await queue.get()).toBe('one');
  expect(await queue.get()).toBe('late-0');
});

test('rate-limited retries wait twice as long each time, up to a limit, until forgotten', async () => {
  const { queue, clock } = aQueue();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    const startMs = clock.now();
    queue.addRateLimited('a');
    while (queue.length() === 0) await clock.advance(5);
    waits.push(clock.now() - startMs);
    await takeAll(queue);
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
  expect(queue.numRequeues('a')).toBe(9);
  queue.forget('a');
  expect(queue.numRequeues('a')).toBe(0);
});

test('shut down, it hands out what is left and then undefined, and takes nothing new', async () => {
  const { queue, clock } = aQueue();
  queue.add('a');
  queue.addAfter('later', 10);
  queue.shutDown();
  queue.add('b');
  expect(await queue.get()).toBe('a');
  queue.done('a');
  expect(await queue.get()).toBeUndefined();
  await clock.advance(100);
  expect(queue.length()).toBe(0);
});

test('a key that was added again while processed is still handed out after shutdown', async () => {
  const { queue } = aQueue();
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.shutDown();
  const next = queue.get();
  queue.done('a');
  expect(await next).toBe('a');
});

test('a hundred thousand waiting keys are handed out in well under a second', async () => {
  const { queue } = aQueue();
  for (let index = 0; index < 100_000; index++) queue.add(`key-${index}`);
  let taken = 0;
  for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
    taken++;
    queue.done(key);
    if (queue.length() === 0) queue.shutDown();
  }
  expect(taken).toBe(100_000);
});

test('shut down, it keeps no timer for keys that were to come later, and hands them to nobody', async () => {
  const { queue, clock } = aQueue();
  queue.addAfter('a', 60_000);
  queue.addRateLimited('b');
  queue.shutDown();
  expect(clock.pendingTimers()).toBe(0);
  expect(await queue.get()).toBeUndefined();
});

test('keys of one lane do not wait for those of another, and one key is still worked on once at a time', async () => {
  const clock = new FakeClock();
  const laneOf = (key: string): number => (key.startsWith('small') ? 1 : 0);
  const queue = createWorkqueue({ name: 'test', clock, rateLimit: { baseDelayMs: 10, maxDelayMs: 1000 }, laneOf });
  for (const key of ['large-1', 'large-2', 'small-1']) queue.add(key);
  expect(await queue.get()).toBe('large-1');
  expect(await queue.get(1)).toBe('small-1');
  const next = queue.get(1);
  queue.add('small-1');
  queue.add('small-2');
  expect(await next).toBe('small-2');
  queue.done('small-1');
  expect(await queue.get(1)).toBe('small-1');
  for (const key of ['small-1', 'small-2', 'large-1']) queue.done(key);
  const idle = queue.get(1);
  queue.shutDown();
  expect(await queue.get()).toBe('large-2');
  queue.done('large-2');
  expect([await idle, await queue.get()]).toEqual([undefined, undefined]);
});
