/**
 * Goal: objects that an earlier version has written are understood. For each released version the objects of a whole installation were
 * recorded (`versions/VERSION`, by `versions/record.ts`); a manager and workers of today take over, and nothing moves, is made anew, or is
 * forgotten.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION, HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { createRestorableWorld, type RestorableWorld } from '../scenario/restorable-world.ts';
import { HOME, NAMESPACE } from '../scenario/whole-world.ts';
import { CLUSTERS, startPrograms } from './versions/record.ts';
import { readWorld, restored } from './versions/recorded-world.ts';

const FOLDER = path.join(import.meta.dirname, 'versions');
const VERSIONS = readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const LIMIT_MS = 180_000;

let world: RestorableWorld;
afterEach(() => world?.close());

/** The clusters as that version has left them, at that moment; no program runs yet. */
async function worldOf(version: string, kubelets: boolean): Promise<void> {
  world = await createRestorableWorld(CLUSTERS, { kubelets });
  const { atMs, clusters } = readWorld(path.join(FOLDER, version));
  await world.clock.advance(atMs - world.clock.now());
  for (const [name, cluster] of Object.entries(clusters)) {
    const plane = world.plane(name);
    await plane.restore(restored(cluster, plane.backUp()), 'Broken');
  }
}

/** Where each Job is, by what its record says, and which objects it is and has there: other ones have other UIDs. */
async function placements(): Promise<Record<string, unknown>> {
  const { items } = await world.home.list(JOBS);
  const there = await Promise.all(
    CLUSTERS.map(async (cluster) => [cluster, { copies: await world.jobsOn(cluster), pods: await world.podsOn(cluster) }] as const),
  );
  return Object.fromEntries(
    items.map((job) => {
      const written = writtenRecordOf(job);
      const { name, uid } = job.metadata;
      const objects = there.map(([cluster, { copies, pods }]) => [
        cluster,
        copies.filter(({ metadata }) => metadata.name === name).map(({ metadata }) => metadata.uid),
        pods
          .filter(({ metadata, status }) => metadata.labels?.['batch.kubernetes.io/job-name'] === name && status?.phase === 'Running')
          .map(({ metadata }) => metadata.uid)
          .toSorted(),
      ]);
      return [
        name,
        {
          uid,
          suspend: job.spec.suspend,
          record: written.kind === 'Record' ? [written.record.cluster, written.record.epoch] : written.kind,
          objects,
        },
      ];
    }),
  );
}

describe.each(VERSIONS)('what version %s has written', (version) => {
  test('is taken over: no Job moves, no copy and no pod is another one', { timeout: LIMIT_MS }, async () => {
    await worldOf(version, false);
    const before = await placements();
    // The situations for which it was recorded, lest a later recording has lost one.
    expect(Object.keys(before)).toEqual(['done', 'failed', 'half-done', 'held', 'moves', 'rests', 'runs-east', 'runs-west', 'waits']);
    expect(JSON.stringify(before['runs-east'])).toMatch(/"record":\["east",1\]/);
    expect(JSON.stringify(before['moves'])).toMatch(/"record":\["east",2\]/);
    startPrograms(world);
    await world.pass(20);
    expect(await placements()).toEqual(before);
    for (const name of CLUSTERS)
      expect(hasTrueCondition((await world.home.get(WORKER_CLUSTERS, { namespace: '', name })).status?.conditions, 'Ready'), name).toBe(
        true,
      );
  });

  test('comes to its end: what runs is counted once, what waits runs, and nothing is left', { timeout: LIMIT_MS }, async () => {
    await worldOf(version, true);
    const finished = (await world.job('half-done')).status?.succeeded ?? 0;
    expect(finished).toBeGreaterThan(0);
    startPrograms(world);
    await world.pass(20);
    const patch = (name: string, metadata: object): Promise<unknown> =>
      world.home.patch(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body: { metadata } });
    await patch('waits', { annotations: { [CLUSTERS_ANNOTATION]: null } });
    for (const name of ['held', 'rests']) await patch(name, { annotations: { [HOLD_ANNOTATION]: null } });
    // A finished Job keeps its counts; the others end as their specs say.
    const most = await world.pass(1500);
    expect(most).toBeLessThanOrEqual(2);
    const ends = Object.fromEntries(
      await Promise.all(
        (await world.home.list(JOBS)).items.map(async ({ metadata: { name }, status }) => [
          name,
          [await world.endOf(name), status?.succeeded ?? 0],
        ]),
      ),
    );
    expect(ends).toEqual({
      done: ['Complete', 1],
      failed: ['Failed', 0],
      'half-done': ['Complete', 3],
      held: ['Complete', 1],
      moves: ['Complete', 1],
      rests: ['Complete', 1],
      'runs-east': ['Complete', 1],
      'runs-west': ['Complete', 4],
      waits: ['Complete', 1],
    });
    for (const cluster of CLUSTERS) expect([cluster, await world.namesOn(cluster)]).toEqual([cluster, []]);
    expect((await world.home.list(JOBS)).items.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  });
});

test('every released version is recorded, and this one', () => {
  expect(VERSIONS).toContain('0.1.0');
  expect(Object.keys(readWorld(path.join(FOLDER, '0.1.0')).clusters).toSorted()).toEqual([...CLUSTERS, HOME].toSorted());
});
