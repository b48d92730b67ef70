import { expect, test } from 'vitest';
import { createTrafficPace } from '../../../../shared/kube/traffic-pace.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const MIB = 1024 * 1024;

function aPace() {
  const clock = new FakeClock();
  let heldBackMs = 0;
  const pace = createTrafficPace({ clock, bytesPerSecond: MIB, burstBytes: 8 * MIB, onHeldBack: (ms) => (heldBackMs += ms) });
  /** Milliseconds until the server is listened to again. */
  const waitMs = async (): Promise<number> => {
    const startedMs = clock.now();
    let done = false;
    void (async () => {
      await pace.settled();
      done = true;
    })();
    await clock.settle();
    while (!done) await clock.advance(50);
    return clock.now() - startedMs;
  };
  return { clock, pace, waitMs, heldBackMs: () => heldBackMs };
}

test('what comes at first is taken as fast as it comes', async () => {
  const { pace, waitMs } = aPace();
  pace.received(8 * MIB, 0);
  expect(pace.settled()).toBeUndefined();
  expect(await waitMs()).toBe(0);
});

test('what is more is paid for with time', async () => {
  const { pace, waitMs, heldBackMs } = aPace();
  pace.received(10 * MIB, 0);
  expect(await waitMs()).toBe(2_000);
  expect(heldBackMs()).toBe(2_000);
});

test('many small events cost as much as a few large ones', async () => {
  const { pace, waitMs } = aPace();
  pace.received(100_000, 1_000 + 256);
  expect(await waitMs()).toBeGreaterThan(1_500);
});

test('whoever was written to may answer: the same traffic is not held back', async () => {
  const { pace, waitMs } = aPace();
  for (let jobs = 0; jobs < 500; jobs++) {
    // A create, an update and a delete of a Job of 10 KiB, and eight events of it.
    for (let writes = 0; writes < 3; writes++) pace.wrote(10_240);
    pace.received(11 * 10_240, 8);
  }
  expect(await waitMs()).toBe(0);
});

test('a wait ends when it is not needed any more', async () => {
  const { clock, pace } = aPace();
  pace.received(100 * MIB, 0);
  const abort = new AbortController();
  const waiting = pace.settled(abort.signal);
  await clock.advance(1_000);
  abort.abort();
  await waiting;
  expect(pace.settled()).toBeDefined();
});
