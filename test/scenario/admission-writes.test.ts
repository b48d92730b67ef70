/** Goal: many writes, late answers and caches that lag neither give quota twice nor keep anybody waiting for what is free. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { ApiError } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { sealedFor } from '../support/jobs.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

type Around = {
  /** Around each write of an admission or eviction. */
  patch?: (send: () => Promise<unknown>) => Promise<unknown>;
  /** Around each write of the status of a ClusterQueue. */
  queueStatus?: (send: () => Promise<unknown>) => Promise<unknown>;
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
  const patchStatus = (...parameters: Parameters<KubeClient['patchStatus']>): Promise<unknown> => {
    const send = () => client.patchStatus(...parameters);
    return around.queueStatus !== undefined && parameters[0].plural === CLUSTER_QUEUES.plural ? around.queueStatus(send) : send();
  };
  const watch = async (...parameters: Parameters<KubeClient['watch']>) => {
    const batches = await client.watch(...parameters);
    return parameters[0].plural === JOBS.plural ? held(batches) : batches;
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'patch') return patch;
      if (name === 'patchStatus') return patchStatus;
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

test('a running Job that shrinks gives what it no longer needs to the next once its cluster has told that those pods are gone', async () => {
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
  const tell = (status: object) =>
    world.client.patchStatus(JOBS, { namespace: NAMESPACE, name: 'big' }, { type: 'merge', body: { status } });
  for (const status of [{ active: 0 }, { active: 3, startTime: '2026-01-01T00:00:00Z' }, { active: 1, terminating: 2 }]) {
    await tell(status);
    await world.settle(30_000);
    expect(await world.running()).toEqual(['big']);
  }
  await tell({ active: 1, terminating: 0 });
  await world.settle(5_000);
  expect(await world.running()).toEqual(['big']);
  await world.settle(6_000);
  expect(await world.running()).toEqual(['big', 'next']);
  expect(await world.record('big')).toMatchObject({ epoch: 1, requests: { cpu: '1', pods: '1' } });
});

test('a running Job that grows past the webhook is suspended, and admitted anew with what it asks for', async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '3' });
  await world.cluster('eu-1');
  await world.job('big', { spec: { parallelism: 1, completions: 6 } });
  await world.settle(1_000);
  const patch = (body: object) => world.client.patch(JOBS, { namespace: NAMESPACE, name: 'big' }, { type: 'merge', body });
  await patch({ spec: { parallelism: 4 } });
  await world.settle(1_000);
  expect((await world.getJob('big')).spec.suspend).toBe(true);
  expect(await world.metric('switchyard_evicted_workloads_total', { reason: 'ExceedsReservation' })).toBe(1);
  await patch({ spec: { parallelism: 3 } });
  await world.rest('big');
  await world.settle(1_000);
  expect((await world.getJob('big')).spec.suspend).toBe(false);
  expect(await world.record('big')).toMatchObject({ requests: { cpu: '3', pods: '3' } });
});

describe('an admission that got no answer', () => {
  test('is not sent again once the cache shows that it was done', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    let sent = 0;
    around.patch = async (send) => {
      sent++;
      await send();
      throw new Error('socket hang up');
    };
    await world.job('a');
    await world.settle(60_000);
    expect(await world.running()).toEqual(['a']);
    expect(sent).toBe(1);
  });

  test('is not sent again by a manager that has stopped', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    around.patch = () => Promise.reject(new Error('connect ECONNREFUSED'));
    await world.job('a');
    await world.settle(100);
    let sent = 0;
    around.patch = (send) => {
      sent++;
      return send();
    };
    await world.stop();
    await world.settle(120_000);
    expect(sent).toBe(0);
  });
});

describe('a refusal', () => {
  const refused = (): Promise<never> => Promise.reject(new ApiError(403, { reason: 'Forbidden', message: 'not now' }));
  beforeEach(async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
  });

  test('that comes after the Job has changed and been admitted anew costs it nothing', async () => {
    const gate = Promise.withResolvers<void>();
    let isFirst = true;
    around.patch = async (send) => {
      if (!isFirst) return send();
      isFirst = false;
      await gate.promise;
      return refused();
    };
    await world.job('a');
    await world.settle(100);
    const annotations = { note: 'changed' };
    await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'a' }, { type: 'merge', body: { metadata: { annotations } } });
    await world.settle(1_000);
    expect(await world.running()).toEqual(['a']);
    gate.resolve();
    await world.job('b');
    await world.settle(10_000);
    expect(await world.running()).toEqual(['a']);
  });

  test('is forgotten with the admission that follows: the next one is met as the first was', async () => {
    around.patch = refused;
    await world.job('a');
    await world.settle(10_000);
    around.patch = (send) => send();
    await world.settle(60_000);
    expect(await world.running()).toEqual(['a']);
    await world.remove('a');
    await world.settle(1_000);
    let refusals = 0;
    around.patch = (send) => (refusals++ === 0 ? refused() : send());
    await world.job('a');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['a']);
    expect(refusals).toBe(2);
  });
});

test('a Job that waits and is admitted by another manager waits here no more', async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
  await world.queue('main', { cpu: '1' });
  await world.cluster('eu-1');
  await world.job('a');
  await world.job('b');
  await world.settle(3_000);
  expect(await world.running()).toEqual(['a']);
  const record = sealedFor(await world.getJob('b'), {
    clusterQueue: 'main',
    flavors: { cpu: 'default' },
    requests: { cpu: '1', pods: '1' },
  });
  const body = { metadata: { annotations: { [ADMISSION_ANNOTATION]: record } }, spec: { suspend: false } };
  await world.client.patch(JOBS, { namespace: NAMESPACE, name: 'b' }, { type: 'merge', body });
  await world.settle(3_000);
  expect(world.admission().explain(`${NAMESPACE}/b`)).toBeUndefined();
  expect((await world.client.get(LOCAL_QUEUES, { namespace: NAMESPACE, name: 'main' })).status).toMatchObject({
    pendingWorkloads: 0,
    admittedWorkloads: 2,
  });
});

describe('the status of a queue', () => {
  beforeEach(async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    await world.settle(3_000);
  });

  test('that could not be written is written a second later, though nothing else happens', async () => {
    let left = 2;
    around.queueStatus = (send) => (left-- > 0 ? Promise.reject(new ApiError(500, { message: 'not well' })) : send());
    await world.job('a');
    await world.settle(5_000);
    expect(left).toBeLessThan(0);
    expect((await world.client.get(CLUSTER_QUEUES, { namespace: '', name: 'main' })).status).toMatchObject({ admittedWorkloads: 1 });
  });

  test('of a queue that has just gone is not tried again', async () => {
    let tried = 0;
    around.queueStatus = () => {
      tried++;
      return Promise.reject(new ApiError(404, { reason: 'NotFound', message: 'gone' }));
    };
    await world.job('a');
    await world.settle(10_000);
    expect(tried).toBe(1);
  });
});
