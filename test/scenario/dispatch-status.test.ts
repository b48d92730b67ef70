/** Goal: the status of a copy comes home soon, and however often it changes it costs few writes. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
let registry: Registry;
beforeEach(async () => {
  registry = new Registry();
  world = await createDispatchWorld({ workers: ['eu-1'], registry });
});
afterEach(() => world.close());

const statusWrites = (): number =>
  world.homeLine.sent.filter((call) => call.startsWith('PATCH') && call.endsWith('/jobs/sum/status')).length;

test('a status that changes all the time is written five times a second at most, and its last state is home soon', async () => {
  await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' }, spec: { parallelism: 60, completions: 60 } });
  await world.settle(2_000);
  const eu = world.worker('eu-1');
  await eu.start('sum');
  await world.settle(2_000);
  world.homeLine.sent.length = 0;
  for (let active = 1; active <= 40; active++) {
    await eu.report('sum', { active });
    await world.settle(50);
  }
  expect(statusWrites()).toBeLessThanOrEqual(11);
  expect(statusWrites()).toBeGreaterThan(3);
  await world.settle(250);
  expect(await world.job('sum')).toMatchObject({ status: { active: 40 } });
});

test('an end is written at once', async () => {
  await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await world.settle(2_000);
  const eu = world.worker('eu-1');
  await eu.start('sum');
  await world.settle(2_000);
  await eu.complete('sum');
  await world.settle();
  expect(await world.job('sum')).toMatchObject({ status: { succeeded: 1 } });
});

test('changes that come in while a slow server still takes the last write are gathered, too', async () => {
  await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' }, spec: { parallelism: 90, completions: 90 } });
  await world.settle(2_000);
  const eu = world.worker('eu-1');
  await eu.start('sum');
  await world.settle(2_000);
  world.homeLine.sent.length = 0;
  world.homeLine.instead = async ({ method }) => {
    if (method === 'PATCH') await sleep(world.clock, 100);
    return undefined;
  };
  for (let active = 1; active <= 90; active++) {
    await eu.report('sum', { active });
    await world.settle(20);
  }
  expect(statusWrites()).toBeLessThanOrEqual(9);
  await world.settle(1_000);
  expect(await world.job('sum')).toMatchObject({ status: { active: 90 } });
});

test('while the home server answers slowly, a Job that is over soon gets its end and nothing before', async () => {
  await world.submit('long', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await world.settle(2_000);
  const eu = world.worker('eu-1');
  world.homeLine.instead = async ({ method }) => {
    if (method === 'PATCH') await sleep(world.clock, 300);
    return undefined;
  };
  // This one's writes show how slow the server is.
  await eu.start('long');
  await world.settle(1_000);
  world.homeLine.sent.length = 0;
  await eu.start('sum');
  await world.settle(1_000);
  await eu.complete('sum');
  await world.settle(1_000);
  expect(await world.job('sum')).toMatchObject({ status: { succeeded: 1 } });
  expect(statusWrites()).toBe(1);
});

test('it is measured how long changes of a copy take to be home, each once', async () => {
  const lag = async (field: 'sum' | 'count'): Promise<number> =>
    Number(new RegExp(`^switchyard_status_lag_seconds_${field}\\{cluster="eu-1"\\} (.*)$`, 'm').exec(await registry.metrics())?.[1] ?? 0);
  await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' }, spec: { parallelism: 60, completions: 60 } });
  await world.settle(2_000);
  const eu = world.worker('eu-1');
  await eu.start('sum');
  await world.settle(2_000);
  const [count, sum] = [await lag('count'), await lag('sum')];
  for (let active = 11; active <= 13; active++) {
    await eu.report('sum', { active });
    await world.settle(1_000);
  }
  // What is not urgent is gathered for 0.2 s.
  expect((await lag('count')) - count).toBe(3);
  expect((await lag('sum')) - sum).toBeGreaterThan(0.3);
  expect((await lag('sum')) - sum).toBeLessThan(1.5);
  await world.settle(60_000);
  expect((await lag('count')) - count).toBe(3);
});
