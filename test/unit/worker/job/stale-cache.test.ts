/** A worker whose cache has not seen yet what happened: nothing is done twice, nothing is waited for in vain. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PODS } from '../../../../shared/api/resources.ts';
import { createWorld, refusal, SUCCEEDED, type World } from '../worker-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const conditions = async (): Promise<string[]> =>
  ((await world.status()).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe('a cache that is behind', () => {
  test('of pods: none is created twice', async () => {
    world.hold('pods');
    await world.createJob({ completions: 4, parallelism: 2 });
    await world.pass();
    await world.patchJob({ metadata: { labels: { touched: 'yes' } } });
    await world.pass(5);
    expect(await world.pods()).toHaveLength(2);
    expect(await world.metric('job_controller_stale_sync_skips_total', { group: '', resource: 'pods' })).toBeGreaterThan(0);
    world.hold();
    await world.pass();
    expect(await world.pods()).toHaveLength(2);
    expect(await world.status()).toMatchObject({ active: 2 });
  });

  test('of a pod that goes before it is seen: it is replaced at once', async () => {
    world.hold('pods');
    await world.createJob();
    await world.pass();
    for (const pod of await world.pods()) await world.admin.delete(PODS, { namespace: 'ns', name: pod.metadata.name });
    world.hold();
    await world.pass(15);
    expect((await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(1);
  });

  test('of a pod that came and went and is never seen: it is replaced after five minutes, though nothing happens', async () => {
    const pod = { metadata: { name: 'job-gone1', namespace: 'ns', uid: 'gone', resourceVersion: '0' }, spec: { containers: [] } };
    world.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith('/pods') ? { status: 201, headers: {}, body: JSON.stringify(pod) } : undefined;
    await world.createJob();
    await world.pass();
    world.fault = undefined;
    await world.clock.advance(290_000);
    expect(await world.pods()).toEqual([]);
    await world.clock.advance(15_000);
    expect(await world.pods()).toHaveLength(1);
  });

  test('of pods: none is counted twice', async () => {
    await world.createJob({ completions: 4, parallelism: 2 });
    await world.pass();
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.clock.advance(0);
    world.hold('pods');
    await world.pass(5);
    expect(await world.status()).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} });
    world.hold();
    await world.pass(5);
    expect(await world.status()).toMatchObject({ succeeded: 2, active: 2, uncountedTerminatedPods: {} });
  });

  test('of pods: one that was gone when its finalizer was to be removed is not counted twice', async () => {
    await world.createJob({ completions: 2, parallelism: 1 });
    await world.pass();
    for (const pod of await world.pods()) await world.admin.delete(PODS, { namespace: 'ns', name: pod.metadata.name });
    await world.clock.advance(0);
    world.hold('pods');
    let lost = 0;
    world.lostAnswer = ({ method, path }) =>
      method === 'PATCH' && path.includes('/pods/') && lost++ === 0 ? refusal(504, 'Timeout', 'the request timed out') : undefined;
    await world.pass(20);
    await world.patchJob({ metadata: { labels: { touched: 'yes' } } });
    await world.pass();
    expect(await world.status()).toMatchObject({ failed: 1, uncountedTerminatedPods: {} });
    world.hold();
    await world.pass();
    expect(await world.status()).toMatchObject({ failed: 1, uncountedTerminatedPods: {} });
  });

  test('of pods: a finalizer that is gone is not removed once more when the Job has ended', async () => {
    await world.createJob();
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, SUCCEEDED);
    await world.clock.advance(0);
    world.hold('pods');
    await world.pass(5);
    expect(await conditions()).toContain('Complete=True CompletionsReached');
    world.hold();
    await world.pass(5);
    const removals = world.calls.filter((call) => call === `PATCH /api/v1/namespaces/ns/pods/${pod!.metadata.name}`);
    expect(removals).toHaveLength(1);
  });

  test('of Jobs: the end is told once', async () => {
    await world.createJob();
    await world.pass();
    const [pod] = await world.pods();
    world.hold('jobs');
    await world.setPod(pod!, SUCCEEDED);
    await world.pass(3);
    await world.admin.delete(PODS, { namespace: 'ns', name: pod!.metadata.name });
    await world.pass(3);
    world.hold();
    await world.pass(3);
    expect(await world.events()).toMatchObject({ 'Normal Completed: Job completed': 1 });
    expect(await world.status()).toMatchObject({ succeeded: 1 });
  });
});
