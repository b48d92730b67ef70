/**
 * Goal: the pods that run on worker clusters never take more than their queue has, while Jobs run out of work, run with fewer pods than
 * they ask for, run out of time, or move.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { Pod } from '../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX, MAX_EXEC_TIME_LABEL, MIN_PARALLELISM_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createWholeWorld, NAMESPACE, type WholeWorld } from './whole-world.ts';

const QUOTA = 3;
const SECOND = 1_000;
let world: WholeWorld;
beforeEach(async () => {
  world = await createWholeWorld({
    clusters: ['eu-1', 'us-2'],
  });
  const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: String(QUOTA) }] }];
  const spec = { reclaimablePods: 'Reclaim', resourceGroups: [{ coveredResources: ['cpu'], flavors }] };
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
  await setState('us-2', 'Cordoned');
  for (const cluster of ['eu-1', 'us-2']) world.startWorker(cluster, 'worker');
  world.startManager('manager');
  await world.clock.advance(3 * SECOND);
});
afterEach(() => world.close());

const setState = (name: string, state: 'Active' | 'Cordoned' | 'Draining') =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
/** Each pod asks for one cpu. */
const podsOn = async (cluster: string): Promise<Pod[]> =>
  (await world.podsOn(cluster)).filter(({ status }) => !['Succeeded', 'Failed'].includes(status?.phase ?? ''));
async function watchFor(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    await world.clock.advance(5 * SECOND);
    const pods = [...(await podsOn('eu-1')), ...(await podsOn('us-2'))];
    expect(pods.length).toBeLessThanOrEqual(QUOTA);
  }
}
const labelOf = (pods: readonly Pod[], label: string): string[] => pods.map(({ metadata }) => metadata.labels?.[label] ?? '').toSorted();
const indexed = (completions: number, parallelism: number) => ({ completionMode: 'Indexed', completions, parallelism });
const clusterOf = async (name: string): Promise<string | undefined> => {
  const written = writtenRecordOf(await world.job(name));
  return written.kind === 'Record' ? written.record.cluster : undefined;
};

test('what a Job with one index left gives back others use, and when it moves only that index runs again', async () => {
  await world.submit('wide', { cpu: '1', seconds: 60, spec: indexed(4, 3) });
  await watchFor(20);
  await world.submit('next', { cpu: '1', seconds: 400, spec: indexed(2, 2) });
  await watchFor(60);
  expect((await world.job('wide')).status).toMatchObject({ completedIndexes: '0-2', active: 1 });
  expect(labelOf(await podsOn('eu-1'), 'job-name')).toEqual(['next', 'next', 'wide']);
  await world.home.patch(
    JOBS,
    { namespace: NAMESPACE, name: 'wide' },
    {
      type: 'merge',
      body: { metadata: { annotations: { 'switchyard.dev/clusters': 'us-2' } } },
    },
  );
  await setState('us-2', 'Active');
  await setState('eu-1', 'Draining');
  await watchFor(50);
  expect(await clusterOf('wide')).toBe('us-2');
  const onUs = (await world.podsOn('us-2')).filter(({ metadata }) => metadata.labels?.['job-name'] === 'wide');
  expect(labelOf(onUs, JOB_COMPLETION_INDEX)).toEqual(['3']);
  await watchFor(90);
  expect((await world.job('wide')).status).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
});

test('a Job that is admitted with fewer pods does all of its work with them, and with all of them once it is admitted anew', async () => {
  await world.submit('first', { cpu: '1', seconds: 100 });
  await watchFor(5);
  await world.submit('wide', { cpu: '1', seconds: 60, annotations: { [MIN_PARALLELISM_ANNOTATION]: '1' }, spec: indexed(6, 3) });
  await watchFor(40);
  expect(labelOf(await podsOn('eu-1'), 'job-name')).toEqual(['first', 'wide', 'wide']);
  await watchFor(80);
  const suspended = { metadata: { annotations: { 'switchyard.dev/hold': 'false' } }, spec: { suspend: true } };
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'wide' }, { type: 'merge', body: suspended });
  await watchFor(60);
  expect(labelOf(await podsOn('eu-1'), 'job-name')).toEqual(['wide', 'wide', 'wide']);
  await watchFor(120);
  expect((await world.job('wide')).status).toMatchObject({ succeeded: 6, completedIndexes: '0-5' });
  expect((await world.job('wide')).spec).toMatchObject({ parallelism: 3, completions: 6 });
});

test('a Job that is out of time stops on its cluster, and goes on there with what it had not done', async () => {
  await world.submit('long', { cpu: '1', seconds: 60, spec: indexed(4, 1) });
  await world.home.patch(
    JOBS,
    { namespace: NAMESPACE, name: 'long' },
    {
      type: 'merge',
      body: { metadata: { labels: { [MAX_EXEC_TIME_LABEL]: '90' } } },
    },
  );
  await watchFor(120);
  expect(await podsOn('eu-1')).toEqual([]);
  const job = await world.job('long');
  expect(job.spec.suspend).toBe(true);
  expect(job.status).toMatchObject({ completedIndexes: '0' });
  expect(job.status?.conditions).toContainEqual(expect.objectContaining({ reason: 'MaximumExecutionTimeExceeded', status: 'False' }));
  await world.home.patch(
    JOBS,
    { namespace: NAMESPACE, name: 'long' },
    {
      type: 'merge',
      body: { metadata: { labels: { [MAX_EXEC_TIME_LABEL]: '400' } } },
    },
  );
  await watchFor(30);
  expect(labelOf(await podsOn('eu-1'), JOB_COMPLETION_INDEX)).toEqual(['1']);
  await watchFor(170);
  expect((await world.job('long')).status).toMatchObject({ succeeded: 4 });
});
