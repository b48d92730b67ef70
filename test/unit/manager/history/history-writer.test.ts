import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import type { NamespaceIdentity } from '../../../../manager/api/namespace-identities.ts';
import { createHistory, type History } from '../../../../manager/history/history.ts';
import { createHistoryWriter, STORE_PATIENCE_MS, type CopyEnding, type HistoryWriter } from '../../../../manager/history/history-writer.ts';
import type { KeyValueStore } from '../../../../manager/history/key-value-store.ts';
import { openSqliteStore } from '../../../../manager/history/sqlite-store.ts';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import type { ConfigMap, Job } from '../../../../shared/api/kubernetes.ts';
import { ENDED_PODS_ANNOTATION } from '../../../../shared/api/names.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aCondition, aHomeJob, anAdmittedJob, recordOn } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

let clock: FakeClock;
let store: KeyValueStore;
let history: History;
let puts: number;
let put: KeyValueStore['put'];
let jobs: Job[];
let writer: HistoryWriter;
let stopping: AbortController;
let running: Promise<void>;
let warnings: string[];
let namespace: NamespaceIdentity | undefined;

function lead(): void {
  stopping = new AbortController();
  writer = createHistoryWriter({
    kind: JOB_KIND,
    history,
    jobs: { list: () => jobs, get: () => undefined, byIndex: () => [] },
    namespaces: { of: () => namespace },
    readRecord: (job) => recordOn(job as Job),
    limits: { ageMs: 1e12, bytesMax: 1e9 },
    clock,
    random: seededRandom(1),
    log: { ...silentLogger, warn: (message) => void warnings.push(message) },
    metrics: createManagerMetrics(new Registry()).history,
  });
  running = writer.run(stopping.signal);
}
const stop = async (): Promise<void> => {
  stopping.abort(new Error('the test is over'));
  await clock.advance(STORE_PATIENCE_MS);
  await running;
};
beforeEach(async () => {
  clock = new FakeClock();
  store = openSqliteStore(':memory:');
  puts = 0;
  put = (entries) => store.put(entries);
  history = createHistory({
    ...store,
    put: (entries) => {
      puts++;
      return put(entries);
    },
  });
  jobs = [];
  warnings = [];
  namespace = undefined;
  lead();
  await clock.advance(0);
});

const ended = (name: string): Job =>
  anAdmittedJob({
    metadata: { name, uid: `uid-${name}` },
    status: { completionTime: '2026-01-01T00:00:30Z', conditions: [aCondition('Complete')] },
  });
const names = async (): Promise<string[]> =>
  (await history.query({ limit: 100 })).map(({ name, outcome }) => `${name} ${outcome}`).toSorted();

describe('Jobs that have ended', () => {
  test('are written together, each once, and not before they end', async () => {
    const running = anAdmittedJob({ metadata: { name: 'runs', uid: 'uid-runs' } });
    writer.handler.added?.(running, false);
    for (const name of ['a', 'b', 'c']) writer.handler.updated?.(ended(name), running);
    writer.handler.updated?.(ended('a'), ended('a'));
    await clock.advance(1_000);
    expect(await names()).toEqual(['a Complete', 'b Complete', 'c Complete']);
    expect(puts).toBe(1);
    await stop();
  });

  test('are told as deleted where they were admitted and went before their end', async () => {
    writer.handler.deleted?.(anAdmittedJob({ metadata: { name: 'gone', uid: 'uid-gone' } }), false);
    writer.handler.deleted?.(aHomeJob({ metadata: { name: 'never-admitted', uid: 'uid-never' } }), false);
    writer.handler.deleted?.(ended('a'), false);
    await clock.advance(1_000);
    expect(await names()).toEqual(['a Complete', 'gone Deleted']);
    await stop();
  });

  test('before a manager led are written by it, unless the one before has', async () => {
    writer.handler.updated?.(ended('a'), ended('a'));
    await clock.advance(1_000);
    await stop();
    jobs = [ended('a'), ended('b'), anAdmittedJob()];
    const before = puts;
    lead();
    await clock.advance(1_000);
    expect(await names()).toEqual(['a Complete', 'b Complete']);
    expect(puts).toBe(before + 1);
    await stop();
  });

  test('are of the namespace that has the name now, where that is not younger', async () => {
    const { creationTimestamp } = ended('a').metadata;
    namespace = { name: 'team', uid: 'n1', createdMs: Date.parse(creationTimestamp) };
    writer.handler.updated?.(ended('a'), ended('a'));
    namespace = { ...namespace, uid: 'n2', createdMs: namespace.createdMs + 60_000 };
    writer.handler.deleted?.(anAdmittedJob({ metadata: { name: 'late', uid: 'uid-late' } }), false);
    await clock.advance(1_000);
    const uids = (await history.query({ limit: 10 })).map(({ name, namespaceUid }) => `${name} ${namespaceUid}`);
    expect(uids.toSorted()).toEqual(['a n1', 'late undefined']);
    await stop();
  });

  test('that end as the manager stops are still written', async () => {
    writer.handler.updated?.(ended('a'), ended('a'));
    await stop();
    expect(await names()).toEqual(['a Complete']);
  });
});

const copy = (pods: object[]): Job =>
  aHomeJob({ metadata: { name: 'sum', uid: 'copy-1', annotations: { [ENDED_PODS_ANNOTATION]: JSON.stringify(pods) } } });
