/** The time to live of finished Jobs, when the cluster changes between the look and the deletion. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBS } from '../../../../shared/api/resources.ts';
import { createWorld, type World } from '../worker-world.ts';

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
