/**
 * Goal: a Job that lets itself be admitted with fewer pods runs with as many as there is room for, and with more when it is admitted anew;
 * it itself stays as its user wrote it.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { MIN_PARALLELISM_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';
import { createDispatchWorld, NAMESPACE as DISPATCH_NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const fewest = (pods: string) => ({ annotations: { [MIN_PARALLELISM_ANNOTATION]: pods }, spec: { parallelism: 8, completions: 8 } });

describe('in a queue for ten of which six are used', () => {
  let world: AdmissionWorld;
  beforeEach(async () => {
    world = await createAdmissionWorld();
    await world.flavor('default');
    await world.queue('main', { cpu: '10' });
    await world.cluster('eu-1');
    await world.job('first', { cpu: '6' });
    await world.settle(1_000);
  });
  afterEach(() => world.close());
  const setAnnotation = (name: string, annotation: string, value: string | null) =>
    world.client.patch(
      JOBS,
      { namespace: NAMESPACE, name },
      { type: 'merge', body: { metadata: { annotations: { [annotation]: value } } } },
    );

  test('the Job is admitted with four, stays so, and has all of them when it is admitted anew', async () => {
    await world.job('wide', fewest('2'));
    await world.settle(1_000);
    expect(await world.record('wide')).toMatchObject({ requests: { cpu: '4', pods: '4' }, parallelism: 4 });
    expect((await world.getJob('wide')).spec.parallelism).toBe(8);
    await world.finish('first');
    await world.settle(60_000);
    expect(await world.running()).toEqual(['wide']);
    expect(await world.record('wide')).toMatchObject({ requests: { pods: '4' }, parallelism: 4 });
    await setAnnotation('wide', 'switchyard.dev/hold', 'true');
    await world.settle(1_000);
    await world.rest('wide');
    await setAnnotation('wide', 'switchyard.dev/hold', null);
    await world.settle(1_000);
    const record = await world.record('wide');
    expect(record).toMatchObject({ requests: { cpu: '8', pods: '8' } });
    expect(record).not.toHaveProperty('parallelism');
  });

  test('what it does not hold goes to others, also after a restart', async () => {
    await world.job('wide', fewest('2'));
    await world.settle(1_000);
    await world.restart();
    await world.job('small', { cpu: '500m' });
    await world.settle(1_000);
    expect(await world.running()).toEqual(['first', 'wide']);
    await world.finish('first');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['small', 'wide']);
  });

  test('a Job waits for the fewest pods that it names, and its word may be taken back while it runs', async () => {
    await world.job('wide', fewest('5'));
    await world.settle(3_000);
    expect(await world.running()).toEqual(['first']);
    await setAnnotation('wide', MIN_PARALLELISM_ANNOTATION, '3');
    await world.settle(3_000);
    expect(await world.running()).toEqual(['first', 'wide']);
    await setAnnotation('wide', MIN_PARALLELISM_ANNOTATION, null);
    await world.settle(60_000);
    expect(await world.running()).toEqual(['first', 'wide']);
  });

  test('a partly admitted Job that asks for fewer pods than it has holds fewer', async () => {
    await world.job('wide', fewest('2'));
    await world.settle(1_000);
    const key = { namespace: NAMESPACE, name: 'wide' };
    await world.client.patchStatus(JOBS, key, {
      type: 'merge',
      body: { status: { startTime: '2026-01-01T00:00:01Z', active: 3 } },
    });
    await world.client.patch(JOBS, key, { type: 'merge', body: { spec: { parallelism: 3 } } });
    await world.settle(30_000);
    expect(await world.record('wide')).toMatchObject({ requests: { cpu: '3', pods: '3' } });
    expect(await world.running()).toEqual(['first', 'wide']);
  });
});

describe('on a worker cluster', () => {
  let world: DispatchWorld;
  beforeEach(async () => {
    world = await createDispatchWorld({ workers: ['eu-1'] });
  });
  afterEach(() => world.close());

  test('the copy has the pods that were admitted, follows a change to fewer, and the Job says how many it has', async () => {
    const resources = [{ name: 'cpu', nominalQuota: '5' }];
    const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources }] }];
    await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { resourceGroups } } });
    await world.submit('wide', fewest('2'));
    await world.settle(3_000);
    expect((await world.worker('eu-1').copy('wide'))?.spec).toMatchObject({ parallelism: 5, completions: 8, suspend: false });
    await world.worker('eu-1').start('wide');
    await world.settle(3_000);
    const job = await world.job('wide');
    expect(job.spec.parallelism).toBe(8);
    expect(job.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'QuotaReserved',
        status: 'True',
        message: 'quota reserved in ClusterQueue "main" for 5 of 8 pods at once',
      }),
    );
    const key = { namespace: DISPATCH_NAMESPACE, name: 'wide' };
    await world.home.patch(JOBS, key, { type: 'merge', body: { spec: { parallelism: 6 } } });
    await world.settle(3_000);
    expect((await world.worker('eu-1').copy('wide'))?.spec.parallelism).toBe(5);
    await world.home.patch(JOBS, key, { type: 'merge', body: { spec: { parallelism: 3 } } });
    await world.settle(3_000);
    expect((await world.worker('eu-1').copy('wide'))?.spec.parallelism).toBe(3);
  });
});
