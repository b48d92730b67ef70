import { expect, test } from 'vitest';
import { createLossWatch } from '../../../../../manager/admission/eviction/loss-watch.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { WorkloadPhase } from '../../../../../manager/admission/workload/workload.ts';
import type { LostCluster } from '../../../../../manager/api/fenced-off.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aClusterQueue, aWorkload, objects } from '../setup.ts';

const MINUTE = 60_000;
const on = (name: string, cluster: string, clusterQueue = 'cq', phase: WorkloadPhase = 'Admitted'): Reservation => ({
  workload: aWorkload(name, {}, { phase }),
  record: aRecord({ cluster, clusterQueue }),
  held: new Map(),
  assumed: false,
});
const clusterQueues = [
  aClusterQueue('cq', { default: '9' }),
  aClusterQueue('fails', { default: '9' }, { onClusterLost: 'Fail' }),
  aClusterQueue('waits', { default: '9' }, { onClusterLost: 'Wait' }),
];

function setup(reservations: Reservation[]) {
  const clock = new FakeClock();
  const lostAtMs = new Map<string, number>();
  const seen = { wakes: 0, looks: 0 };
  const placements = new Map<string, number>();
  const of = (name: string): LostCluster | undefined => {
    const atMs = lostAtMs.get(name);
    if (atMs === undefined) return undefined;
    const since = '2026-01-01T00:00:00Z';
    return { since, lostMs: clock.monotonic() - atMs, givenUpMs: undefined, fenceAfterSeconds: 60, workerAlive: true, otherManager: false };
  };
  const watch = createLossWatch({
    cache: {
      reservations: () => {
        seen.looks++;
        return reservations.values();
      },
      placements: (cluster) => placements.get(cluster) ?? 0,
      queueing: () => buildQueueingSetup(objects({ clusterQueues })),
    },
    lostClusters: { of, names: () => [...lostAtMs.keys()], handler: { added: () => {}, updated: () => {}, deleted: () => {} } },
    timeoutMs: 15 * MINUTE,
    wake: () => seen.wakes++,
    clock,
  });
  const found = (): string[] =>
    watch
      .find()
      .map(({ reservation, reason, fail }) => `${reservation.workload.name} ${reason}${fail === undefined ? '' : ` ${fail.reason}`}`);
  return { clock, lostAtMs, placements, seen, watch, found };
}

test('when a cluster has been lost for long enough, its Workloads leave it, or end, or wait, as their queues say', async () => {
  const { clock, lostAtMs, seen, found } = setup([
    on('a', 'eu-1'),
    on('b', 'us-2'),
    on('c', 'eu-1', 'fails'),
    on('d', 'eu-1', 'waits'),
    on('e', 'eu-1', 'cq', 'Evicting'),
    { ...on('f', 'eu-1'), assumed: true },
  ]);
  lostAtMs.set('eu-1', clock.monotonic());
  expect(found()).toEqual([]);
  await clock.advance(15 * MINUTE - 1);
  expect([found(), seen.wakes]).toEqual([[], 0]);
  await clock.advance(1);
  expect(seen.wakes).toBe(1);
  expect(found()).toEqual(['a ClusterLost', 'c ClusterLost ClusterLost']);
  expect(found()).toHaveLength(2);
});

test('reservations are looked at when something has changed, and not at every pass', async () => {
  const { clock, lostAtMs, seen, watch, found } = setup([on('a', 'eu-1')]);
  found();
  expect(seen.looks).toBe(0);
  lostAtMs.set('eu-1', clock.monotonic());
  found();
  expect(seen.looks).toBe(0);
  watch.recheck();
  for (let pass = 0; pass < 5; pass++) found();
  expect(seen.looks).toBe(1);
  watch.stop();
  await clock.advance(60 * MINUTE);
  expect(seen.wakes).toBe(0);
});

test('a Workload whose admission was still being written when its cluster was lost leaves it like the others', async () => {
  const late = on('a', 'eu-1');
  const reservations = [{ ...late, assumed: true }];
  const { clock, lostAtMs, placements, seen, found } = setup(reservations);
  lostAtMs.set('eu-1', clock.monotonic());
  found();
  await clock.advance(20 * MINUTE);
  expect(found()).toEqual([]);
  reservations[0] = late;
  placements.set('eu-1', 1);
  expect(found()).toEqual(['a ClusterLost']);
  expect(seen.looks).toBe(2);
});
