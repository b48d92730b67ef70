/** Goal: many writes, late answers and caches that lag neither give quota twice nor keep anybody waiting for what is free. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeClient } from '../../shared/kube/client.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

type Around = {
  /** Around each write of an admission or eviction. */
  patch?: (send: () => Promise<unknown>) => Promise<unknown>;
  /** What is told of Jobs waits for this. */
  jobsHeld?: PromiseWithResolvers<void> | undefined;
};

let world: AdmissionWorld;
let around: Around;
beforeEach(() => {
  around = {};
});
afterEach(() => {
  release();
  return world.close();
});

const release = (): void => {
  around.jobsHeld?.resolve();
  around.jobsHeld = undefined;
};

const wrap = (client: KubeClient): KubeClient => {
  const patch = (...parameters: Parameters<KubeClient['patch']>): Promise<unknown> => {
    const send = () => client.patch(...parameters);
    return around.patch === undefined ? send() : around.patch(send);
  };
  const watch = async (...parameters: Parameters<KubeClient['watch']>) => {
    const batches = await client.watch(...parameters);
    return parameters[0].plural === JOBS.plural ? held(batches) : batches;
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'patch') return patch;
      if (name === 'watch') return watch;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
};

async function* held<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const batch of batches) {
    await around.jobsHeld?.promise;
    yield batch;
  }
}

test('an admission that is sent again, because its answer was lost, and meets its own first try keeps its quota', async () => {
  world = await createAdmissionWorld({ wrap });
  await world.flavor('default');
  await world.queue('main', { cpu: '1' });
  await world.cluster('eu-1');
  await world.job('b');
  await world.settle(1_000);
  expect(await world.running()).toEqual(['b']);
  await world.job('a');
  await world.job('c');
  await world.settle(1_000);
  let lost = false;
  around.patch = async (send) => {
    if (lost) return send();
    lost = true;
    around.jobsHeld = Promise.withResolvers();
    await send();
    throw new Error('socket hang up');
  };
  await world.finish('b');
  await world.settle(20_000);
  expect(lost).toBe(true);
  expect(await world.running()).toEqual(['a']);
  release();
  await world.settle(5_000);
  expect(await world.running()).toEqual(['a']);
  expect(conditionOf(await world.getJob('c'), 'QuotaReserved')).toMatchObject({ status: 'False' });
});

test('of many Jobs that fit at once only so many are written at a time, and all are admitted', async () => {
  world = await createAdmissionWorld({ wrap });
  await world.flavor('default');
  await world.queue('main', { cpu: '1000' });
  for (let index = 0; index < 150; index++) await world.job(`job-${index}`);
  await world.settle(1_000);
  const gate = Promise.withResolvers<void>();
  let underWay = 0;
  let most = 0;
  around.patch = async (send) => {
    most = Math.max(most, ++underWay);
    await gate.promise;
    await sleep(world.clock, 10);
    underWay--;
    return send();
  };
  await world.cluster('eu-1');
  await world.settle(1_000);
  const first = underWay;
  gate.resolve();
  await world.settle(5_000);
  expect([first, most]).toEqual([64, 64]);
  expect(await world.running()).toHaveLength(150);
});

test('a running Job that shrinks gives what it no longer needs to the next', async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '3' });
  await world.cluster('eu-1');
  await world.job('big', { spec: { parallelism: 3, completions: 6 } });
  await world.settle(1_000);
  await world.job('next', { cpu: '2' });
  await world.settle(5_000);
  expect(await world.running()).toEqual(['big']);
  await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'big' }, { type: 'merge', body: { spec: { parallelism: 1 } } });
  await world.settle(1_000);
  expect(await world.running()).toEqual(['big', 'next']);
});
