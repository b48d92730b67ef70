/** The history of Jobs that have ended: records, endings of their pods, and log tails, bounded by age and size. */
import { gunzipSync } from 'node:zlib';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { isJsonObject, parseJson } from '../api/json-value.ts';
import type { NamespaceIdentity } from '../api/namespace-identities.ts';
import { fairCap } from './fair-cap.ts';
import {
  endedBefore,
  nameKey,
  nameKeys,
  parseRecordKey,
  podsKey,
  podsKeys,
  PODS_OF_JOBS,
  recordKey,
  RECORDS,
  tailKey,
  tailKeys,
  TAILS,
  uidIn,
  type RecordKey,
} from './history-keys.ts';
import { belongsTo, isOfResource, isOfUser, type HistoryPods, type HistoryRecord } from './history-record.ts';
import { isCanaryName } from '../canary/canary-job.ts';
import type { Entry, KeyValueStore, Listed } from './key-value-store.ts';

export type HistoryQuery = {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  /** `jobs`, or `RESOURCE.GROUP` of another kind; absent: any kind. */
  readonly resource?: string;
  /** Only Jobs of this namespace, and not of an earlier one of its name. */
  readonly of?: NamespaceIdentity;
  readonly uid?: string;
  readonly outcome?: HistoryRecord['outcome'];
  readonly user?: string;
  /** Ended at or after, and before: epoch milliseconds. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** Leaves canaries out. */
  readonly hidesCanaries?: boolean;
  readonly limit: number;
};

export type PurgeQuery = {
  /** Any namespace that had this name. */
  readonly namespace?: string;
  /** The creator of the Job. */
  readonly user?: string;
  /** Ended before: epoch milliseconds. */
  readonly untilMs?: number;
};
/** The number of records, pod entries and log tails. */
export type Purged = { readonly jobs: number; readonly copies: number; readonly logs: number };

export interface History {
  put(entries: readonly Entry[]): Promise<void>;
  /** The latest first. */
  query(query: HistoryQuery): Promise<readonly HistoryRecord[]>;
  /** The endings of a Job's pods, by copy, in the order of placements. */
  podsOf(uid: string): Promise<readonly HistoryPods[]>;
  /** The log tail of a pod of this copy; undefined where none is stored. */
  tail(uid: string, copyUid: string, pod: string): Promise<string | undefined>;
  /** UIDs of the Jobs that ended last. */
  latest(limit: number): Promise<ReadonlySet<string>>;
  /**
   * Deletes records, endings of pods and log tails; with `dryRun` it only counts. All conditions must hold, and there must be at least one.
   * Entries of Jobs without a record, which have not ended, stay.
   */
  purge(which: PurgeQuery, options: { readonly dryRun: boolean }): Promise<Purged>;
  /**
   * Deletes entries older than `ageMs` and, oldest first, those beyond `bytesMax` in all. They are taken from namespaces above their share,
   * so that a namespace with many Jobs does not displace the history of others. Returns the number of Jobs.
   */
  expire(nowMs: number, limits: { readonly ageMs: number; readonly bytesMax: number }): Promise<number>;
}

const PAGE = 1_000;
/** Bound of keys that one query scans. */
const SCANNED_MAX = 200_000;
/** Bound of a decompressed log tail. */
const TAIL_BYTES_MAX = 1024 * 1024;
/** Pods and tails without a record belong to Jobs that have not ended, perhaps for days. */
const UNCLAIMED_MS = 7 * 24 * 3_600_000;

export const recordEntries = (record: HistoryRecord): readonly Entry[] => {
  const key: RecordKey = { ...record, endedMs: parseWireTime(record.ended) ?? 0 };
  return [
    { key: recordKey(key), value: Buffer.from(JSON.stringify(record)) },
    { key: nameKey(key), value: Buffer.from(recordKey(key)) },
  ];
};
export const podsEntry = (uid: string, pods: HistoryPods): Entry => ({
  key: podsKey(uid, pods.copyUid),
  value: Buffer.from(JSON.stringify(pods)),
});
export const tailEntry = (uid: string, copyUid: string, pod: string, gzip: Buffer): Entry => ({
  key: tailKey(uid, copyUid, pod),
  value: gzip,
});

export function createHistory(store: KeyValueStore): History {
  return new StoredHistory(store);
}

/** Bytes of a record and all that is kept with it. */
type BytesOf = (record: Listed, uid: string) => number;

