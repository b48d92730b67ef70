import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RedisTrouble } from '../../../../manager/submission/redis-health.ts';
import {
  createSharedQueueRecord,
  redisProblem,
  sharedQueueReader,
  type SharedQueueRecord,
} from '../../../../manager/submission/shared-queue-record.ts';
import { SHARED_SUBMISSIONS, type RefusedSubmission } from '../../../../manager/api/shared-submissions.ts';
import { CONFIG_MAPS } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KEY = { namespace: 'default', name: SHARED_SUBMISSIONS };
const FIGURES = { prefix: 'bull', queue: 'jobs', backlog: 1, parked: 2, accepted: 3, refused: 4 };
const full: RedisTrouble = { reason: 'Full', message: 'its memory is full', works: false };
const refusal = (id: string): RefusedSubmission => ({ id, atMs: 1, reason: 'Invalid', message: 'no' });

let clock: FakeClock;
let cluster: EmbeddedCluster;
let record: SharedQueueRecord;
/** Answers of the API server that are lost on the way, the next first. */
let lost: ('get' | 'create' | 'patch')[];
const leader = (): SharedQueueRecord => {
  const losing =
    <A extends unknown[], T>(what: (typeof lost)[number], ask: (...asked: A) => Promise<T>) =>
    async (...asked: A): Promise<T> => {
      const answer = ask(...asked);
      if (lost[0] !== what) return answer;
      await Promise.allSettled([answer]);
      lost.shift();
      throw new Error('the answer was lost');
    };
  const { client } = cluster;
  const some = {
    get: losing('get', client.get.bind(client)),
    create: losing('create', client.create.bind(client)),
    patch: losing('patch', client.patch.bind(client)),
  } as unknown as KubeClient;
  return createSharedQueueRecord({ client: some, namespace: KEY.namespace, clock });
};
beforeEach(async () => {
  [clock, lost] = [new FakeClock(), []];
  cluster = await startCluster(clock);
  await clock.advance(100);
  record = leader();
});
afterEach(() => cluster.plane.close());
const versionOf = async (): Promise<string> => (await cluster.client.get(CONFIG_MAPS, KEY)).metadata.resourceVersion;
const told = () => sharedQueueReader(cluster.client, KEY.namespace, clock)();

describe('the shared queue', () => {
  test('is described for every replica, and not written while nothing changes', async () => {
    expect(await told()).toBeUndefined();
    record.refused(refusal('a'));
    record.refused(refusal('b'));
    await record.write(FIGURES, []);
    expect(await told()).toEqual({ ...FIGURES, refusals: [refusal('b'), refusal('a')] });
    const version = await versionOf();
    await record.write(FIGURES, []);
    expect(await versionOf()).toBe(version);
    await record.write({ ...FIGURES, backlog: 0 }, []);
    expect(await told()).toMatchObject({ backlog: 0, refusals: [{ id: 'b' }, { id: 'a' }] });
  });

  test('keeps what was refused and what was wrong with Redis when another leads', async () => {
    record.refused(refusal('a'));
    await record.write(FIGURES, [full]);
    const next = leader();
    next.refused(refusal('b'));
    await next.write({ ...FIGURES, accepted: 0 }, undefined);
    expect(await told()).toMatchObject({ accepted: 0, refusals: [{ id: 'b' }, { id: 'a' }], redis: { reason: 'Full' } });
  });

  test('is described in the end, whichever answer of the API server is lost, and loses no refusal', async () => {
    for (const answer of ['get', 'create', 'patch'] as const) {
      record.refused(refusal(answer));
      lost = [answer];
      await expect(record.write({ ...FIGURES, accepted: lost.length }, [])).rejects.toThrow();
      await record.write(FIGURES, []);
      const ids = (await told())?.refusals.map(({ id }) => id);
      expect(ids?.[0]).toBe(answer);
      expect(new Set(ids).size).toBe(ids?.length);
      // Somebody deletes it: the next change writes all of it.
      if (answer !== 'get') continue;
      await cluster.client.delete(CONFIG_MAPS, KEY);
    }
    expect((await told())?.refusals.map(({ id }) => id)).toEqual(['patch', 'create', 'get']);
  });

  test('is read anew after a while, for all who ask at once', async () => {
    await record.write(FIGURES, []);
    const read = sharedQueueReader(cluster.client, KEY.namespace, clock);
    expect(await read()).toMatchObject({ backlog: 1 });
    await record.write({ ...FIGURES, backlog: 9 }, []);
    expect(await read()).toMatchObject({ backlog: 1 });
    await clock.advance(5_000);
    expect(await Promise.all([read(), read()])).toMatchObject([{ backlog: 9 }, { backlog: 9 }]);
  });
});

describe('the last problem of Redis', () => {
  test('begins with the first look that finds it, and ends with the first that does not', () => {
    const began = redisProblem(undefined, [full], 10);
    expect(began).toEqual({ ...full, sinceMs: 10 });
    expect(redisProblem(began, [full], 20)).toBe(began);
    expect(redisProblem(began, undefined, 20)).toBe(began);
    const ended = redisProblem(began, [], 30);
    expect(ended).toEqual({ ...full, sinceMs: 10, untilMs: 30 });
    expect(redisProblem(ended, [], 40)).toBe(ended);
    expect(redisProblem(ended, [full], 50)).toEqual({ ...full, sinceMs: 50 });
    expect(redisProblem(undefined, [], 50)).toBeUndefined();
  });

  test('is the gravest one', () => {
    const evicting: RedisTrouble = { reason: 'Evicting', message: 'it would forget', works: true };
    const began = redisProblem(undefined, [evicting], 10);
    expect(redisProblem(began, [full, evicting], 20)).toMatchObject({ reason: 'Full', sinceMs: 20 });
  });
});
