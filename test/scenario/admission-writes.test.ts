/** Goal: many writes, late answers and caches that lag neither give quota twice nor keep anybody waiting for what is free. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { ApiError } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { sealedFor } from '../support/jobs.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

type Around = {
  /** Around each write of an admission or eviction. */
  patch?: (send: () => Promise<unknown>, name: string) => Promise<unknown>;
  /** Around each write of the status of a Job. */
  jobStatus?: (send: () => Promise<unknown>, name: string) => Promise<unknown>;
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
    return around.patch === undefined ? send() : around.patch(send, parameters[1].name);
  };
  const patchStatus = (...parameters: Parameters<KubeClient['patchStatus']>): Promise<unknown> => {
    const send = () => client.patchStatus(...parameters);
    if (around.jobStatus !== undefined && parameters[0].plural === JOBS.plural) return around.jobStatus(send, parameters[1].name);
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
  let inFlight = 0;
  let most = 0;
  around.patch = async (send) => {
    most = Math.max(most, ++inFlight);
    await gate.promise;
    await sleep(world.clock, 10);
    inFlight--;
    return send();
  };
  await world.cluster('eu-1');
  await world.settle(1_000);
  const first = inFlight;
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

describe('Jobs whose admission the API server fails to store', () => {
  const tooLarge = (): Promise<never> => Promise.reject(new ApiError(500, { message: 'etcdserver: request is too large' }));
  const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const isBad = (name: string): boolean => name.startsWith('bad-');
  const submit = async (jobs: readonly string[]): Promise<void> => {
    for (const name of jobs) await world.job(name);
  };
  const good = async (): Promise<string[]> => (await world.running()).filter((name) => !isBad(name));
  const bad = async (): Promise<string[]> => (await world.running()).filter(isBad);

  test('keep nobody else waiting, and are all admitted once it stores them', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '150' });
    let tries = 0;
    around.patch = (send, name) => (isBad(name) && ++tries > 0 ? tooLarge() : send());
    await submit([...names('bad', 100), ...names('good', 50)]);
    await world.settle(1_000);
    await world.cluster('eu-1');
    await world.settle(2_000);
    expect(await good()).toHaveLength(50);
    await world.settle(300_000);
    expect(await bad()).toEqual([]);
    // Three tries within two seconds, and later ones at most a minute apart.
    expect(tries).toBeGreaterThan(800);
    expect(tries).toBeLessThan(1_300);
    around.patch = (send) => send();
    await world.settle(60_000);
    expect(await bad()).toHaveLength(100);
    expect(await good()).toHaveLength(50);
  });

  test('say so in their condition and in one event, in no more words than anybody wants to read', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main');
    await world.cluster('eu-1');
    around.patch = () => Promise.reject(new ApiError(500, { message: `request is too large\u001b[2J${'!'.repeat(5_000)}` }));
    await world.job('bad-0');
    await world.settle(120_000);
    const told = conditionOf(await world.getJob('bad-0'), 'QuotaReserved');
    expect(told).toMatchObject({ status: 'False', reason: 'AdmissionRefused' });
    expect(told?.message).toMatch(/^the API server has failed to store its admission \d+ times: request is too large \[2J!+…$/);
    expect(told?.message?.length).toBeLessThan(1_200);
    const events = (await world.client.list(EVENTS)).items.filter(({ reason }) => reason === 'AdmissionRefused');
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: 'Warning', involvedObject: { name: 'bad-0' } });
    expect(events[0]?.count ?? 1).toBe(1);
  });

  test('give their quota to others as soon as it is certain that nothing was stored', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    around.patch = (send, name) => (isBad(name) ? tooLarge() : send());
    await submit(['bad-0', 'good-0']);
    await world.settle(1_000);
    expect(await world.running()).toEqual([]);
    await world.settle(4_000);
    expect(await world.running()).toEqual(['good-0']);
  });

  test('keep their quota while nobody can tell', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    around.patch = (send, name) => (isBad(name) ? tooLarge() : send());
    around.jobStatus = (send, name) => (isBad(name) ? tooLarge() : send());
    await submit(['bad-0', 'good-0']);
    await world.settle(180_000);
    expect(await world.running()).toEqual([]);
    around.patch = (send) => send();
    await world.settle(60_000);
    expect(await world.running()).toEqual(['bad-0']);
  });

  test('are not admitted again when a write was carried out that was said to have failed', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    const sent: string[] = [];
    around.patch = async (send, name) => {
      sent.push(name);
      if (sent.length > 1) return send();
      await send();
      return tooLarge();
    };
    await submit(['bad-0', 'good-0']);
    await world.settle(120_000);
    expect(await world.running()).toEqual(['bad-0']);
    expect(sent).toEqual(['bad-0']);
    await world.finish('bad-0');
    await world.settle(2_000);
    expect(await world.running()).toEqual(['good-0']);
    expect(sent).toEqual(['bad-0', 'good-0']);
  });

  test('keep what they hold when the write is carried out late, while they are being told that it failed', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '1' });
    await world.cluster('eu-1');
    let late: (() => Promise<unknown>) | undefined;
    around.patch = (send) => {
      late ??= send;
      return tooLarge();
    };
    around.jobStatus = async (send, name) => {
      if (isBad(name) && late !== undefined && around.jobsHeld === undefined) {
        around.patch = (other) => other();
        around.jobsHeld = Promise.withResolvers();
        await late();
        late = undefined;
      }
      return send();
    };
    await submit(['bad-0', 'good-0']);
    await world.settle(30_000);
    expect(around.jobsHeld).toBeDefined();
    expect(await world.running()).toEqual(['bad-0']);
    release();
    await world.settle(30_000);
    expect(await world.running()).toEqual(['bad-0']);
    expect(await world.record('bad-0')).toMatchObject({ epoch: 1 });
  });

  test('that are slow to fail leave slots for those that have not failed', async () => {
    world = await createAdmissionWorld({ wrap });
    await world.flavor('default');
    await world.queue('main', { cpu: '1000' });
    let slow = 0;
    let mostSlow = 0;
    around.patch = async (send, name) => {
      if (!isBad(name)) return send();
      mostSlow = Math.max(mostSlow, ++slow);
      await sleep(world.clock, 10_000);
      slow--;
      return tooLarge();
    };
    await submit(names('bad', 70));
    await world.settle(1_000);
    await world.cluster('eu-1');
    // The first tries take all the slots there are; later ones do not, whether the request is sent again or the Job is admitted anew.
    await world.settle(21_000);
    expect(mostSlow).toBe(64);
    mostSlow = 0;
    await submit(names('good', 50));
    await world.settle(2_000);
    expect(await good()).toHaveLength(50);
    await world.settle(600_000);
    expect(mostSlow).toBe(8);
    around.patch = (send) => send();
    await world.settle(10_000);
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