class StoredHistory implements History {
  readonly #store: KeyValueStore;
  /** When entries without a record were first seen. */
  readonly #unclaimedSinceMs = new Map<string, number>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  put(entries: readonly Entry[]): Promise<void> {
    return this.#store.put(entries);
  }

  async query(query: HistoryQuery): Promise<readonly HistoryRecord[]> {
    const found: HistoryRecord[] = [];
    for await (const key of this.#candidates(query)) {
      const parsed = parseRecordKey(key);
      if (parsed === undefined || !matches(parsed, query)) continue;
      if (query.hidesCanaries === true && isCanaryName(parsed.name)) continue;
      if (query.sinceMs !== undefined && parsed.endedMs < query.sinceMs) break;
      const record = await this.#recordAt(key);
      if (record === undefined || (query.outcome !== undefined && record.outcome !== query.outcome)) continue;
      if (query.resource !== undefined && !isOfResource(record, query.resource)) continue;
      if (query.user !== undefined && !isOfUser(record, query.user)) continue;
      if (query.of !== undefined && !belongsTo(record, query.of)) continue;
      found.push(record);
      if (found.length >= query.limit) break;
    }
    return found;
  }

  async *#candidates(query: HistoryQuery): AsyncGenerator<string> {
    if (query.namespace !== undefined && query.name !== undefined) {
      for await (const page of this.#listed(nameKeys(query.namespace, query.name))) {
        for (const { key } of page) yield (await this.#store.get(key))?.toString() ?? '';
      }
      return;
    }
    let seen = 0;
    for await (const page of this.#records(query.untilMs)) {
      for (const { key } of page) yield key;
      seen += page.length;
      if (seen >= SCANNED_MAX) return;
    }
  }

  async podsOf(uid: string): Promise<readonly HistoryPods[]> {
    const all: HistoryPods[] = [];
    for await (const page of this.#listed(podsKeys(uid))) {
      for (const { key } of page) {
        const value = parseJson((await this.#store.get(key))?.toString() ?? '');
        if (isJsonObject(value) && Array.isArray(value['pods'])) all.push(value as HistoryPods);
      }
    }
    return all.toSorted((a, b) => a.epoch - b.epoch);
  }

  async tail(uid: string, copyUid: string, pod: string): Promise<string | undefined> {
    const gzip = await this.#store.get(tailKey(uid, copyUid, pod));
    return gzip && textOf(gzip);
  }

  async latest(limit: number): Promise<ReadonlySet<string>> {
    const uids = new Set<string>();
    for await (const page of this.#records()) {
      for (const { key } of page) uids.add(parseRecordKey(key)?.uid ?? '');
      if (uids.size >= limit) break;
    }
    return uids;
  }

  async purge({ namespace, user, untilMs }: PurgeQuery, { dryRun }: { readonly dryRun: boolean }): Promise<Purged> {
    if (namespace === undefined && user === undefined && untilMs === undefined) throw new Error('nothing says what to erase');
    const purged = { jobs: 0, copies: 0, logs: 0 };
    const query = { limit: Number.POSITIVE_INFINITY, ...omitUndefined({ namespace, untilMs }) };
    for await (const page of this.#records(untilMs)) {
      for (const { key } of page) {
        const parsed = parseRecordKey(key);
        if (parsed === undefined || !matches(parsed, query)) continue;
        if (user !== undefined && !isOfUser((await this.#recordAt(key)) ?? {}, user)) continue;
        const { uid } = parsed;
        const { copies, logs } = dryRun
          ? { copies: (await this.#keysUnder(podsKeys(uid))).length, logs: (await this.#keysUnder(tailKeys(uid))).length }
          : await this.#forget({ ...parsed, key });
        purged.jobs++;
        purged.copies += copies;
        purged.logs += logs;
      }
    }
    return purged;
  }

  async expire(nowMs: number, { ageMs, bytesMax }: { readonly ageMs: number; readonly bytesMax: number }): Promise<number> {
    const extra = await this.#bytesBesideRecords();
    const bytesOf: BytesOf = ({ key, bytes }, uid) => 2 * key.length + bytes + (extra.get(uid) ?? 0);
    const { claimed, sizes } = await this.#measured(nowMs - ageMs, bytesOf);
    const gone = await this.#forgetBeyond(fairCap(sizes, bytesMax), nowMs - ageMs, bytesOf);
    await this.#forgetUnclaimed(new Set([...extra.keys()].filter((uid) => !claimed.has(uid))), nowMs, ageMs);
    return gone;
  }

  /** Of endings of pods and of log tails, by the UID of the Job. */
  async #bytesBesideRecords(): Promise<ReadonlyMap<string, number>> {
    const extra = new Map<string, number>();
    for (const prefix of [PODS_OF_JOBS, TAILS]) {
      for await (const page of this.#listed(prefix))
        for (const { key, bytes } of page) extra.set(uidIn(key) ?? '', (extra.get(uidIn(key) ?? '') ?? 0) + key.length + bytes);
    }
    return extra;
  }

  /** The UIDs that have a record, and the bytes of each sharer that are not too old. */
  async #measured(sinceMs: number, bytesOf: BytesOf): Promise<{ readonly claimed: ReadonlySet<string>; readonly sizes: Iterable<number> }> {
    const sizes = new Map<string, number>();
    const claimed = new Set<string>();
    for await (const page of this.#records()) {
      for (const each of page) {
        const parsed = parseRecordKey(each.key);
        if (parsed === undefined) continue;
        const { uid, endedMs } = parsed;
        claimed.add(uid);
        if (endedMs >= sinceMs) sizes.set(sharerOf(parsed), (sizes.get(sharerOf(parsed)) ?? 0) + bytesOf(each, uid));
      }
    }
    return { claimed, sizes: sizes.values() };
  }

  /** Forgets records of before then, and those beyond the cap of their sharer; returns their number. */
  async #forgetBeyond(cap: number, sinceMs: number, bytesOf: BytesOf): Promise<number> {
    const kept = new Map<string, number>();
    let gone = 0;
    // Newest first.
    for await (const page of this.#records()) {
      for (const each of page) {
        const parsed = parseRecordKey(each.key);
        if (parsed === undefined) continue;
        const sharer = sharerOf(parsed);
        const bytes = (kept.get(sharer) ?? 0) + bytesOf(each, parsed.uid);
        kept.set(sharer, bytes);
        if (bytes <= cap && parsed.endedMs >= sinceMs) continue;
        await this.#forget({ ...parsed, key: each.key });
        gone++;
      }
    }
    return gone;
  }

  /** Forgets what has had no record for too long. */
  async #forgetUnclaimed(unclaimed: ReadonlySet<string>, nowMs: number, ageMs: number): Promise<void> {
    const since = this.#unclaimedSinceMs;
    for (const uid of since.keys()) if (!unclaimed.has(uid)) since.delete(uid);
    for (const uid of unclaimed) {
      const sinceMs = since.get(uid) ?? nowMs;
      since.set(uid, sinceMs);
      if (nowMs - sinceMs < Math.min(ageMs, UNCLAIMED_MS)) continue;
      for (const prefix of [podsKeys(uid), tailKeys(uid)])
        for await (const page of this.#listed(prefix)) await this.#store.delete(page.map(({ key }) => key));
      since.delete(uid);
    }
  }

  /** The record is deleted last, so that an interrupted deletion is found again. */
  async #forget({ key, uid, ...rest }: RecordKey & { readonly key: string }): Promise<Omit<Purged, 'jobs'>> {
    const [pods, tails] = [await this.#keysUnder(podsKeys(uid)), await this.#keysUnder(tailKeys(uid))];
    await this.#store.delete([...tails, ...pods]);
    await this.#store.delete([nameKey({ uid, ...rest }), key]);
    return { copies: pods.length, logs: tails.length };
  }

  async #keysUnder(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const page of this.#listed(prefix)) keys.push(...page.map(({ key }) => key));
    return keys;
  }

  async #recordAt(key: string): Promise<HistoryRecord | undefined> {
    const value = parseJson((await this.#store.get(key))?.toString() ?? '');
    // The manager wrote it: only a user with write access to the store can have changed it.
    return isJsonObject(value) && typeof value['uid'] === 'string' ? (value as HistoryRecord) : undefined;
  }

  /** Records of Jobs that ended before then; undefined: all. The latest first. */
  #records(untilMs?: number): AsyncGenerator<readonly Listed[]> {
    return this.#listed(RECORDS, untilMs === undefined ? undefined : endedBefore(untilMs - 1));
  }

  async *#listed(prefix: string, after?: string): AsyncGenerator<readonly Listed[]> {
    for (let from = after; ; ) {
      const page = await this.#store.list({ prefix, limit: PAGE, ...omitUndefined({ after: from }) });
      if (page.length > 0) yield page;
      from = page.at(-1)?.key;
      if (page.length < PAGE) return;
    }
  }
}

/** The sharer of the store: a namespace by its UID, so that a later one of its name counts apart. */
const sharerOf = ({ namespace, namespaceUid }: RecordKey): string => namespaceUid ?? namespace;

const matches = (key: RecordKey, query: HistoryQuery): boolean =>
  (query.namespace === undefined || key.namespace === query.namespace) &&
  (query.name === undefined || key.name === query.name) &&
  (query.of === undefined || key.namespaceUid === undefined || key.namespaceUid === query.of.uid) &&
  (query.uid === undefined || key.uid === query.uid) &&
  (query.untilMs === undefined || key.endedMs < query.untilMs);

/** A worker cluster compressed the text, and can have sent anything. */
function textOf(gzip: Buffer): string | undefined {
  try {
    return gunzipSync(gzip, { maxOutputLength: TAIL_BYTES_MAX }).toString();
  } catch (error) {
    if (error instanceof RangeError || (error as { code?: unknown }).code !== undefined) return undefined;
    throw error;
  }
}
