/**
 * Job scenarios recorded from a Kubernetes v1.36 cluster, played against the worker and the embedded control plane on a
 * fake clock. The waits are upstream's own; only nobody has to sit through them.
 */
import { expect, test } from 'vitest';
import { BUILT_IN_SETTINGS, startCluster, startWorker } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loadScenarios } from './support/scenario.ts';
import { playScenario } from './support/scenario-player.ts';

test.each(loadScenarios().map((scenario) => [scenario.name, scenario] as const))('%s', async (name, scenario) => {
  const clock = new FakeClock();
  const cluster = await startCluster(clock);
  const worker = startWorker(cluster.plane, clock, BUILT_IN_SETTINGS);
  await clock.settle();
  try {
    const stage = { client: cluster.client, now: () => clock.now(), pass: (ms: number) => clock.advance(ms) };
    const outcome = await playScenario(stage, scenario, { namespace: `sc-${name}`, quietMs: 3000, settleLimitMs: 30_000 });
    expect(outcome).toEqual(scenario.expect);
  } finally {
    await worker.stop();
    await cluster.plane.close();
  }
});
