/** Pods that were asked for without an answer, on an embedded control plane (UPSTREAM.md D10). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { PODS } from '../../../../shared/api/resources.ts';
import type { TransportRequest } from '../../../../shared/kube/transport.ts';
import { createDoubtfulPods } from '../../../../worker/job/doubtful-pods.ts';
import { createWorld, refusal, type World } from '../worker-world.ts';

test('a name in doubt is taken once, by a pod of the same index of the same Job', () => {
  const doubtful = createDoubtfulPods();
  doubtful.add('a', 0, 'a-0-x');
  doubtful.add('b', undefined, 'b-x');
  expect([doubtful.take('a', 1), doubtful.take('a', undefined), doubtful.take('b', 0)]).toEqual([undefined, undefined, undefined]);
  expect([doubtful.take('a', 0), doubtful.take('a', 0), doubtful.take('b', undefined)]).toEqual(['a-0-x', undefined, 'b-x']);
});

test('a name is in doubt no more once its pod is seen, or its Job is gone', () => {
  const doubtful = createDoubtfulPods();
  for (const name of ['a-x', 'a-y']) doubtful.add('a', undefined, name);
  doubtful.seen('a', 'a-x');
  doubtful.seen('b', 'a-y');
  expect(doubtful.take('a', undefined)).toBe('a-y');
  doubtful.add('a', undefined, 'a-y');
  doubtful.forget('a');
  expect(doubtful.take('a', undefined)).toBeUndefined();
});

describe('a pod whose creation is not answered', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.stop());

  const isCreate = ({ method, path }: TransportRequest): boolean => method === 'POST' && /\/pods(\?|$)/.test(path);
  const names = async (): Promise<string[]> => (await world.admin.list(PODS)).items.map(({ metadata }) => metadata.name);

  /** The first request is left without an answer; what it asked for. */
  function loseFirst(): { pod: Pod | undefined; readonly asked: string[] } {
    const lost: { pod: Pod | undefined; readonly asked: string[] } = { pod: undefined, asked: [] };
    world.fault = (request) => {
      if (!isCreate(request)) return undefined;
      const pod = JSON.parse(request.body ?? '') as Pod;
      lost.asked.push(pod.metadata.name);
      if (lost.pod !== undefined) return undefined;
      lost.pod = pod;
      throw new Error('connection lost');
    };
    return lost;
  }

  test.each([
    ['of an Indexed Job', { completionMode: 'Indexed' }],
    ['of any other Job', {}],
  ])('%s is asked for by the same name, and is made late by the first request only once', async (_which, more) => {
    const lost = loseFirst();
    await world.createJob({ completions: 1, parallelism: 1, ...more });
    await world.pass(3);
    expect(new Set(lost.asked).size).toBe(1);
    await expect(world.admin.create(PODS, lost.pod as Pod)).rejects.toThrow('already exists');
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('counts as made where it was made, whatever its cache has not shown yet', async () => {
    const lost = loseFirst();
    world.hold('pods');
    await world.createJob({ completions: 1, parallelism: 1 });
    await world.pass(0);
    await world.admin.create(PODS, lost.pod as Pod);
    await world.pass(3);
    expect(await names()).toEqual([lost.pod?.metadata.name]);
    expect(await world.events()).toMatchObject({ 'Normal SuccessfulCreate: Created pod: <pod>': 1 });
    world.hold();
    await world.pass(3);
    expect(await names()).toHaveLength(1);
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('gets another name where somebody else has taken it', async () => {
    const lost = loseFirst();
    await world.createJob({ completions: 1, parallelism: 1 });
    await world.pass(0);
    const { metadata, ...pod } = lost.pod as Pod;
    await world.admin.create(PODS, { ...pod, metadata: { namespace: metadata.namespace ?? '', name: metadata.name } });
    await world.pass(3);
    expect(await names()).toHaveLength(2);
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('stays in doubt while asking for it again is refused: the first request may be carried out yet', async () => {
    const asked: string[] = [];
    world.fault = (request) => {
      if (!isCreate(request)) return undefined;
      asked.push((JSON.parse(request.body ?? '') as Pod).metadata.name);
      if (asked.length === 1) throw new Error('connection lost');
      return asked.length === 2 ? refusal(403, 'Forbidden', 'exceeded quota') : undefined;
    };
    await world.createJob({ completions: 1, parallelism: 1 });
    await world.pass(8);
    expect(asked).toHaveLength(3);
    expect(new Set(asked).size).toBe(1);
    expect(await names()).toEqual([asked[0]]);
  });

  test('is not asked for by the same name after a clear refusal', async () => {
    const asked: string[] = [];
    world.fault = (request) => {
      if (!isCreate(request)) return undefined;
      asked.push((JSON.parse(request.body ?? '') as Pod).metadata.name);
      return asked.length === 1 ? refusal(403, 'Forbidden', 'exceeded quota') : undefined;
    };
    await world.createJob({ completions: 1, parallelism: 1 });
    await world.pass(3);
    expect(new Set(asked).size).toBe(2);
  });
});
