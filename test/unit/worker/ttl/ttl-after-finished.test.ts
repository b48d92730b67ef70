/** The time to live of finished Jobs, when the cluster changes between the look and the deletion. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBS } from '../../../../shared/api/resources.ts';
import { createWorld, refusal, type World } from '../worker-world.ts';

const key = { namespace: 'ns', name: 'job' };
let world: World;
beforeEach(async () => {
  world = await createWorld({ controllers: ['job', 'ttl-after-finished'] });
});
afterEach(() => world.stop());

test('a Job created anew under the name of one whose time is over is not deleted in its place', async () => {
  await world.createJob({ completions: 0, ttlSecondsAfterFinished: 60 });
  await world.pass(50);
  let anew: string | undefined;
  world.fault = async ({ method, path }) => {
    if (anew !== undefined || method !== 'DELETE' || !path.includes('/jobs/')) return undefined;
    await world.admin.delete(JOBS, key, { propagationPolicy: 'Background' });
    anew = (await world.createJob()).metadata.uid;
    return undefined;
  };
  await world.pass(60);
  expect(anew).toBeDefined();
  const job = await world.job();
  expect(job?.metadata.uid).toBe(anew);
  expect(job?.metadata.deletionTimestamp).toBeUndefined();
});

test('how late a Job was deleted is told in seconds', async () => {
  await world.createJob({ completions: 0, ttlSecondsAfterFinished: 60 });
  await world.pass(2);
  let isDown = true;
  world.fault = ({ method, path }) =>
    isDown && method === 'DELETE' && path.includes('/jobs/') ? refusal(503, 'ServiceUnavailable', 'come back later') : undefined;
  await world.pass(68);
  isDown = false;
  await world.pass(60);
  expect((await world.job())?.metadata.deletionTimestamp).toBeDefined();
  const name = 'ttl_after_finished_controller_job_deletion_duration_seconds';
  const values = (await world.registry.getSingleMetric(name)?.get())?.values ?? [];
  const sum = values.find((each) => 'metricName' in each && each.metricName === `${name}_sum`)?.value ?? 0;
  const deletedMs = Date.parse((await world.job())?.metadata.deletionTimestamp ?? '');
  expect(sum).toBeCloseTo((deletedMs - Date.UTC(2026, 0, 1, 0, 1, 0)) / 1000, 0);
  expect(sum).toBeGreaterThan(5);
});
