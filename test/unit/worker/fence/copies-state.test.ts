import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { originLeaseName } from '../../../../shared/api/fence-leases.ts';
import { toWireMicroTime } from '../../../../shared/api/wire-time.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createCopiesState, createFenceMetrics } from '../../../../worker/fence/copies-state.ts';
import { createFences } from '../../../../worker/fence/fences.ts';
import type { Arming } from '../../../../worker/fence/lease-rights.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const FENCE_MS = 60_000;

/** The Lease of one manager, and what the worker knows of the rest. */
function stateOf(fenceAfterMs = FENCE_MS) {
  const clock = new FakeClock();
  const world = { arming: 'Armed' as Arming, known: true };
  let tokens = 0;
  const fences = createFences(fenceAfterMs, () => `token-${++tokens}`);
  const changed: (string | undefined)[] = [];
  let news = 0;
  const state = createCopiesState({
    clock,
    log: silentLogger,
    metrics: createFenceMetrics(new Registry()),
    fences,
    places: { arming: () => world.arming },
    openings: { note: () => undefined, isKnown: () => world.known },
    fenceAfterMs,
    onChange: (origin) => changed.push(origin),
    onKinds: () => undefined,
    onNews: () => news++,
  });
  let version = 0;
  const renew = (): void =>
    state.see(
      {
        metadata: {
          namespace: 'leases',
          name: originLeaseName('berlin'),
          uid: 'u',
          resourceVersion: String(++version),
          labels: { 'switchyard.dev/origin': 'berlin' },
          annotations: { 'switchyard.dev/reconciled': fences.tell(clock.monotonic()) },
        },
        spec: { holderIdentity: 'home_1', renewTime: toWireMicroTime(clock.now()), leaseDurationSeconds: 40 },
      } as never,
      undefined,
      'leases',
    );
  return { clock, world, state, renew, changed, news: () => news };
}

test('nothing is made until it is known what earlier workers have announced', () => {
  const { state, renew } = stateOf();
  renew();
  expect(state.ofOrigin('berlin')).toBe('Hold');
  state.predecessorsKnown();
  expect(state.ofOrigin('berlin')).toBe('Open');
});

test('nothing is made until it is known how far the Jobs are', () => {
  const { state, world, renew } = stateOf();
  state.predecessorsKnown();
  world.known = false;
  renew();
  expect(state.ofOrigin('berlin')).toBe('Hold');
});

test('a manager that is silent for the time of the fence has its copies stopped, without anybody asking', async () => {
  const { clock, state, renew, changed, news } = stateOf();
  state.predecessorsKnown();
  renew();
  changed.length = 0;
  const before = news();
  await clock.advance(FENCE_MS);
  expect(state.ofOrigin('berlin')).toBe('Fenced');
  expect([changed, news() > before]).toEqual([['berlin'], true]);
});

test('where Leases may not be used copies run, and when they may all is as if it had just begun', async () => {
  const { clock, world, state, renew, changed } = stateOf();
  state.predecessorsKnown();
  renew();
  world.arming = 'Refused';
  state.noteRights();
  await clock.advance(2 * FENCE_MS);
  expect(state.ofOrigin('berlin')).toBe('Open');
  world.arming = 'Armed';
  changed.length = 0;
  state.noteRights();
  expect(state.ofOrigin('berlin')).not.toBe('Fenced');
  expect(changed).toContain(undefined);
});

test('a worker that stops looks no more', async () => {
  const { clock, state, renew, changed } = stateOf();
  state.predecessorsKnown();
  renew();
  changed.length = 0;
  state.stop();
  await clock.advance(2 * FENCE_MS);
  expect(changed).toEqual([]);
});

test('without a fence the Leases of managers are not needed', () => {
  const { state } = stateOf(0);
  state.predecessorsKnown();
  state.settle();
  expect([state.unneeded.aborted, state.ofOrigin('berlin')]).toEqual([true, 'Open']);
});
