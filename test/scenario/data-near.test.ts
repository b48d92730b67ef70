/** Goal: Jobs run near the data that they read, and wait where no cluster has what they require. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS, type WorkerClusterSpec } from '../../manager/api/worker-cluster.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createWholeWorld, manifest, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
beforeEach(async () => {
  world = await createWholeWorld({ clusters: ['east', 'north', 'west'] });
  await describe('north', { data: [{ name: 'imagenet', weight: 3 }] });
  await describe('west', { data: [{ name: 'imagenet' }, { name: 'corpus' }] });
  for (const cluster of ['east', 'north', 'west']) world.startWorker(cluster, 'worker');
  world.startManager('manager');
  await world.clock.advance(5_000);
});
afterEach(() => world.close());

async function describe(name: string, spec: Partial<WorkerClusterSpec>): Promise<void> {
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec } });
}
const submit = (name: string, data: string): Promise<void> =>
  world.submit(name, { seconds: 600, annotations: { 'switchyard.dev/data': data } });
const clusterOf = async (name: string): Promise<string | undefined> => (await world.job(name)).metadata.labels?.['switchyard.dev/cluster'];
const toldOf = async (name: string): Promise<string | undefined> =>
  findCondition((await world.job(name)).status?.conditions, 'QuotaReserved')?.message;

test('a Job goes where the weights of its data are greatest, though other clusters are emptier', async () => {
  for (const name of ['one', 'two', 'three']) await submit(name, 'imagenet');
  await submit('both', 'imagenet,corpus,unknown');
  await submit('text', 'corpus');
  await world.clock.advance(5_000);
  expect(await Promise.all(['one', 'two', 'three', 'both', 'text'].map(clusterOf))).toEqual(['north', 'north', 'north', 'north', 'west']);
});

test('the preference of a cluster goes before its data', async () => {
  await describe('east', { preference: 1 });
  await world.clock.advance(5_000);
  await submit('preferred', 'imagenet');
  await submit('required', '!imagenet');
  await world.clock.advance(5_000);
  expect([await clusterOf('preferred'), await clusterOf('required')]).toEqual(['east', 'north']);
});

test('a Job waits for data that it requires, with the reason for each cluster, and runs where that comes to be', async () => {
  await submit('train', '!weather,imagenet');
  await world.clock.advance(20_000);
  expect(await toldOf('train')).toContain('east: no data weather; north: no data weather; west: no data weather');
  await describe('east', { data: [{ name: 'weather' }] });
  await world.clock.advance(5_000);
  expect(await clusterOf('train')).toBe('east');
});

test('a malformed wish is refused with annotation and remedy, and malformed data of a cluster with the field', async () => {
  const prepared = prepareJob(JOB_KIND, manifest('bad', { annotations: { 'switchyard.dev/data': 'Image Net' } }));
  expect(JSON.stringify(prepared)).toContain('it must name at most 16 data sets, each once');
  await expect(describe('east', { data: [{ name: 'Image Net' }] })).rejects.toThrow(/spec\.data\[0\]\.name/);
  await expect(describe('east', { data: [{ name: 'a', weight: 0 }] })).rejects.toThrow(/spec\.data\[0\]\.weight/);
  await expect(describe('east', { data: [{ name: 'a' }, { name: 'a' }] })).rejects.toThrow(/Duplicate value/);
});
