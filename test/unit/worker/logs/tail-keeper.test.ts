import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseEndedPods } from '../../../../shared/api/ended-pods.ts';
import { workerLeaseName } from '../../../../shared/api/fence-leases.ts';
import type { ConfigMap, Pod, PodStatus } from '../../../../shared/api/kubernetes.ts';
import { LOG_TAILS_BYTES_MAX, logTailsName } from '../../../../shared/api/log-tails.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  ENDED_PODS_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  KEEP_LOGS_LABEL,
  ORIGIN_LABEL,
} from '../../../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NODES } from '../../../../shared/api/resources.ts';
import type { TransportRequest, TransportResponse } from '../../../../shared/kube/transport.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { createWorld, refusal, SUCCEEDED, type World } from '../worker-world.ts';

const COPY = { [ORIGIN_LABEL]: 'home' };
const ended = (exitCode: number): PodStatus => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  containerStatuses: [
    {
      name: 'main',
      image: 'i',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: {
        terminated: {
          exitCode,
          reason: exitCode === 0 ? 'Completed' : 'Error',
          startedAt: '2026-01-01T00:00:00Z',
          finishedAt: '2026-01-01T00:00:03Z',
        },
      },
    },
  ],
});

let world: World;
/** Paths of logs that were asked for. */
let asked: string[];
let answer: (request: TransportRequest) => TransportResponse | undefined | Promise<TransportResponse | undefined>;
const says = (body: string): TransportResponse => ({ status: 200, headers: { 'content-type': 'text/plain' }, body });

async function begin(keepLogs: 'Failed' | 'All' | 'None' = 'Failed', tailBytes = 65_536): Promise<void> {
  world = await createWorld({}, undefined, { namespace: 'kube-system', keepLogs, tailBytes });
  await world.admin.create(NODES, { metadata: { name: 'node-1' } });
  world.fault = (request) => {
    if (!request.path.includes('/log?')) return undefined;
    asked.push(request.path);
    return answer(request);
  };
}
beforeEach(async () => {
  asked = [];
  answer = () => says('first\nlast words\n');
  await begin();
});
afterEach(() => world.stop());

/** A copy with this many pods, all bound to a node. */
async function run(pods: number, spec: object = {}, labels: Record<string, string> = COPY): Promise<Pod[]> {
  await world.createJob({ completions: pods, parallelism: pods, backoffLimit: 0, ...spec }, 'job', labels);
  await world.pass();
  const made = await world.pods();
  for (const { metadata } of made) {
    const path = `/api/v1/namespaces/ns/pods/${metadata.name}/binding`;
    await world.admin.raw({
      method: 'POST',
      path,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: metadata.name }, target: { kind: 'Node', name: 'node-1' } },
    });
  }
  return world.pods();
}
const tellsOfPods = async () => parseEndedPods((await world.job())?.metadata.annotations?.[ENDED_PODS_ANNOTATION]);
const isFinished = async (): Promise<boolean> =>
  ((await world.status()).conditions ?? []).some(({ type, status }) => (type === 'Failed' || type === 'Complete') && status === 'True');
const tracked = async (): Promise<number> =>
  (await world.pods()).filter(({ metadata }) => metadata.finalizers?.includes(JOB_TRACKING_FINALIZER)).length;
async function tails(): Promise<{ readonly object: ConfigMap; readonly texts: Record<string, string> } | undefined> {
  const [object] = (await world.admin.list(CONFIG_MAPS, { namespace: 'kube-system', labelSelector: `${ORIGIN_LABEL}=home` })).items;
  if (object === undefined) return undefined;
  const texts = Object.entries(object.binaryData ?? {}).map(([pod, data]) => [pod, gunzipSync(Buffer.from(data, 'base64')).toString()]);
  return { object, texts: Object.fromEntries(texts) };
}

