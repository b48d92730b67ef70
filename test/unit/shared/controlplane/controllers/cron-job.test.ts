import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CronJob, CronJobSpec, Job } from '../../../../../shared/api/kubernetes.ts';
import { CRON_JOBS, EVENTS, JOBS } from '../../../../../shared/api/resources.ts';
import { createCronJobController } from '../../../../../shared/controlplane/controllers/cron-job.ts';
import { anEmbeddedCluster, type EmbeddedCluster } from './embedded-cluster.ts';

const HOUR_MS = 3_600_000;
let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
});
afterEach(() => cluster.close());

const start = (): Promise<() => Promise<void>> => cluster.start(createCronJobController(cluster.deps));
const create = (spec: Partial<CronJobSpec> = {}): Promise<CronJob> => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } };
  return cluster.client.create(CRON_JOBS, {
    metadata: { name: 'tick', namespace: 'default' },
    spec: { schedule: '@hourly', jobTemplate: { spec: { template } }, ...spec },
  });
};
const cronJob = (): Promise<CronJob | undefined> => cluster.find(CRON_JOBS, 'tick');
const jobs = async (): Promise<Job[]> => (await cluster.client.list(JOBS)).items;
const names = async (): Promise<string[]> => (await jobs()).map(({ metadata }) => metadata.name);
/** `reason: message xCOUNT` of what users are told, oldest first. */
const told = async (): Promise<string[]> =>
  (await cluster.client.list(EVENTS)).items.map(
    ({ reason, message, count = 1 }) => `${reason}: ${message}${count > 1 ? ` x${count}` : ''}`,
  );
/** What the Job controller would write. */
const end = async (name: string, type: 'Complete' | 'Failed'): Promise<void> => {
  const now = new Date(cluster.clock.now()).toISOString().replace(/\.\d+/, '');
  const condition = { status: 'True', lastTransitionTime: now, lastProbeTime: now, reason: 'Over', message: '' };
  const before = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const status = {
    startTime: now,
    ...(type === 'Complete' ? { completionTime: now, succeeded: 1 } : {}),
    conditions: [before, type].map((each) => ({ type: each, ...condition })),
  };
  await cluster.client.patchStatus(JOBS, { namespace: 'default', name }, { type: 'merge', body: { status } });
  await cluster.clock.settle();
};

