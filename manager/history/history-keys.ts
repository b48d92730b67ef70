import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

/**
 * The keys of history. Records are ordered by their ends, the newest first, so that a list begins with the latest and ends with the oldest;
 * an entry by name points to each. Pods and tails have the UID of the Job as prefix.
 */

/** Counts down from the year 2286, so that later times come first. */
const LATEST_MS = 10_000_000_000_000 - 1;
const countedDown = (ms: number): string => String(LATEST_MS - Math.min(Math.max(0, Math.floor(ms)), LATEST_MS)).padStart(13, '0');

export const RECORDS = 'j/';
export const NAMES = 'n/';
export const PODS_OF_JOBS = 'p/';
export const TAILS = 't/';

export type RecordKey = {
  readonly endedMs: number;
  readonly namespace: string;
  /** Absent: it is unknown which of the namespaces of that name it was. */
  readonly namespaceUid?: string;
  readonly name: string;
  readonly uid: string;
};

export const recordKey = ({ endedMs, namespace, namespaceUid, name, uid }: RecordKey): string => {
  const ofJob = `${RECORDS}${countedDown(endedMs)}/${safe(namespace)}/${safe(name)}/${safe(uid)}`;
  return namespaceUid === undefined ? ofJob : `${ofJob}/${safe(namespaceUid)}`;
};

/** Undefined where the key is not that of a record. */
export function parseRecordKey(key: string): RecordKey | undefined {
  const [, down = '', namespace, name, uid, namespaceUid] = /^j\/(\d{13})\/([^/]+)\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(key) ?? [];
  if (namespace === undefined || name === undefined || uid === undefined) return undefined;
  return { endedMs: LATEST_MS - Number(down), namespace, name, uid, ...omitUndefined({ namespaceUid }) };
}

/** All records that ended before then come after this key. */
export const endedBefore = (ms: number): string => `${RECORDS}${countedDown(ms)}/`;

/** The value of this key is the key of the record. */
export const nameKey = ({ endedMs, namespace, name, uid }: RecordKey): string =>
  `${nameKeys(namespace, name)}${countedDown(endedMs)}/${safe(uid)}`;
export const nameKeys = (namespace: string, name: string): string => `${NAMES}${safe(namespace)}/${safe(name)}/`;

export const podsKey = (uid: string, copyUid: string): string => `${podsKeys(uid)}${safe(copyUid)}`;
export const podsKeys = (uid: string): string => `${PODS_OF_JOBS}${safe(uid)}/`;
export const tailKey = (uid: string, copyUid: string, pod: string): string => `${tailKeys(uid)}${safe(copyUid)}/${safe(pod)}`;
export const tailKeys = (uid: string): string => `${TAILS}${safe(uid)}/`;

/** The UID of the Job of a pod entry or a tail. */
export const uidIn = (key: string): string | undefined => /^[pt]\/([^/]+)\//.exec(key)?.[1];

/** A part of a key, escaped; names of Kubernetes stay as they are. */
const safe = (part: string): string => encodeURIComponent(part).slice(0, 300);