describe('a pod of a copy that failed', () => {
  test('leaves exit code, times, node and last line on the copy, and the end of its log where the Leases are', async () => {
    const [pod] = await run(1);
    await world.setPod(pod!, ended(3));
    await world.pass();
    expect(await isFinished()).toBe(true);
    const { name } = pod!.metadata;
    expect(await tellsOfPods()).toEqual([
      {
        pod: name,
        phase: 'Failed',
        container: 'main',
        exitCode: 3,
        reason: 'Error',
        node: 'node-1',
        started: '2026-01-01T00:00:00Z',
        ended: '2026-01-01T00:00:03Z',
        lastLine: 'last words',
        tail: true,
      },
    ]);
    const kept = await tails();
    expect(kept?.texts).toEqual({ [name]: 'first\nlast words\n' });
    const job = await world.job();
    expect(kept?.object.metadata).toMatchObject({
      name: logTailsName(job!.metadata.uid),
      labels: {
        ...COPY,
        'switchyard.dev/log-tails': workerLeaseName(BUILT_IN_JOB_CONTROLLER_NAME),
        'switchyard.dev/job-namespace': 'ns',
        'switchyard.dev/job-name': 'job',
      },
    });
    expect(kept?.object.metadata.ownerReferences).toBeUndefined();
    expect(asked).toEqual([`/api/v1/namespaces/ns/pods/${name}/log?container=main&tailLines=1024&limitBytes=1048576`]);
  });

  test('costs two calls more than one of a Job that is nobody’s copy, and not one write of a status', async () => {
    const calls = async (labels: Record<string, string>): Promise<string[]> => {
      const [pod] = await run(1, {}, labels);
      await world.setPod(pod!, ended(3));
      await world.pass();
      expect(await isFinished()).toBe(true);
      return world.calls
        .map((call) => call.replaceAll(/job-[a-z0-9]{5}|[0-9a-f-]{36}/g, '*').replace(/\?.*/, ''))
        .filter((call) => !call.endsWith('/events'));
    };
    const before = await calls({});
    await world.stop();
    await begin();
    expect((await calls(COPY)).toSorted()).toEqual([...before, 'POST /api/v1/namespaces/kube-system/configmaps'].toSorted());
    expect(asked).toHaveLength(1);
  });

  test('goes without its log after two seconds, while the others are counted', async () => {
    const pods = await run(3, { backoffLimit: 6 });
    const [hanging, other, good] = pods.map(({ metadata }) => metadata.name);
    answer = (request) => (request.path.includes(hanging!) ? new Promise(() => undefined) : says('other\n'));
    for (const pod of pods) await world.setPod(pod, pod.metadata.name === good ? SUCCEEDED : ended(1));
    await world.clock.advance(1_100);
    expect(await tracked()).toBe(2);
    await world.clock.advance(900);
    // The one that hangs, and the two that are there in the place of those that failed.
    expect(await world.status()).toMatchObject({ succeeded: 1, failed: 1, uncountedTerminatedPods: { failed: [expect.any(String)] } });
    await world.clock.advance(2_000);
    expect(await world.status()).toMatchObject({ succeeded: 1, failed: 2, uncountedTerminatedPods: {} });
    expect((await tellsOfPods()).map(({ pod, tail }) => ({ pod, tail }))).toEqual(
      expect.arrayContaining([
        { pod: hanging, tail: undefined },
        { pod: other, tail: true },
      ]),
    );
    expect(await world.metric('switchyard_worker_log_tails_total', { result: 'late' })).toBe(1);
  });

  test('is counted once, however often the worker begins anew while its log is read', async () => {
    const [pod] = await run(1);
    answer = () => new Promise(() => undefined);
    await world.setPod(pod!, ended(3));
    await world.clock.advance(1_500);
    expect(await tracked()).toBe(1);
    answer = () => says('after the restart\n');
    await world.restart();
    await world.pass();
    expect(await world.status()).toMatchObject({ failed: 1, uncountedTerminatedPods: {} });
    expect(await isFinished()).toBe(true);
    expect((await tails())?.texts).toEqual({ [pod!.metadata.name]: 'after the restart\n' });
  });

  test('adds to what was kept before the worker began', async () => {
    const pods = await run(2, { backoffLimit: 6 });
    await world.setPod(pods[0]!, ended(3));
    await world.pass();
    await world.restart();
    await world.setPod(pods[1]!, ended(4));
    await world.pass();
    expect(Object.keys((await tails())?.texts ?? {}).toSorted()).toEqual(pods.map(({ metadata }) => metadata.name).toSorted());
    expect((await tellsOfPods()).map(({ exitCode }) => exitCode)).toEqual([3, 4]);
  });

  test('has no log read where it never ran', async () => {
    const [pod] = await run(1);
    await world.setPod(pod!, { phase: 'Failed', reason: 'Evicted' });
    await world.pass();
    expect(await isFinished()).toBe(true);
    expect(await tellsOfPods()).toMatchObject([{ phase: 'Failed', reason: 'Evicted' }]);
    expect(asked).toEqual([]);
  });
});

