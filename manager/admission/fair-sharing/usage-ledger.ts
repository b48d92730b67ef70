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
 * The usage of LocalQueues, by `namespace/name`. A Job counts from its admission, with its entry penalty, and its usage stays when it ends.
 * State is in memory. The last written status and the records of running Jobs restore it after a restart, except for Jobs that came and
 * ended in between.
 */
export interface UsageLedger {
  /** Restores written usage, which includes Jobs admitted until then. Call it before any Job of the LocalQueue is counted. */
  restore(localQueue: string, consumed: Consumed, writtenMs: number): void;
  /** Counts a Job from its admission. A counted Job may hold another amount from now on. False if nothing changes. */
  admitted(localQueue: string, key: string, held: Requests, record: AdmissionRecord, nowMs: number): boolean;
  /** The Job holds nothing any more. */
  ended(key: string, nowMs: number): void;
  /** The admission was never carried out: it has used nothing. */
  undone(key: string, nowMs: number): void;
  /** The LocalQueue is deleted, and its usage with it. */
  forget(localQueue: string): void;
  consumed(localQueue: string, nowMs: number): Consumed;
  /** The number by which LocalQueues are compared: the smaller goes first. */
  usage(localQueue: string, weight: number, nowMs: number): number;
  /** LocalQueues whose usage should be written now. */
  unwritten(nowMs: number): readonly string[];
  /** The usage is written as of now. */
  written(localQueue: string, nowMs: number): void;
}

type Entry = {
  consumed: Consumed;
  held: Consumed;
  /** The time of `consumed`. */
  atMs: number;
  writtenMs: number;
  /** The usage that was written last. */
  writtenUsage: number;
  /** Jobs were admitted or ended since the last write. */
  changed: boolean;
};
type Counted = { readonly localQueue: string; readonly counted: Consumed; readonly since: string; readonly sinceMs: number };

/**
 * Relative change of usage that is written. Decay and constant holdings follow from the last write, so this is for readers of status;
 * without holdings nothing is written.
 */
const WRITE_THRESHOLD = 0.05;

/** The ledger as written to the status of these LocalQueues. Counting the running Jobs afterwards completes it. */
export function writtenLedger(policy: UsagePolicy, localQueues: Iterable<DeepReadonly<LocalQueue>>): UsageLedger {
  const ledger = createUsageLedger(policy);
  for (const queue of localQueues) {
    const written = queue.status?.fairSharing?.admissionFairSharingStatus;
    if (written !== undefined) ledger.restore(keyOfObject(queue), consumedIn(written.consumedResources), Date.parse(written.lastUpdate));
  }
  return ledger;
}

export function createUsageLedger(policy: UsagePolicy): UsageLedger {
  return new Ledger(policy);
}

class Ledger implements UsageLedger {
  readonly #policy: UsagePolicy;
  readonly #entries = new Map<string, Entry>();
  readonly #jobs = new Map<string, Counted>();

  constructor(policy: UsagePolicy) {
    this.#policy = policy;
  }

  restore(localQueue: string, consumed: Consumed, writtenMs: number): void {
    const entry = this.#entryOf(localQueue, writtenMs);
    entry.consumed = consumed;
    entry.atMs = writtenMs;
    entry.writtenMs = writtenMs;
    entry.writtenUsage = weightedUsage(consumed, 1, this.#policy);
  }

  admitted(localQueue: string, key: string, held: Requests, record: AdmissionRecord, nowMs: number): boolean {
    const before = this.#jobs.get(key);
    const counted = countedFor(held, record.flavors);
    const isSame = before?.localQueue === localQueue && before.since === record.since;
    if (isSame && isEqual(before.counted, counted)) return false;
    this.#take(key, nowMs);
    const entry = this.#entryOf(localQueue, nowMs);
    const sinceMs = Date.parse(record.since);
    this.#jobs.set(key, { localQueue, counted, since: record.since, sinceMs });
    if (isSame) {
      entry.held = plusConsumed(entry.held, counted);
      return true;
    }
    const isWritten = sinceMs <= entry.writtenMs;
    this.#advance(entry, nowMs);
    // For a Job in the written usage, only its usage since then is missing.
    const added = isWritten
      ? advanced(new Map(), counted, nowMs - entry.writtenMs, this.#policy)
      : contribution(counted, sinceMs, nowMs, this.#policy);
    entry.consumed = plusConsumed(entry.consumed, added);
    entry.held = plusConsumed(entry.held, counted);
    entry.changed ||= !isWritten;
    return true;
  }

  ended(key: string, nowMs: number): void {
    this.#take(key, nowMs);
  }

  undone(key: string, nowMs: number): void {
    const taken = this.#take(key, nowMs);
    if (taken === undefined) return;
    const { job, entry } = taken;
    entry.consumed = minusConsumed(entry.consumed, contribution(job.counted, job.sinceMs, nowMs, this.#policy));
  }

  forget(localQueue: string): void {
    this.#entries.delete(localQueue);
  }

  consumed(localQueue: string, nowMs: number): Consumed {
    const entry = this.#entries.get(localQueue);
    return entry === undefined ? new Map() : advanced(entry.consumed, entry.held, nowMs - entry.atMs, this.#policy);
  }

  usage(localQueue: string, weight: number, nowMs: number): number {
    return weightedUsage(this.consumed(localQueue, nowMs), weight, this.#policy);
  }

  unwritten(nowMs: number): readonly string[] {
    return [...this.#entries].flatMap(([localQueue, { changed, held, writtenMs, writtenUsage }]) => {
      if (nowMs - writtenMs < this.#policy.samplingIntervalMs) return [];
      const moved = Math.abs(this.usage(localQueue, 1, nowMs) - writtenUsage);
      return changed || (held.size > 0 && moved > WRITE_THRESHOLD * writtenUsage) ? [localQueue] : [];
    });
  }

  written(localQueue: string, nowMs: number): void {
    const entry = this.#entries.get(localQueue);
    if (entry === undefined) return;
    this.#advance(entry, nowMs);
    entry.writtenMs = nowMs;
    entry.writtenUsage = this.usage(localQueue, 1, nowMs);
    entry.changed = false;
  }

  #entryOf(localQueue: string, nowMs: number): Entry {
    const known = this.#entries.get(localQueue);
    if (known !== undefined) return known;
    const entry: Entry = { consumed: new Map(), held: new Map(), atMs: nowMs, writtenMs: -Infinity, writtenUsage: 0, changed: false };
    this.#entries.set(localQueue, entry);
    return entry;
  }

  #advance(entry: Entry, nowMs: number): void {
    entry.consumed = advanced(entry.consumed, entry.held, nowMs - entry.atMs, this.#policy);
    entry.atMs = Math.max(entry.atMs, nowMs);
  }

  #take(key: string, nowMs: number): { readonly job: Counted; readonly entry: Entry } | undefined {
    const job = this.#jobs.get(key);
    const entry = job === undefined ? undefined : this.#entries.get(job.localQueue);
    this.#jobs.delete(key);
    if (job === undefined || entry === undefined) return undefined;
    this.#advance(entry, nowMs);
    entry.held = minusConsumed(entry.held, job.counted);
    entry.changed = true;
    return { job, entry };
  }
}

const isEqual = (a: Consumed, b: Consumed): boolean =>
  a.size === b.size && [...a].every(([resource, amount]) => b.get(resource) === amount);
