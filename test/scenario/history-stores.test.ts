/** What history asks of a store, of each that there is: SQLite in a directory, a real Redis, and object storage that checks signatures. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHistory, podsEntry, recordEntries, tailEntry } from '../../manager/history/history.ts';
import type { HistoryRecord } from '../../manager/history/history-record.ts';
import type { KeyValueStore } from '../../manager/history/key-value-store.ts';
import { openStore } from '../../manager/history/open-store.ts';
import { parseStoreAddress } from '../../manager/history/store-address.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { gzipSync } from 'node:zlib';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { S3_KEYS, startS3, type TestS3 } from '../support/s3-server.ts';

let redis: TestRedis;
let s3: TestS3;
let directory: string;
beforeAll(async () => {
  [redis, s3] = await Promise.all([startRedis(), startS3()]);
  directory = mkdtempSync(path.join(tmpdir(), 'switchyard-history-'));
});
afterAll(async () => {
  await Promise.all([redis.stop(), s3.stop()]);
  rmSync(directory, { recursive: true });
});

const ADDRESSES: readonly (readonly [string, () => string])[] = [
  ['a directory', () => path.join(directory, 'not', 'there yet')],
  ['Redis', () => redis.url],
  ['object storage', () => `s3://jobs/some/prefix?endpoint=${encodeURIComponent(s3.endpoint)}&region=eu-1`],
];

const entry = (key: string, text = key) => ({ key, value: Buffer.from(text) });
const record = (name: string, endedMs: number, parts: Partial<HistoryRecord> = {}): HistoryRecord => ({
  uid: `uid-${name}`,
  namespace: 'team',
  name,
  outcome: 'Complete',
  created: new Date(endedMs - 60_000).toISOString(),
  ended: new Date(endedMs).toISOString(),
  succeeded: 1,
  failed: 0,
  ...parts,
});

describe.each(ADDRESSES)('%s', (_, address) => {
  let store: KeyValueStore;
  beforeAll(async () => {
    store = await openStore(parseStoreAddress(address()), S3_KEYS, silentLogger);
  });
  afterAll(() => store.close());

  test('gives back what was put, lists it in order and by pages, and forgets it', async () => {
    const bytes = Buffer.from([0, 255, 10, 128]);
    await store.put([entry('a/3'), entry('a/1'), entry('a/2 b%c+d&e'), { key: 'b/1', value: bytes }]);
    await store.put([entry('a/1', 'anew')]);
    expect((await store.get('a/1'))?.toString()).toBe('anew');
    expect(await store.get('b/1')).toEqual(bytes);
    expect(await store.get('a/4')).toBeUndefined();
    expect(await store.list({ prefix: 'a/', limit: 10 })).toEqual([
      { key: 'a/1', bytes: 4 },
      { key: 'a/2 b%c+d&e', bytes: 11 },
      { key: 'a/3', bytes: 3 },
    ]);
    expect((await store.list({ prefix: 'a/', limit: 1, after: 'a/1' })).map(({ key }) => key)).toEqual(['a/2 b%c+d&e']);
    expect(await store.list({ prefix: 'a/', limit: 10, after: 'a/3' })).toEqual([]);
    await store.delete(['a/1', 'a/2 b%c+d&e', 'a/3', 'b/1', 'never/there']);
    expect(await store.list({ prefix: 'a/', limit: 10 })).toEqual([]);
    expect(await store.get('b/1')).toBeUndefined();
  });

  test('keeps history: the latest first, by name, outcome and user, with pods and tails, for a time and within a size', async () => {
    const history = createHistory(store);
    const nowMs = Date.parse('2026-03-01T00:00:00Z');
    const hour = 3_600_000;
    const records = [
      record('old', nowMs - 50 * hour),
      record('sum', nowMs - 3 * hour, { outcome: 'Failed', reason: 'BackoffLimitExceeded', failed: 2 }),
      record('sum', nowMs - hour, { uid: 'uid-second' }),
      record('other', nowMs - 2 * hour, { namespace: 'b', user: 'oidc:ann' }),
    ];
    await history.put(records.flatMap(recordEntries));
    await history.put([
      podsEntry('uid-sum', { cluster: 'west', epoch: 2, copyUid: 'c2', pods: [{ pod: 'sum-b', phase: 'Failed' }] }),
      podsEntry('uid-sum', { cluster: 'east', epoch: 1, copyUid: 'c1', pods: [{ pod: 'sum-a', phase: 'Failed', exitCode: 3 }] }),
      tailEntry('uid-sum', 'c1', 'sum-a', gzipSync('it went wrong\n')),
      tailEntry('uid-sum', 'c1', 'sum-z', Buffer.from('this is no gzip')),
      tailEntry('uid-sum', 'c1', 'bomb', gzipSync(Buffer.alloc(20_000_000))),
    ]);
    const uids = async (query: object): Promise<string[]> => (await history.query({ limit: 10, ...query })).map(({ uid }) => uid);
    expect(await uids({})).toEqual(['uid-second', 'uid-other', 'uid-sum', 'uid-old']);
    expect(await uids({ limit: 2 })).toEqual(['uid-second', 'uid-other']);
    expect(await uids({ namespace: 'team', name: 'sum' })).toEqual(['uid-second', 'uid-sum']);
    expect(await uids({ namespace: 'team', outcome: 'Failed' })).toEqual(['uid-sum']);
    expect(await uids({ user: 'oidc:ann' })).toEqual(['uid-other']);
    expect(await uids({ sinceMs: nowMs - 2.5 * hour })).toEqual(['uid-second', 'uid-other']);
    expect(await uids({ untilMs: nowMs - 2 * hour })).toEqual(['uid-sum', 'uid-old']);
    expect((await history.podsOf('uid-sum')).map(({ cluster }) => cluster)).toEqual(['east', 'west']);
    expect(await history.tail('uid-sum', 'c1', 'sum-a')).toBe('it went wrong\n');
    for (const pod of ['sum-z', 'bomb', 'never']) expect(await history.tail('uid-sum', 'c1', pod)).toBeUndefined();
    expect([...(await history.latest(10))].toSorted()).toEqual(['uid-old', 'uid-other', 'uid-second', 'uid-sum']);

    expect(await history.expire(nowMs, { ageMs: 48 * hour, bytesMax: 1e9 })).toBe(1);
    expect(await uids({})).toEqual(['uid-second', 'uid-other', 'uid-sum']);
    expect(await history.expire(nowMs, { ageMs: 48 * hour, bytesMax: 2_000 })).toBe(1);
    expect(await uids({})).toEqual(['uid-second', 'uid-other']);
    expect(await history.podsOf('uid-sum')).toEqual([]);
    expect(await history.tail('uid-sum', 'c1', 'sum-a')).toBeUndefined();
    expect(await history.expire(nowMs + 100 * hour, { ageMs: 48 * hour, bytesMax: 1e9 })).toBe(2);
    expect(await store.list({ prefix: '', limit: 100 })).toEqual([]);
  });

  test('keeps apart namespaces of one name: each has its own Jobs, and its own share of the room', async () => {
    const history = createHistory(store);
    const nowMs = Date.parse('2026-03-01T00:00:00Z');
    const before = record('sum', nowMs - 3_000, { uid: 'uid-before', namespaceUid: 'first' });
    const after = Array.from({ length: 20 }, (_, index) => record('sum', nowMs - index, { uid: `uid-${index}`, namespaceUid: 'second' }));
    await history.put([before, ...after, record('sum', nowMs - 4_000, { uid: 'uid-unknown' })].flatMap(recordEntries));
    const uidsOf = async (uid: string, createdMs: number): Promise<string[]> => {
      const of = { name: 'team', uid, createdMs };
      const records = await history.query({ namespace: 'team', name: 'sum', of, limit: 3 });
      expect(await history.query({ namespace: 'team', of, limit: 3 })).toEqual(records);
      return records.map((each) => each.uid);
    };
    expect(await uidsOf('first', 0)).toEqual(['uid-before', 'uid-unknown']);
    expect(await uidsOf('second', nowMs)).toEqual(['uid-0', 'uid-1', 'uid-2']);
    expect(await uidsOf('third', nowMs)).toEqual([]);
    expect(await history.expire(nowMs, { ageMs: 1e9, bytesMax: 4_000 })).toBeGreaterThan(0);
    expect(await uidsOf('first', 0)).toEqual(['uid-before', 'uid-unknown']);
    await history.expire(nowMs + 2e9, { ageMs: 1e9, bytesMax: 4_000 });
  });

  test('erases by namespace, user and time, with pods and tails, what it has counted before, and nothing else', async () => {
    const history = createHistory(store);
    const nowMs = Date.parse('2026-03-01T00:00:00Z');
    const names = async (): Promise<string[]> => (await history.query({ limit: 10 })).map(({ name }) => name);
    const records = [
      record('a', nowMs - 4_000, { user: 'ann', namespaceUid: 'first' }),
      record('b', nowMs - 3_000, { user: 'bob', namespaceUid: 'second' }),
      record('c', nowMs - 2_000, { user: 'ann', namespace: 'other' }),
      record('d', nowMs - 1_000, { namespace: 'team-2' }),
    ];
    const entries = records.flatMap((each) => [
      ...recordEntries(each),
      podsEntry(each.uid, { cluster: 'east', epoch: 1, copyUid: 'c1', pods: [] }),
      tailEntry(each.uid, 'c1', 'p', gzipSync(each.name)),
    ]);
    await history.put(entries);
    const counted = (jobs: number) => ({ jobs, copies: jobs, logs: jobs });
    for (const [which, left] of [
      [{ namespace: 'team', user: 'bob', untilMs: nowMs - 3_000 }, ['d', 'c', 'b', 'a']],
      [{ namespace: 'team' }, ['d', 'c']],
      [{ user: 'ann' }, ['d', 'b']],
      [{ untilMs: nowMs - 1_000 }, ['d']],
    ] as const) {
      expect(await history.purge(which, { dryRun: true })).toEqual(counted(4 - left.length));
      expect(await names()).toEqual(['d', 'c', 'b', 'a']);
      expect(await history.purge(which, { dryRun: false })).toEqual(counted(4 - left.length));
      expect(await names()).toEqual(left);
      for (const { name, uid } of records) {
        const isLeft = (left as readonly string[]).includes(name);
        expect([(await history.podsOf(uid)).length, await history.tail(uid, 'c1', 'p')]).toEqual(isLeft ? [1, name] : [0, undefined]);
      }
      expect(await history.purge(which, { dryRun: false })).toEqual(counted(0));
      await history.put(entries);
    }
    await expect(history.purge({}, { dryRun: false })).rejects.toThrow('nothing says what to erase');
    await history.purge({ untilMs: nowMs }, { dryRun: false });
    expect(await store.list({ prefix: '', limit: 100 })).toEqual([]);
  });

  test('lets a namespace with very many Jobs push out its own, and nobody else’s', async () => {
    const history = createHistory(store);
    const nowMs = Date.parse('2026-03-01T00:00:00Z');
    const noisy = Array.from({ length: 20 }, (_, index) =>
      record(`n${index}`, nowMs - index * 1_000, { namespace: 'noisy', uid: `uid-n${index}` }),
    );
    await history.put([record('quiet', nowMs - 3_600_000, { namespace: 'quiet' }), ...noisy].flatMap(recordEntries));
    expect(await history.expire(nowMs, { ageMs: 1e9, bytesMax: 4_000 })).toBeGreaterThan(0);
    const left = (await history.query({ limit: 100 })).map(({ name }) => name);
    expect(left.slice(0, 2)).toEqual(['n0', 'n1']);
    expect(left.at(-1)).toBe('quiet');
    expect(await history.expire(nowMs, { ageMs: 1e9, bytesMax: 4_000 })).toBe(0);
    await history.expire(nowMs + 2e9, { ageMs: 1e9, bytesMax: 4_000 });
  });

  test('lets go what belongs to no Job that ever ended, after a while', async () => {
    const history = createHistory(store);
    await history.put([podsEntry('uid-lost', { cluster: 'east', epoch: 1, copyUid: 'c', pods: [] })]);
    const limits = { ageMs: 48 * 3_600_000, bytesMax: 1e9 };
    await history.expire(0, limits);
    expect(await store.list({ prefix: '', limit: 100 })).toHaveLength(1);
    await history.expire(49 * 3_600_000, limits);
    expect(await store.list({ prefix: '', limit: 100 })).toEqual([]);
  });

  test('finds canaries among ended Jobs only where they are asked for, and as many other Jobs as are asked for', async () => {
    const history = createHistory(store);
    for (const [index, name] of ['sum', 'switchyard-canary-east', 'train', 'switchyard-canary-west'].entries())
      await history.put(recordEntries(record(name, 5_000_000 + index, { namespace: 'canaries' })));
    const namesOf = async (hidesCanaries: boolean): Promise<string[]> =>
      (await history.query({ namespace: 'canaries', limit: 2, hidesCanaries })).map(({ name }) => name);
    expect([await namesOf(true), await namesOf(false)]).toEqual([
      ['train', 'sum'],
      ['switchyard-canary-west', 'train'],
    ]);
  });
});

test('object storage that refuses says why, and no key', async () => {
  const address = parseStoreAddress(`s3://jobs?endpoint=${encodeURIComponent(s3.endpoint)}`);
  const store = await openStore(address, { ...S3_KEYS, secretAccessKey: 'wrong' }, silentLogger);
  await expect(store.put([entry('a')])).rejects.toThrow('PUT in bucket jobs: 403 SignatureDoesNotMatch');
  await store.close();
  await expect(openStore(address, undefined, silentLogger)).rejects.toThrow('AWS_ACCESS_KEY_ID');
});