const ending = (pods: object[], tails: CopyEnding['tails']): CopyEnding => ({
  originUid: 'uid-sum',
  cluster: 'east',
  epoch: 1,
  copy: copy(pods),
  tails,
});
const mapOf = (tails: Record<string, Buffer>): ConfigMap =>
  ({ binaryData: Object.fromEntries(Object.entries(tails).map(([pod, tail]) => [pod, tail.toString('base64')])) }) as unknown as ConfigMap;
const settled = async (work: Promise<void>, ms: number): Promise<boolean> => {
  let is = false;
  void work.then(() => (is = true));
  await clock.advance(ms);
  return is;
};
const WITH_TAIL = [{ pod: 'sum-a', phase: 'Failed', exitCode: 3, tail: true }];

describe('a copy that is about to go', () => {
  test('goes when its tails are stored, which are read once', async () => {
    let reads = 0;
    const tails = async (): Promise<ConfigMap> => {
      reads++;
      return mapOf({ 'sum-a': gzipSync('boom\n'), 'not-named': gzipSync('x') });
    };
    expect(await settled(writer.keep(ending(WITH_TAIL, tails)), 0)).toBe(true);
    expect(await history.tail('uid-sum', 'copy-1', 'sum-a')).toBe('boom\n');
    expect(await history.tail('uid-sum', 'copy-1', 'not-named')).toBeUndefined();
    expect(await history.podsOf('uid-sum')).toMatchObject([{ cluster: 'east', epoch: 1, pods: [{ pod: 'sum-a', exitCode: 3 }] }]);
    expect(await settled(writer.keep(ending(WITH_TAIL, tails)), 0)).toBe(true);
    expect(reads).toBe(1);
    await stop();
  });

  test('asks its cluster nothing where there are no tails, and waits for nothing', async () => {
    const tails = (): never => {
      throw new Error('asked');
    };
    put = () => new Promise(() => undefined);
    expect(await settled(writer.keep(ending([{ pod: 'sum-a', phase: 'Succeeded' }], tails)), 0)).toBe(true);
    expect(await settled(writer.keep(ending([], tails)), 0)).toBe(true);
    await stop();
  });

  test('goes after two seconds where the store does not answer, and the next waits for nothing', async () => {
    put = () => new Promise(() => undefined);
    const first = writer.keep(ending(WITH_TAIL, async () => mapOf({ 'sum-a': gzipSync('boom\n') })));
    expect(await settled(first, STORE_PATIENCE_MS - 1)).toBe(false);
    expect(await settled(first, 1)).toBe(true);
    const other = {
      ...ending(WITH_TAIL, async () => undefined),
      copy: { ...copy(WITH_TAIL), metadata: { ...copy(WITH_TAIL).metadata, uid: 'copy-2' } },
    };
    expect(await settled(writer.keep(other), 0)).toBe(true);
    await stop();
  });

  test('goes at once while the store is known to be in trouble, and what was told is written when that is over', async () => {
    put = async () => {
      throw new Error('disk full');
    };
    expect(await settled(writer.keep(ending(WITH_TAIL, async () => mapOf({ 'sum-a': gzipSync('boom\n') }))), 0)).toBe(true);
    const other = {
      ...ending(WITH_TAIL, async () => undefined),
      copy: { ...copy(WITH_TAIL), metadata: { ...copy(WITH_TAIL).metadata, uid: 'copy-2' } },
    };
    expect(await settled(writer.keep(other), 0)).toBe(true);
    put = (entries) => store.put(entries);
    await clock.advance(60_000);
    expect(await history.tail('uid-sum', 'copy-1', 'sum-a')).toBe('boom\n');
    expect(await history.podsOf('uid-sum')).toHaveLength(2);
    expect(warnings).toEqual(['history cannot be written, it is kept in memory and tried again']);
    await stop();
  });

  test('goes without its tails where these cannot be read, which is told once for a cluster that forbids it', async () => {
    const tails = async (): Promise<never> => {
      throw new ApiError(403, { reason: 'Forbidden' });
    };
    for (const uid of ['c1', 'c2', 'c3']) {
      const each = { ...ending(WITH_TAIL, tails), copy: { ...copy(WITH_TAIL), metadata: { ...copy(WITH_TAIL).metadata, uid } } };
      expect(await settled(writer.keep(each), 0)).toBe(true);
    }
    expect(warnings).toHaveLength(1);
    expect(await history.podsOf('uid-sum')).toHaveLength(3);
    await stop();
  });

  test('cannot have more taken than a worker writes', async () => {
    const noise = Buffer.alloc(290 * 1024, 7);
    const pods = Array.from({ length: 6 }, (_, k) => ({ pod: `sum-${k}`, phase: 'Failed', tail: true }));
    const tails = async (): Promise<ConfigMap> =>
      mapOf({ ...Object.fromEntries(pods.map(({ pod }) => [pod, noise])), 'sum-5': Buffer.alloc(400 * 1024) });
    expect(await settled(writer.keep(ending(pods, tails)), 0)).toBe(true);
    const kept = await store.list({ prefix: 't/', limit: 100 });
    expect(kept.map(({ bytes }) => bytes)).toEqual([noise.length, noise.length, noise.length]);
    await stop();
  });
});
