import { expect, onTestFinished, test } from 'vitest';
import { createClusterLease } from '../../../../../manager/dispatch/lease/cluster-lease.ts';
import { NAMESPACES } from '../../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { noting } from '../../../../support/noting-client.ts';

const namespace = 'leases';
const term = {
  holder: () => ({ homeUid: 'b2d8a4d4-6f5c-4a62-9d6e-1c1c5a4e7b10', instance: 'a' }),
  hasHeld: () => false,
  held: () => undefined,
  homeVersion: () => undefined,
  takeHomeVersion: () => undefined,
  isHomeVersion: () => false,
};

test.each([
  [9_000, { kind: 'Held' }, true],
  [11_000, { kind: 'Failed', message: 'the renewal was decided 11000 ms ago and is not sent any more' }, false],
])(
  'after a process stood still for %i ms, its renewal is sent only if it was decided within ten seconds',
  async (pauseMs, kept, isRenewed) => {
    const clock = new FakeClock();
    const { plane, client } = await startCluster(clock);
    onTestFinished(() => plane.close());
    await client.create(NAMESPACES, { metadata: { name: namespace } });
    let isPaused = false;
    const pausing: KubeClient = {
      ...noting(client, []),
      replace: async (...call) => {
        // The time of day goes on while a machine sleeps; its steady clock may stand still.
        if (isPaused) clock.stepTimeOfDay(pauseMs);
        return await client.replace(...call);
      },
    };
    const options = {
      client: pausing,
      namespace,
      origin: 'm1',
      term,
      fencedKinds: [],
      givenUp: () => false,
      renewIntervalMs: 10_000,
      clock,
      log: silentLogger,
    };
    const lease = createClusterLease(options);
    const { signal } = new AbortController();
    expect(await lease.keep('east', signal)).toEqual({ kind: 'Held' });
    await clock.advance(10_000);
    const before = lease.sentMs();
    isPaused = true;
    expect(await lease.keep('east', signal)).toMatchObject(kept);
    // The first counts as sent, because it may have been; its answer gives the Lease ten seconds more.
    expect(lease.sentMs()).toBeGreaterThan(before ?? 0);
    await clock.advance(30_000);
    expect(lease.isHeld()).toBe(isRenewed);
  },
);