describe('a CronJob', () => {
  test('starts a Job at each of its times, and keeps account of it', async () => {
    await start();
    await create();
    await cluster.clock.advance(HOUR_MS);
    expect(await names()).toEqual(['tick-29453820']);
    const [job] = await jobs();
    expect(job?.metadata).toMatchObject({
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T01:00:00Z' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', controller: true, blockOwnerDeletion: true }],
    });
    expect((await cronJob())?.status).toEqual({
      active: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          namespace: 'default',
          name: 'tick-29453820',
          uid: job?.metadata.uid,
          resourceVersion: job?.metadata.resourceVersion,
        },
      ],
      lastScheduleTime: '2026-01-01T01:00:00Z',
    });
    await end('tick-29453820', 'Complete');
    expect((await cronJob())?.status).toEqual({
      lastScheduleTime: '2026-01-01T01:00:00Z',
      lastSuccessfulTime: new Date(cluster.clock.now()).toISOString().replace(/\.\d+/, ''),
    });
    expect(await told()).toEqual([
      'SuccessfulCreate: Created job tick-29453820',
      'SawCompletedJob: Saw completed job: tick-29453820, condition: Complete',
    ]);
    await cluster.clock.advance(HOUR_MS);
    expect(await names()).toEqual(['tick-29453820', 'tick-29453880']);
  });

  test('keeps three Jobs that succeeded and one that failed', async () => {
    await start();
    await create();
    for (const type of ['Failed', 'Complete', 'Failed', 'Complete', 'Complete', 'Complete'] as const) {
      await cluster.clock.advance(HOUR_MS);
      const active = (await cronJob())?.status?.active ?? [];
      for (const { name = '' } of active) await end(name, type);
    }
    await cluster.clock.settle();
    expect(await names()).toEqual(['tick-29453940', 'tick-29454000', 'tick-29454060', 'tick-29454120']);
    expect(await told()).toContain('SuccessfulDelete: Deleted job tick-29453880');
  });

  test('that forbids concurrency starts no second Job, and says so', async () => {
    await start();
    await create({ concurrencyPolicy: 'Forbid' });
    await cluster.clock.advance(3 * HOUR_MS);
    expect(await names()).toEqual(['tick-29453820']);
    expect(await told()).toContain(
      'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid x2',
    );
    await end('tick-29453820', 'Failed');
    expect(await names()).toEqual(['tick-29453820', 'tick-29453940']);
  });

  test('that replaces deletes the Job that runs before it starts the next', async () => {
    await start();
    await create({ concurrencyPolicy: 'Replace' });
    await cluster.clock.advance(2 * HOUR_MS);
    expect(await names()).toEqual(['tick-29453880']);
    expect((await cronJob())?.status?.active).toMatchObject([{ name: 'tick-29453880' }]);
    expect(await told()).toContain('SuccessfulDelete: Deleted job tick-29453820');
  });

  test('starts nothing while it is suspended, and afterwards makes up for the latest', async () => {
    await start();
    await create({ suspend: true });
    await cluster.clock.advance(3.5 * HOUR_MS);
    expect(await names()).toEqual([]);
    await cluster.client.patch(CRON_JOBS, { namespace: 'default', name: 'tick' }, { type: 'merge', body: { spec: { suspend: false } } });
    await cluster.clock.settle();
    expect(await names()).toEqual(['tick-29453940']);
  });

  test('forgets a Job that somebody deletes', async () => {
    await start();
    await create();
    await cluster.clock.advance(HOUR_MS);
    await cluster.client.delete(JOBS, { namespace: 'default', name: 'tick-29453820' }, { propagationPolicy: 'Background' });
    await cluster.clock.settle();
    expect((await cronJob())?.status).toEqual({ lastScheduleTime: '2026-01-01T01:00:00Z' });
    expect(await told()).toContain('MissingJob: Active job went missing: tick-29453820');
  });

  test('with a new schedule starts at its next time, not at those that it would have had', async () => {
    await start();
    await create({ schedule: '0 23 * * *' });
    await cluster.clock.advance(2.5 * HOUR_MS);
    const body = { spec: { schedule: '0 1-4 * * *' } };
    await cluster.client.patch(CRON_JOBS, { namespace: 'default', name: 'tick' }, { type: 'merge', body });
    await cluster.clock.advance(60_000);
    expect(await names()).toEqual([]);
    await cluster.clock.advance(HOUR_MS);
    expect(await names()).toEqual(['tick-29453940']);
  });

  test('whose template the server refuses says why, and starts when it may', async () => {
    await start();
    await create();
    await cluster.client.create(
      { group: '', version: 'v1', plural: 'resourcequotas', kind: 'ResourceQuota', namespaced: true },
      Object.assign({ metadata: { name: 'none', namespace: 'default' } }, { spec: { hard: { 'count/jobs.batch': '0' } } }),
    );
    await cluster.clock.advance(HOUR_MS);
    expect(await names()).toEqual([]);
    expect((await told()).join()).toMatch(/FailedCreate: Error creating job: .*exceeded quota: none/);
    await cluster.client.delete(
      { group: '', version: 'v1', plural: 'resourcequotas', kind: 'ResourceQuota', namespaced: true },
      { namespace: 'default', name: 'none' },
    );
    await cluster.clock.advance(20_000);
    expect(await names()).toEqual(['tick-29453820']);
  });
});

describe('a controller that was away', () => {
  test('makes up for the latest start', async () => {
    await create();
    await cluster.clock.advance(5.5 * HOUR_MS);
    await start();
    expect(await names()).toEqual(['tick-29454060']);
  });

  test('that left between starting a Job and writing so finds it again, and starts no second', async () => {
    const stop = await start();
    await create();
    await cluster.clock.advance(HOUR_MS);
    await stop();
    const { metadata } = (await cronJob()) ?? {};
    if (metadata === undefined) throw new Error('no CronJob');
    await cluster.client.patchStatus(CRON_JOBS, { namespace: 'default', name: 'tick' }, { type: 'merge', body: { status: null } });
    await start();
    expect(await names()).toEqual(['tick-29453820']);
    expect((await cronJob())?.status).toMatchObject({ active: [{ name: 'tick-29453820' }], lastScheduleTime: '2026-01-01T01:00:00Z' });
  });
});
