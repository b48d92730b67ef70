import { afterEach, expect, test } from 'vitest';
import type { LocalCluster } from '../../../../../manager/cli/local/clusters.ts';
import { watchPods } from '../../../../../manager/cli/local/pod-watch.ts';
import { JOB_COMPLETION_INDEX, JOB_NAME_LABEL } from '../../../../../shared/api/names.ts';
import { PODS } from '../../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { toWireTime } from '../../../../../shared/api/wire-time.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';

const T0 = Date.UTC(2026, 0, 1);
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A worker cluster whose pods end when they are told to, and the watch of its pods. */
async function aWatchedCluster() {
  const { client, plane } = await startCluster(systemClock, []);
  const watched: Pick<KubeClient, 'list' | 'watch' | 'raw'> = {
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    async raw({ path }) {
      if (path.includes('silent')) throw new Error('gone');
      return `from ${path}`;
    },
  };
  const stop = new AbortController();
  ends.push(async () => {
    stop.abort(new Error('the test is over'));
    await plane.close();
  });
  const cluster = { name: 'east', client: watched } as LocalCluster;
  const run = async (
    job: string,
    pod: string,
    phase: 'Succeeded' | 'Failed',
    { index, atMs = T0 }: { index?: number; atMs?: number } = {},
  ) => {
    await client.create(PODS, {
      metadata: {
        namespace: 'default',
        name: pod,
        labels: { [JOB_NAME_LABEL]: job },
        annotations: index === undefined ? {} : { [JOB_COMPLETION_INDEX]: String(index) },
      },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
    });
    const state = { terminated: { exitCode: phase === 'Succeeded' ? 0 : 1, finishedAt: toWireTime(atMs) } };
    const containerStatuses = [{ name: 'main', image: 'busybox', imageID: '', ready: false, restartCount: 0, state }];
    const key = { namespace: 'default', name: pod };
    await client.patchStatus(PODS, key, { type: 'merge', body: { status: { phase, containerStatuses } } });
  };
  return { run, watch: watchPods([cluster], stop.signal) };
}

test('what a pod has printed is kept with its index, where its Job has indexes, and the cluster it ran on', async () => {
  const { run, watch } = await aWatchedCluster();
  await run('sweep', 'sweep-2-abcde', 'Succeeded', { index: 2 });
  await run('sum', 'sum-abcde', 'Succeeded');
  await run('sum', 'sum-fails', 'Failed');
  await expect.poll(() => watch.outputs().length).toBe(2);
  expect(watch.outputs()).toEqual([
    {
      job: 'sweep',
      index: 2,
      pod: 'sweep-2-abcde',
      cluster: 'east',
      text: 'from /api/v1/namespaces/default/pods/sweep-2-abcde/log',
    },
    { job: 'sum', index: undefined, pod: 'sum-abcde', cluster: 'east', text: 'from /api/v1/namespaces/default/pods/sum-abcde/log' },
  ]);
});

test('a pod whose log cannot be had says why, and stands for no output of its Job', async () => {
  const { run, watch } = await aWatchedCluster();
  await run('sum', 'silent', 'Succeeded');
  await expect
    .poll(() => watch.outputs())
    .toEqual([{ job: '', index: undefined, pod: 'silent', cluster: 'east', text: 'no log: Error: gone' }]);
});

test('the next try of a Job is that of the index that is tried first, later with each failure, and none once all have succeeded', async () => {
  const { run, watch } = await aWatchedCluster();
  await run('sweep', 'sweep-0-a', 'Failed', { index: 0 });
  await run('sweep', 'sweep-0-b', 'Failed', { index: 0, atMs: T0 + 10_000 });
  await expect.poll(() => watch.nextTryMillis('sweep')).toBe(T0 + 30_000);
  await run('sweep', 'sweep-1-a', 'Failed', { index: 1, atMs: T0 + 5_000 });
  await expect.poll(() => watch.nextTryMillis('sweep')).toBe(T0 + 15_000);
  await run('sweep', 'sweep-1-b', 'Succeeded', { index: 1, atMs: T0 + 20_000 });
  await expect.poll(() => watch.nextTryMillis('sweep')).toBe(T0 + 30_000);
  await run('sweep', 'sweep-0-c', 'Succeeded', { index: 0, atMs: T0 + 40_000 });
  await expect.poll(() => watch.nextTryMillis('sweep')).toBeUndefined();
  expect(watch.nextTryMillis('another')).toBeUndefined();
});
