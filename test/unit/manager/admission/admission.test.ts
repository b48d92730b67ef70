/** What admission finds out anew when it begins to lead, and when clusters are others than they were. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOCAL_QUEUES } from '../../../../manager/api/local-queue.ts';
import { WORKER_CLUSTERS } from '../../../../manager/api/worker-cluster.ts';
import { prepareJob } from '../../../../manager/policy/prepare-job.ts';
import { QUEUE_NAME_LABEL } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { fencedClient } from '../../../../shared/kube/fenced-client.ts';
import { createAdmissionWorld, type AdmissionWorld } from '../../../scenario/admission-world.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

let world: AdmissionWorld;
/** Statuses of Jobs cannot be written: no event of their own has them looked at again. */
let untold: boolean;
beforeEach(async () => {
  untold = false;
  world = await createAdmissionWorld({
    wrap: (client) => ({
      ...fencedClient(client, new AbortController().signal),
      patchStatus: async (resource, key, patch, options) => {
        if (untold && resource.plural === JOBS.plural) throw new ApiError(429, { reason: 'TooManyRequests', message: 'later' });
        return client.patchStatus(resource, key, patch, options);
      },
    }),
  });
  await world.flavor('default');
});
afterEach(() => world.close());

const change = (cluster: string, body: object): Promise<unknown> =>
  world.client.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body });
const identify = (cluster: string, clusterUID: string): Promise<unknown> =>
  world.client.patchStatus(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body: { status: { clusterUID } } });

test('a Job has its whole time to start again under a new leader: what it did while nobody led was not seen', async () => {
  await world.queue('main', { spec: { startTimeout: '60s' } });
  await world.cluster('eu');
  await world.job('sum');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['sum']);
  await world.stop();
  await world.settle(600_000);
  await world.restart();
  await world.settle(50_000);
  expect(await world.running()).toEqual(['sum']);
  await world.settle(15_000);
  expect(await world.running()).toEqual([]);
});

test('a Job that waited with others like it goes to a cluster that from now on serves its namespace and not theirs', async () => {
  await world.queue('main');
  await world.cluster('eu', { capacity: { cpu: '0' } });
  await world.client.create(NAMESPACES, { metadata: { name: 'other' } });
  await world.client.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: 'other' }, spec: { clusterQueue: 'main' } });
  await world.job('first');
  await world.settle(1_000);
  const prepared = prepareJob(JOB_KIND, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'second', namespace: 'other', labels: { [QUEUE_NAME_LABEL]: 'main' } },
    spec: {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }] },
      },
    },
  });
  if (prepared.kind === 'Refused') expect.fail(JSON.stringify(prepared.problems));
  await world.client.create(JOBS, prepared.job);
  await world.settle(1_000);
  expect(await world.running()).toEqual([]);
  untold = true;
  await change('eu', { spec: { capacity: { cpu: '4' }, servedNamespaces: ['other'] } });
  await world.settle(1_000);
  expect(await world.running()).toEqual(['second']);
});

test('a Job is evicted whose cluster turns out to be another one under its name, if it stays so', async () => {
  await world.queue('main');
  await world.cluster('eu');
  await identify('eu', 'uid-1');
  await world.job('sum');
  await world.settle(1_000);
  expect((await world.record('sum'))?.clusterUID).toBe('uid-1');
  await identify('eu', 'uid-2');
  await world.settle(29_000);
  expect(await world.running()).toEqual(['sum']);
  await world.settle(2_000);
  expect(await world.running()).toEqual([]);
});
