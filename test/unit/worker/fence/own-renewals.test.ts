import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createOwnRenewals, renewEveryMsOf } from '../../../../worker/fence/own-renewals.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let stopping = new AbortController();
afterEach(() => {
  stopping.abort(new Error('the test is over'));
  stopping = new AbortController();
});

/** A Lease whose server takes so long for an answer; Infinity: for ever. */
function renewalsOf(answerMs: number, fenceAfterMs = 60_000) {
  const clock = new FakeClock();
  const sentMs: number[] = [];
  const marks: (readonly [string, number])[] = [];
  const announced: unknown[] = [];
  let token = 'first';
  const startMs = clock.monotonic();
  const now = (): number => clock.monotonic() - startMs;
  const renew = (announcement: unknown, signal: AbortSignal): Promise<string> => {
    sentMs.push(now());
    announced.push(announcement);
    const version = String(sentMs.length);
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (Number.isFinite(answerMs)) clock.schedule(() => resolve(version), answerMs);
    });
  };
  const places = { arming: () => 'Armed' as const, usable: () => [{ namespace: 'leases', renew }] };
  const renewals = createOwnRenewals({
    client: { list: () => Promise.reject(new Error('no answer')) },
    clock,
    log: silentLogger,
    fences: {
      tell: () => token,
      token: () => token,
      mark: (version, atMs) => marks.push([version, atMs - startMs]),
      renewalsSeen: () => new Map(),
    },
    places,
    fenceAfterMs,
    renewEveryMs: renewEveryMsOf(fenceAfterMs),
    announced: { controllerName: 'c', version: 'v0' },
    fencedKinds: () => ['jobsets.v1alpha2.jobset.x-k8s.io'],
    onDue: () => undefined,
    onDoubt: () => undefined,
    onWentBack: () => undefined,
  });
  void renewals.run(stopping.signal);
  const announceAnew = (): void => {
    token = 'second';
    renewals.wake();
  };
  return { clock, renewals, sentMs, marks, announced, announceAnew };
}

test.each([
  [0, 10_000],
  [60_000, 10_000],
  [600_000, 10_000],
  [30_000, 5_000],
])('with a fence of %d ms the Lease is renewed every %d ms', (fenceAfterMs, everyMs) => {
  expect(renewEveryMsOf(fenceAfterMs)).toBe(everyMs);
});

test('a renewal that is answered counts from when it was sent, and the next is sent on time', async () => {
  const { clock, sentMs, marks } = renewalsOf(1_000);
  await clock.advance(21_000);
  expect(sentMs).toEqual([0, 10_000, 20_000]);
  expect(marks).toEqual([
    ['1', 0],
    ['2', 10_000],
    ['3', 20_000],
  ]);
});

test('an answer that takes twelve seconds counts, and the next renewal follows it at once', async () => {
  const { clock, sentMs, marks } = renewalsOf(12_000);
  await clock.advance(24_000);
  expect(sentMs).toEqual([0, 12_000, 24_000]);
  expect(marks).toEqual([
    ['1', 0],
    ['2', 12_000],
  ]);
});

test('an answer is waited for no longer than for half of the fence', async () => {
  const { clock, sentMs } = renewalsOf(Number.POSITIVE_INFINITY);
  await clock.advance(29_999);
  expect(sentMs).toEqual([0]);
  await clock.advance(2_001);
  expect(sentMs).toEqual([0, 32_000]);
});

test('a new token is announced before the answer to the one before is given up', async () => {
  const { clock, announced, announceAnew } = renewalsOf(Number.POSITIVE_INFINITY);
  await clock.advance(1_000);
  announceAnew();
  await clock.advance(11_000);
  expect(announced).toMatchObject([{ fenceToken: 'first' }, { fenceToken: 'second' }]);
});
