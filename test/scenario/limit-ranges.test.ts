/**
 * Goal: a Job is charged for what its pods ask for once they are made, by the LimitRanges of its namespace and its RuntimeClass, and told
 * when a LimitRange forbids them.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMIT_RANGES } from '../../manager/api/limit-range.ts';
import { RUNTIME_CLASSES } from '../../manager/api/runtime-class.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '4' });
  await world.cluster('eu-1');
});
afterEach(() => world.close());

const setRange = (item: object, type = 'Container') =>
  world.client.create(LIMIT_RANGES, { metadata: { name: 'small', namespace: NAMESPACE }, spec: { limits: [{ type, ...item }] } } as never);
const changeRange = (item: object) =>
  world.client.patch(
    LIMIT_RANGES,
    { namespace: NAMESPACE, name: 'small' },
    { type: 'merge', body: { spec: { limits: [{ type: 'Container', ...item }] } } },
  );
const template = (pod: object, resources: object = {}) => ({
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources }], ...pod } } },
});
const told = async (name: string) => conditionOf(await world.getJob(name), 'QuotaReserved');

test('a Job that says nothing of cpu is charged what its namespace has it ask for', async () => {
  await setRange({ defaultRequest: { cpu: '1500m' } });
  for (const name of ['a', 'b', 'c']) await world.job(name, template({}));
  await world.settle(3_000);
  expect(await world.running()).toEqual(['a', 'b']);
  expect(await world.record('a')).toMatchObject({ requests: { cpu: '1500m', pods: '1' } });
});

test('what changes later counts for those that wait, and moves nobody who runs', async () => {
  await world.job('a', template({}));
  await world.settle(1_000);
  await setRange({ defaultRequest: { cpu: '3' } });
  await world.settle(1_000);
  for (const name of ['b', 'c']) await world.job(name, template({}));
  await world.settle(3_000);
  expect(await world.running()).toEqual(['a', 'b']);
  await changeRange({ defaultRequest: { cpu: '1' } });
  await world.settle(60_000);
  expect(await world.running()).toEqual(['a', 'b', 'c']);
  expect((await world.record('b'))?.requests).toEqual({ cpu: '3', pods: '1' });
  await changeRange({ defaultRequest: { cpu: '4' } });
  await world.restart();
  await world.settle(60_000);
  expect(await world.running()).toEqual(['a', 'b', 'c']);
});

test('a RuntimeClass adds its overhead, also where it comes after the Job', async () => {
  await world.job('filler', { cpu: '4' });
  await world.settle(1_000);
  await world.job('kata', template({ runtimeClassName: 'kata' }, { requests: { cpu: '1' } }));
  await world.settle(1_000);
  await world.client.create(RUNTIME_CLASSES, {
    metadata: { name: 'kata' },
    handler: 'kata',
    overhead: { podFixed: { cpu: '250m' } },
  } as never);
  await world.settle(1_000);
  await world.finish('filler');
  await world.settle(1_000);
  expect(await world.record('kata')).toMatchObject({ requests: { cpu: '1250m', pods: '1' } });
});

test('a Job that a LimitRange forbids waits and says why, blocks nobody, and goes when it is allowed', async () => {
  await setRange({ max: { cpu: '1' } });
  await world.job('large', { cpu: '2' });
  await world.job('small', { cpu: '1' });
  await world.settle(3_000);
  expect(await world.running()).toEqual(['small']);
  expect(await told('large')).toMatchObject({
    status: 'False',
    reason: 'ForbiddenByLimitRange',
    message: 'limit range small: container main asks for 2 cpu, and at most 1 cpu is allowed',
  });
  await changeRange({ max: { cpu: '2' } });
  await world.settle(3_000);
  expect(await world.running()).toEqual(['large', 'small']);
});
