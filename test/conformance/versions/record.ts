/**
 * Writes what an installation of this version stores, with Jobs in every state that a record can be in: `node
 * test/conformance/versions/record.ts`, once, before a version is released. What was released is never recorded anew.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION, HOLD_ANNOTATION } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { createRestorableWorld, MANAGER, type RestorableWorld } from '../../scenario/restorable-world.ts';
import { HOME, NAMESPACE } from '../../scenario/whole-world.ts';
import { recordIntake } from './intake.ts';
import { recorded, writeWorld } from './recorded-world.ts';

export const CLUSTERS = ['east', 'west'];
const FENCE_MS = 60_000;

export const startPrograms = (world: RestorableWorld): void => {
  for (const cluster of CLUSTERS) world.supervise(() => world.startWorker(cluster, `worker-${cluster}`, { fenceAfterMs: FENCE_MS }));
  world.supervise(() => world.startManager('manager', MANAGER));
};

async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(path.join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = path.join(import.meta.dirname, version);
  if (existsSync(folder)) throw new Error(`${version} has been recorded; it stays as it is`);
  const world = await createRestorableWorld(CLUSTERS);
  startPrograms(world);
  await world.pass(15);
  const at = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });
  const write = (name: string, body: object): Promise<unknown> =>
    world.home.patch(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body });
  await world.submit('done', { seconds: 2, ...at('east') });
  await world.submit('failed', { seconds: 2, exitCode: 1, spec: { backoffLimit: 0 }, ...at('west') });
  await world.submit('runs-east', { seconds: 600, ...at('east') });
  await world.submit('runs-west', { seconds: 600, spec: { parallelism: 2, completions: 4, completionMode: 'Indexed' }, ...at('west') });
  await world.submit('moves', { seconds: 300, ...at('west') });
  await world.submit('half-done', { seconds: 40, spec: { parallelism: 1, completions: 3 }, ...at('east') });
  await world.submit('waits', at('nowhere'));
  await world.submit('held', { annotations: { [HOLD_ANNOTATION]: 'true' } });
  await world.submit('rests', { seconds: 600, ...at('east') });
  await world.pass(50);
  // One that was placed elsewhere before, and one that rests where it was.
  await write('moves', { metadata: { annotations: { [CLUSTERS_ANNOTATION]: null } } });
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'west' }, { type: 'merge', body: { spec: { state: 'Draining' } } });
  await write('runs-west', { metadata: { annotations: { [CLUSTERS_ANNOTATION]: 'west' } } });
  await write('rests', { spec: { suspend: true } });
  await world.pass(40);
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'west' }, { type: 'merge', body: { spec: { state: 'Active' } } });
  await world.pass(30);
  const clusters = Object.fromEntries([HOME, ...CLUSTERS].map((name) => [name, recorded(world.plane(name).backUp())]));
  writeWorld(folder, { atMs: world.clock.now(), clusters });
  for (const { metadata, spec, status } of (await world.home.list(JOBS)).items)
    console.log(
      metadata.name,
      metadata.labels?.['switchyard.dev/cluster'] ?? '-',
      spec.suspend,
      JSON.stringify(status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)),
    );
  await world.close();
  await recordIntake(folder);
}

if (process.argv[1] === import.meta.filename) await main();
