import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { type Reconcile, runController, TerminalError } from '../../../../shared/kube/controller.ts';
import { createControllerExpectations, createFinalizerExpectations } from '../../../../shared/kube/expectations.ts';
import { createWorkqueue, type Workqueue } from '../../../../shared/kube/workqueue.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function running(reconcile: Reconcile, concurrency = 1, log = silentLogger): { queue: Workqueue; clock: FakeClock; ended: Promise<void> } {
  const clock = new FakeClock();
  const queue = createWorkqueue({ name: 'test', clock, rateLimit: { baseDelayMs: 1000, maxDelayMs: 10_000 } });
  return { queue, clock, ended: runController({ name: 'test', queue, concurrency, reconcile, log }) };
}

describe('a controller', () => {
  test('retries a key that fails, with growing pauses, until it succeeds', async () => {
    const atSeconds: number[] = [];
    const world = running(async () => {
      atSeconds.push((world.clock.now() - startMs) / 1000);
      if (atSeconds.length < 4) throw atSeconds.length === 1 ? new ApiError(409, { reason: 'Conflict' }) : new Error('not yet');
    });
    const startMs = world.clock.now();
    world.queue.add('a');
    await world.clock.advance(60_000);
    expect(atSeconds).toEqual([0, 1, 3, 7]);
    expect(world.queue.numRequeues('a')).toBe(0);
  });

  test('comes back after the time a reconcile asks for', async () => {
    const atMs: number[] = [];
    const world = running(async () => {
      atMs.push(world.clock.now() - startMs);
      return atMs.length < 3 ? { requeueAfterMs: 500 } : undefined;
    });
    const startMs = world.clock.now();
    world.queue.add('a');
    await world.clock.advance(5000);
    expect(atMs).toEqual([0, 500, 1000]);
  });

  test('does not retry what no retry can mend', async () => {
    let runs = 0;
    const world = running(async () => {
      runs++;
      throw new TerminalError('bad spec');
    });
    world.queue.add('a');
    await world.clock.advance(60_000);
    expect(runs).toBe(1);
  });

  test('works on several keys at once, and never twice on one', async () => {
    const inHand = new Set<string>();
    let most = 0;
    const world = running(async (key) => {
      expect(inHand.has(key)).toBe(false);
      inHand.add(key);
      most = Math.max(most, inHand.size);
      await new Promise<void>((resolve) => world.clock.schedule(resolve, 10));
      inHand.delete(key);
    }, 3);
    for (const key of ['a', 'b', 'c', 'd', 'a', 'b']) world.queue.add(key);
    await world.clock.advance(5);
    for (const key of ['a', 'b']) world.queue.add(key);
    await world.clock.advance(1000);
    expect(most).toBe(3);
  });

  test('with very many keys that ask for nothing lets others go on', async () => {
    let reconciled = 0;
    const world = running(async () => void reconciled++, 32);
    for (let index = 0; index < 1_500; index++) world.queue.add(`key-${index}`);
    const turns: number[] = [];
    while (reconciled < 1_500) {
      await new Promise((resolve) => void setImmediate(resolve));
      turns.push(reconciled);
    }
    expect(Math.max(...turns.map((after, index) => after - (turns[index - 1] ?? 0)))).toBeLessThan(60);
    world.queue.shutDown();
    await world.ended;
  });

  test('ends when its queue is shut down, after the reconcile in hand', async () => {
    const done: string[] = [];
    const world = running(async (key) => {
      await new Promise<void>((resolve) => world.clock.schedule(resolve, 100));
      done.push(key);
    });
    world.queue.add('a');
    await world.clock.settle();
    world.queue.shutDown();
    let ended = false;
    void world.ended.then(() => (ended = true));
    await world.clock.advance(50);
    expect(ended).toBe(false);
    await world.clock.advance(100);
    expect(ended).toBe(true);
    expect(done).toEqual(['a']);
  });
});

test('what fails because its controller was told to end is no error', async () => {
  const told: string[] = [];
  const log = { ...silentLogger, info: () => void told.push('info'), error: () => void told.push('error') };
  const stopped = Promise.withResolvers<void>();
  const world = running(() => stopped.promise, 1, log);
  world.queue.add('a');
  await world.clock.settle();
  world.queue.shutDown();
  stopped.reject(new Error('the program ends'));
  await world.ended;
  expect(told).toEqual(['info']);
});

describe('controller expectations', () => {
  test('hold until everything asked for was seen', () => {
    const expectations = createControllerExpectations(new FakeClock());
    expect(expectations.satisfied('job')).toBe(true);
    expectations.expectCreations('job', 2);
    expectations.creationObserved('job');
    expect(expectations.satisfied('job')).toBe(false);
    expectations.creationObserved('job');
    expect(expectations.satisfied('job')).toBe(true);
    expectations.expectDeletions('job', 1);
    expectations.deletionObserved('job');
    expectations.deletionObserved('job');
    expect(expectations.satisfied('job')).toBe(true);
  });

  test('give up waiting after five minutes, and are forgotten with their Job', async () => {
    const clock = new FakeClock();
    const expectations = createControllerExpectations(clock);
    expectations.expectCreations('job', 1);
    await clock.advance(300_000);
    expect(expectations.satisfied('job')).toBe(false);
    await clock.advance(1);
    expect(expectations.satisfied('job')).toBe(true);
    expectations.expectCreations('job', 1);
    expectations.forget('job');
    expect(expectations.satisfied('job')).toBe(true);
  });
});

test('finalizer expectations name the pods whose finalizer is on its way out', () => {
  const expectations = createFinalizerExpectations();
  expectations.expectRemoval('job', ['a', 'b']);
  expectations.expectRemoval('job', ['c']);
  expectations.removalObserved('job', 'a');
  expectations.removalObserved('job', 'unknown');
  expect([...expectations.pending('job')]).toEqual(['b', 'c']);
  expect(expectations.pending('other').size).toBe(0);
  expectations.forget('job');
  expect(expectations.pending('job').size).toBe(0);
});
