/** Goal: what keeps the pods of a Job from starting is read where the Job was submitted, and costs Jobs that start nothing. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUILT_IN_JOB_CONTROLLER_NAME, CLUSTERS_ANNOTATION, CONTROLLER_UID_LABEL } from '../../shared/api/names.ts';
import { EVENTS, PODS } from '../../shared/api/resources.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const DISPATCHED = 'dispatched to cluster "eu-1" (placement 1)';
let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld({ workers: ['eu-1'] });
});
afterEach(() => world.close());

const submit = (name: string) => world.submit(name, { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
const message = async (name: string) => findCondition((await world.job(name)).status?.conditions, 'Dispatched')?.message;
const questions = (): string[] => world.worker('eu-1').line.sent.filter((call) => /^GET .*\/(events|pods)$/.test(call));

/** As the Job controller of the cluster records it. */
async function recordFailedCreate(name: string, text: string): Promise<void> {
  const { client, copy } = world.worker('eu-1');
  const uid = (await copy(name))?.metadata.uid ?? '';
  await client.create(EVENTS, {
    metadata: { name: `${name}.1`, namespace: NAMESPACE },
    involvedObject: { apiVersion: 'batch/v1', kind: 'Job', namespace: NAMESPACE, name, uid },
    type: 'Warning',
    reason: 'FailedCreate',
    message: text,
    lastTimestamp: '2026-01-01T00:00:00Z',
    source: { component: BUILT_IN_JOB_CONTROLLER_NAME },
  });
}

/** A pod as a kubelet leaves it that cannot pull the image. */
async function podThatWaits(name: string, reason: string, text: string): Promise<void> {
  const { client, copy } = world.worker('eu-1');
  const uid = (await copy(name))?.metadata.uid ?? '';
  const key = { namespace: NAMESPACE, name: `${name}-x` };
  await client.create(PODS, {
    metadata: { ...key, labels: { [CONTROLLER_UID_LABEL]: uid } },
    spec: { containers: [{ name: 'main', image: 'nowhere.example/none' }] },
  } as never);
  const waiting = {
    name: 'main',
    image: 'nowhere.example/none',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { waiting: { reason, message: text } },
  };
  await client.patchStatus(PODS, key, { type: 'merge', body: { status: { phase: 'Pending', containerStatuses: [waiting] } } });
}

test('a Job whose pods are refused says so after ten seconds, and no longer when it starts', async () => {
  await submit('sum');
  await world.settle(1_000);
  await recordFailedCreate('sum', 'Error creating: pods "sum-x" is forbidden: exceeded quota: team');
  await world.settle(8_000);
  expect(await message('sum')).toBe(DISPATCHED);
  expect(questions()).toEqual([]);
  await world.settle(3_000);
  expect(await message('sum')).toBe(`${DISPATCHED}; FailedCreate: Error creating: pods "sum-x" is forbidden: exceeded quota: team`);
  const writes = () => world.homeLine.sent.filter((call) => call.endsWith('/jobs/sum/status')).length;
  const before = writes();
  await world.settle(60_000);
  expect(writes()).toBe(before);
  await world
    .worker('eu-1')
    .report('sum', { active: 1, ready: 1, startTime: '2026-01-01T00:00:00Z', terminating: 0, uncountedTerminatedPods: {} });
  await world.settle(1_000);
  expect(await message('sum')).toBe(DISPATCHED);
  expect(writes()).toBe(before + 1);
  const asked = questions().length;
  await world.settle(900_000);
  expect(questions()).toHaveLength(asked);
});

test('a Job whose image cannot be pulled says so', async () => {
  await submit('sum');
  await world.settle(1_000);
  await world.worker('eu-1').start('sum');
  await podThatWaits('sum', 'ImagePullBackOff', 'Back-off pulling image "nowhere.example/none"');
  await world.settle(11_000);
  expect(await message('sum')).toBe(`${DISPATCHED}; 1 pod waits: ImagePullBackOff: Back-off pulling image "nowhere.example/none"`);
});

test('Jobs that start in time cost no question, and those that do not are asked about less and less', async () => {
  for (const name of ['quick', 'slow']) await submit(name);
  await world.settle(1_000);
  await world
    .worker('eu-1')
    .report('quick', { active: 1, ready: 1, startTime: '2026-01-01T00:00:00Z', terminating: 0, uncountedTerminatedPods: {} });
  await world.settle(300_000);
  expect(questions().length).toBeLessThanOrEqual(5);
});

test('where the manager may not list events, nothing is said, and it is hardly asked', async () => {
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 403,
    reason: 'Forbidden',
    message: 'events is forbidden',
  });
  world.worker('eu-1').line.instead = ({ path }) => (/\/events\b/.test(path) ? { status: 403, headers: {}, body } : undefined);
  for (const name of ['a', 'b', 'c', 'd']) await submit(name);
  await world.settle(500_000);
  expect(await message('a')).toBe(DISPATCHED);
  expect(questions()).toHaveLength(1);
});
