import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../../shared/kube/keys.ts';
import type { Requests } from '../../api/amount.ts';
import type { LocalQueue } from '../../api/local-queue.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import {
  advanced,
  consumedIn,
  contribution,
  countedFor,
  minusConsumed,
  plusConsumed,
  weightedUsage,
  type Consumed,
  type UsagePolicy,
} from './local-queue-usage.ts';

/**
 * What the LocalQueues have used, by `namespace/name`. A Job counts from its admission on, with its entry penalty, and what it has used stays when it ends. In
 * memory; what was written down last and the records of the Jobs that run give the same again after a restart, but for Jobs that have come and gone in between.
 */
export interface UsageLedger {
  /** What was written down: Jobs admitted until then are in it. Before any Job of the LocalQueue is counted. */
  restore(localQueue: string, consumed: Consumed, writtenMs: number): void;
  /** Counts a Job from its admission on. One that is counted already may hold something else from now on. False when that is no news. */
  admitted(localQueue: string, key: string, held: Requests, record: AdmissionRecord, nowMs: number): boolean;
  /** It holds nothing any more. */
  ended(key: string, nowMs: number): void;
  /** Its admission was never carried out: it has used nothing. */
  neverWas(key: string, nowMs: number): void;
  /** The LocalQueue is gone, and what it has used with it. */
  forget(localQueue: string): void;
  consumed(localQueue: string, nowMs: number): Consumed;
  /** What LocalQueues are compared by: the lesser goes first. */
  usage(localQueue: string, weight: number, nowMs: number): number;
  /** The LocalQueues of which something should be written down now. */
  unwritten(nowMs: number): readonly string[];
  /** That is written down now. */
  written(localQueue: string, nowMs: number): void;
}

type Entry = {
  consumed: Consumed;
  held: Consumed;
  /** The time that `consumed` is about. */
  atMs: number;
  writtenMs: number;
  /** What was written then, as the number that LocalQueues are compared by. */
  writtenUsage: number;
  /** Jobs have come or gone since. */
  changed: boolean;
};
type Counted = { readonly localQueue: string; readonly counted: Consumed; readonly since: string; readonly sinceMs: number };

/**
 * What only decays, or is held unchanged, follows from what was written. While something is held it is written again when it has moved by this part, for
 * whoever reads it; where nothing is held nothing is written.
 */
const WORTH_TELLING = 0.05;

/** What was written to the status of these LocalQueues. With what runs, told afterwards, it is what was known before. */
export function writtenLedger(policy: UsagePolicy, localQueues: Iterable<DeepReadonly<LocalQueue>>): UsageLedger {
  const ledger = createUsageLedger(policy);
  for (const queue of localQueues) {
    const written = queue.status?.fairSharing?.admissionFairSharingStatus;
    if (written !== undefined) ledger.restore(keyOfObject(queue), consumedIn(written.consumedResources), Date.parse(written.lastUpdate));
  }
  return ledger;
}

export function createUsageLedger(policy: UsagePolicy): UsageLedger {
  const entries = new Map<string, Entry>();
  const jobs = new Map<string, Counted>();

  const entryOf = (localQueue: string, nowMs: number): Entry => {
    const known = entries.get(localQueue);
    if (known !== undefined) return known;
    const entry: Entry = { consumed: new Map(), held: new Map(), atMs: nowMs, writtenMs: -Infinity, writtenUsage: 0, changed: false };
    entries.set(localQueue, entry);
    return entry;
  };
  const advance = (entry: Entry, nowMs: number): void => {
    entry.consumed = advanced(entry.consumed, entry.held, nowMs - entry.atMs, policy);
    entry.atMs = Math.max(entry.atMs, nowMs);
  };
  const take = (key: string, nowMs: number): { readonly job: Counted; readonly entry: Entry } | undefined => {
    const job = jobs.get(key);
    const entry = job === undefined ? undefined : entries.get(job.localQueue);
    jobs.delete(key);
    if (job === undefined || entry === undefined) return undefined;
    advance(entry, nowMs);
    entry.held = minusConsumed(entry.held, job.counted);
    entry.changed = true;
    return { job, entry };
  };
  const consumedAt = (localQueue: string, nowMs: number): Consumed => {
    const entry = entries.get(localQueue);
    return entry === undefined ? new Map() : advanced(entry.consumed, entry.held, nowMs - entry.atMs, policy);
  };
  const usageAt = (localQueue: string, weight: number, nowMs: number): number =>
    weightedUsage(consumedAt(localQueue, nowMs), weight, policy);

  return {
    restore: (localQueue, consumed, writtenMs) => {
      const entry = entryOf(localQueue, writtenMs);
      entry.consumed = consumed;
      entry.atMs = writtenMs;
      entry.writtenMs = writtenMs;
      entry.writtenUsage = weightedUsage(consumed, 1, policy);
    },
    admitted: (localQueue, key, held, record, nowMs) => {
      const before = jobs.get(key);
      const counted = countedFor(held, record.flavors);
      const isSame = before?.localQueue === localQueue && before.since === record.since;
      if (isSame && isEqual(before.counted, counted)) return false;
      take(key, nowMs);
      const entry = entryOf(localQueue, nowMs);
      const sinceMs = Date.parse(record.since);
      jobs.set(key, { localQueue, counted, since: record.since, sinceMs });
      if (isSame) {
        entry.held = plusConsumed(entry.held, counted);
        return true;
      }
      const isWritten = sinceMs <= entry.writtenMs;
      advance(entry, nowMs);
      // Of one that is in what was written, only what it has used since is missing.
      const added = isWritten
        ? advanced(new Map(), counted, nowMs - entry.writtenMs, policy)
        : contribution(counted, sinceMs, nowMs, policy);
      entry.consumed = plusConsumed(entry.consumed, added);
      entry.held = plusConsumed(entry.held, counted);
      entry.changed ||= !isWritten;
      return true;
    },
    ended: (key, nowMs) => void take(key, nowMs),
    neverWas: (key, nowMs) => {
      const taken = take(key, nowMs);
      if (taken === undefined) return;
      const { job, entry } = taken;
      entry.consumed = minusConsumed(entry.consumed, contribution(job.counted, job.sinceMs, nowMs, policy));
    },
    forget: (localQueue) => void entries.delete(localQueue),
    consumed: consumedAt,
    usage: usageAt,
    unwritten: (nowMs) =>
      [...entries].flatMap(([localQueue, { changed, held, writtenMs, writtenUsage }]) => {
        if (nowMs - writtenMs < policy.samplingIntervalMs) return [];
        const moved = Math.abs(usageAt(localQueue, 1, nowMs) - writtenUsage);
        return changed || (held.size > 0 && moved > WORTH_TELLING * writtenUsage) ? [localQueue] : [];
      }),
    written: (localQueue, nowMs) => {
      const entry = entries.get(localQueue);
      if (entry === undefined) return;
      advance(entry, nowMs);
      entry.writtenMs = nowMs;
      entry.writtenUsage = usageAt(localQueue, 1, nowMs);
      entry.changed = false;
    },
  };
}

const isEqual = (a: Consumed, b: Consumed): boolean =>
  a.size === b.size && [...a].every(([resource, amount]) => b.get(resource) === amount);
