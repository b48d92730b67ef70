/** Goal: the manager counts how often the starts that it would foretell come true, of Jobs that wait, over the real API. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAdmissionWorld, type AdmissionWorld } from './admission-world.ts';

const MINUTE_MS = 60_000;
let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '1' });
  await world.cluster('eu');
});
afterEach(() => world.close());

const counted = async (): Promise<Record<string, number | undefined>> => {
  const outcomes = ['before', 'within', 'after', 'withdrawn', 'unknown'];
  const values = await Promise.all(outcomes.map((outcome) => world.metric('switchyard_start_estimates_total', { outcome })));
  return Object.fromEntries(outcomes.flatMap((outcome, index) => (values[index] === 0 ? [] : [[outcome, values[index]]])));
};
/** Jobs that ran for about ten minutes. */
async function past(): Promise<void> {
  for (const seconds of [590, 595, 600, 605, 610, 600, 598, 602, 601, 599]) {
    const name = `past-${world.clock.now()}`;
    await world.job(name);
    await world.settle(seconds * 1_000);
    await world.finish(name);
    await world.settle(100);
  }
}

test('a Job that is admitted when it was foretold is counted as such, also by a manager that has just started', async () => {
  await past();
  expect(await counted()).toEqual({});
  await world.restart();
  await world.settle(1_000);
  await world.job('holder');
  await world.settle(5_000);
  await world.job('waits');
  await world.settle(5_000);
  await world.settle(590 * 1_000);
  expect(await counted()).toEqual({});
  await world.finish('holder');
  await world.settle(2_000);
  expect(await counted()).toEqual({ within: 1 });
});

test('one that is admitted too early, and one that waits for too long, are counted as what they are', async () => {
  await past();
  await world.job('holder');
  await world.settle(5_000);
  await world.job('early');
  await world.settle(5_000);
  await world.finish('holder');
  await world.settle(2_000);
  expect(await counted()).toEqual({ before: 1 });
  await world.job('late');
  await world.settle(60 * MINUTE_MS);
  expect(await counted()).toEqual({ before: 1, after: 1 });
  await world.finish('early');
  await world.settle(2_000);
  expect(await world.running()).toEqual(['late']);
  expect(await counted()).toEqual({ before: 1, after: 1 });
});

test('one that is deleted while it waits says nothing about the estimate, and of one that nothing is known of none is made', async () => {
  await world.job('holder');
  await world.settle(5_000);
  await world.job('waits');
  await world.settle(5_000);
  expect(await counted()).toEqual({ unknown: 1 });
  await world.finish('holder');
  await world.settle(2_000);
  await world.job('deleted');
  await world.settle(5_000);
  await world.remove('deleted', { gone: false });
  await world.settle(2_000);
  expect(await counted()).toEqual({ unknown: 1, withdrawn: 1 });
});

test('of one that is admitted at once nothing is foretold', async () => {
  await past();
  await world.job('next');
  await world.settle(60 * MINUTE_MS);
  expect(await counted()).toEqual({});
});
