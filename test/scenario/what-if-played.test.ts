/**
 * Goal: what what-if foretells is what the manager then does: the same changes are made for real, and whoever is suspended stops. Generated
 * worlds, replayable by seed.
 */
import { expect, test } from 'vitest';
import { jobStates, whatIf } from '../../manager/insight/what-if/what-if.ts';
import { runToFixpoint } from '../../manager/insight/world/simulate-evictions.ts';
import { readWorld } from '../../manager/cli/explain/world-reader.ts';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { isProvenAtRest } from '../../manager/api/rest-proof.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { PRIORITY_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const LIMIT_MS = 240_000;
const SEEDS = 3;

const CHANGES: Readonly<Record<string, (world: AdmissionWorld, upTo: (most: number) => number) => Promise<unknown>>> = {
  'nothing at all': () => Promise.resolve(),
  'another quota': (world, upTo) => patchQueue(world, { resourceGroups: quotaOf(String(upTo(9))) }),
  'a queue stopped and drained': (world) => patchQueue(world, { stopPolicy: 'HoldAndDrain' }),
  'a queue stopped': (world) => patchQueue(world, { stopPolicy: 'Hold' }),
  'a queue that leaves its cohort': (world) => patchQueue(world, { cohortName: null }),
  'a cluster drained': (world) => patchCluster(world, { state: 'Draining' }),
  'a cluster cordoned': (world) => patchCluster(world, { state: 'Cordoned' }),
  'a cluster enlarged': (world, upTo) => patchCluster(world, { capacity: { cpu: String(6 + upTo(6)), pods: '100' } }),
  'a flavor removed': (world) => world.client.delete(RESOURCE_FLAVORS, { namespace: '', name: 'spot' }),
  'more Jobs': async (world, upTo) => {
    for (let n = 0; n < 3; n++) await world.job(`more-${n}`, { cpu: String(upTo(3)), queue: upTo(2) === 1 ? 'main' : 'other' });
  },
};
const patchQueue = (world: AdmissionWorld, spec: object) =>
  world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
const patchCluster = (world: AdmissionWorld, spec: object) =>
  world.client.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu' }, { type: 'merge', body: { spec } });
const quotaOf = (nominalQuota: string) => [
  { coveredResources: ['cpu'], flavors: ['default', 'spot'].map((name) => ({ name, resources: [{ name: 'cpu', nominalQuota }] })) },
];

test.each(Object.keys(CHANGES))('it comes as it was foretold: %s', { timeout: LIMIT_MS }, async (change) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const upTo = (most: number): number => 1 + Math.floor(random() * most);
    const world = await createAdmissionWorld();
    try {
      await generate(world, upTo);
      await play(world);
      const nowMs = world.clock.now();
      const before = await readWorld({ client: world.client, kind: JOB_KIND }, nowMs);
      expect(placesIn(runToFixpoint(before.world)), `seed ${seed}: as it stands`).toEqual(await placesOf(world));
      // Of a change what counts is what it leaves: who is there then, read before anybody has acted on it.
      await world.stop();
      await CHANGES[change]?.(world, upTo);
      const after = await readWorld({ client: world.client, kind: JOB_KIND }, nowMs);
      const foretold = placesIn(runToFixpoint(after.world));
      const { effects, settled: isSettled } = whatIf(before.world, after.world);
      await world.restart();
      await play(world);
      expect(await placesOf(world), `seed ${seed}`).toEqual(foretold);
      expect(isSettled).toBe(true);
      if (change === 'nothing at all') expect(effects, `seed ${seed}`).toEqual([]);
    } finally {
      await world.close();
    }
  }
});

async function generate(world: AdmissionWorld, upTo: (most: number) => number): Promise<void> {
  await world.flavor('default');
  await world.flavor('spot');
  const preemption = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: upTo(2) === 1 ? 'Any' : 'Never' };
  for (const name of ['main', 'other']) {
    const strict = upTo(3) === 1 ? { queueingStrategy: 'StrictFIFO' } : {};
    await world.queue(name, { spec: { cohortName: 'all', preemption, resourceGroups: quotaOf(String(upTo(4))), ...strict } });
  }
  for (const name of ['eu', 'us']) await world.cluster(name, { capacity: { cpu: String(3 + upTo(6)), pods: '100' } });
  const count = 6 + upTo(6);
  for (let n = 0; n < count; n++) {
    await world.job(`job-${n}`, {
      cpu: String(upTo(3)),
      queue: upTo(2) === 1 ? 'main' : 'other',
      ...(upTo(3) === 1 ? { annotations: { [PRIORITY_ANNOTATION]: String(-upTo(5)) } } : {}),
    });
    await world.settle(1_000);
  }
}

/** Until nothing moves any more: all who are suspended stop, and at once, because who stops first nobody can foretell. */
async function play(world: AdmissionWorld): Promise<void> {
  for (let quiet = 0; quiet < 2; quiet++) {
    await world.settle(35_000);
    const suspended = (await world.client.list(JOBS)).items.filter(isSuspended);
    if (suspended.length === 0) continue;
    await world.stop();
    for (const { metadata } of suspended) await world.rest(metadata.name);
    await world.restart();
    quiet = 0;
  }
}

function isSuspended({ spec, status, metadata }: Job): boolean {
  const written = writtenRecordOf({ metadata });
  if (spec.suspend !== true || written.kind !== 'Record' || written.record.evicted !== true) return false;
  return !isProvenAtRest(status, written.record);
}

/** Who has a place, and where. */
async function placesOf(world: AdmissionWorld): Promise<Readonly<Record<string, string>>> {
  const running = await world.running();
  const places = await Promise.all(
    running.map(async (name) => [`${NAMESPACE}/${name}`, placeOf((await world.record(name)) ?? {})] as const),
  );
  return Object.fromEntries(places);
}
const placesIn = (settlement: ReturnType<typeof runToFixpoint>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...jobStates(settlement)].flatMap(([job, standing]) => (standing.kind === 'Admitted' ? [[job, placeOf(standing)] as const] : [])),
  );
const placeOf = ({ cluster, flavors }: { readonly cluster?: string; readonly flavors?: Readonly<Record<string, string>> }): string =>
  `${cluster ?? ''} ${flavors?.['cpu'] ?? ''}`;