test('a log that never ends is cut, and all of a Job fit into one object', async () => {
  const random = seededRandom(1);
  const noise = Array.from({ length: 400_000 }, () => String.fromCharCode(33 + Math.floor(random() * 90))).join('');
  answer = () => says(`${noise}\n`);
  await world.stop();
  await begin('Failed', 256 * 1024);
  const pods = await run(30, { backoffLimit: 100 });
  for (const pod of pods) await world.setPod(pod, ended(1));
  await world.pass(4);
  const { object } = (await tails())!;
  const sizes = Object.values(object.binaryData ?? {}).map((data) => Buffer.from(data, 'base64').length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(LOG_TAILS_BYTES_MAX);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.length).toBeLessThan(30);
  expect(await world.status()).toMatchObject({ failed: 30, uncountedTerminatedPods: {} });
});

describe('no log is read', () => {
  test('of pods that succeeded, unless the Job asks for all', async () => {
    const [pod] = await run(1);
    await world.setPod(pod!, ended(0));
    await world.pass();
    expect(await isFinished()).toBe(true);
    expect(asked).toEqual([]);
    expect(await tails()).toBeUndefined();
    expect(await tellsOfPods()).toMatchObject([{ phase: 'Succeeded', exitCode: 0, node: 'node-1' }]);
    await world.stop();
    await begin();
    const [next] = await run(1, {}, { ...COPY, [KEEP_LOGS_LABEL]: 'All' });
    await world.setPod(next!, ended(0));
    await world.pass();
    expect(asked).toHaveLength(1);
    expect(await tellsOfPods()).toMatchObject([{ phase: 'Succeeded', lastLine: 'last words', tail: true }]);
  });

  test.each([
    ['of a Job that is nobody’s copy', {}],
    ['of one that wants none', { ...COPY, [KEEP_LOGS_LABEL]: 'None' }],
  ])('%s', async (_, labels: Record<string, string>) => {
    const [pod] = await run(1, {}, labels);
    await world.setPod(pod!, ended(3));
    await world.pass();
    expect(await isFinished()).toBe(true);
    expect(asked).toEqual([]);
    expect((await tellsOfPods()).length).toBe(labels[ORIGIN_LABEL] === undefined ? 0 : 1);
  });

  test('of pods of a copy that is being deleted', async () => {
    const [pod] = await run(1);
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Foreground' });
    await world.setPod(pod!, ended(3));
    await world.pass();
    expect(asked).toEqual([]);
    expect(await tracked()).toBe(0);
  });
});

test('a worker without the right to read logs says so once, and asks no more for a while', async () => {
  answer = () => refusal(403, 'Forbidden', 'pods/log is forbidden');
  const pods = await run(4, { backoffLimit: 6 });
  for (const pod of pods) {
    await world.setPod(pod, ended(1));
    await world.pass();
  }
  expect(asked).toHaveLength(1);
  expect(world.warnings.filter(({ message }) => message.startsWith('logs of pods cannot be kept'))).toHaveLength(1);
  expect(await world.status()).toMatchObject({ failed: 4, uncountedTerminatedPods: {} });
});
