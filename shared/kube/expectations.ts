import type { Clock } from '../runtime/clock.ts';

/**
 * What a controller has asked for and not yet seen in its cache (client-go's ControllerExpectations).
 * Satisfied means: no record, or both counts at most 0, or the record is older than five minutes.
 */
export interface ControllerExpectations {
  /** Overwrites any record of the key. */
  expectCreations(key: string, count: number): void;
  expectDeletions(key: string, count: number): void;
  creationObserved(key: string): void;
  /** May go below zero. */
  deletionObserved(key: string): void;
  satisfied(key: string): boolean;
  /** How long until the record of the key is too old to wait for, in milliseconds; 0 when the key is satisfied. */
  expiresInMs(key: string): number;
  forget(key: string): void;
}

/** A record older than this is taken as met: whatever it waited for was lost. */
const EXPECTATION_TIMEOUT_MS = 5 * 60_000;

/** An empty store of expectations. */
export function createControllerExpectations(clock: Clock): ControllerExpectations {
  const records = new Map<string, { creations: number; deletions: number; readonly sinceMs: number }>();
  const lower = (key: string, kind: 'creations' | 'deletions'): void => {
    const record = records.get(key);
    if (record !== undefined) record[kind] -= 1;
  };
  const expiresInMs = (key: string): number => {
    const record = records.get(key);
    if (record === undefined || (record.creations <= 0 && record.deletions <= 0)) return 0;
    return Math.max(0, EXPECTATION_TIMEOUT_MS + 1 - (clock.now() - record.sinceMs));
  };
  return {
    expectCreations: (key, count) => void records.set(key, { creations: count, deletions: 0, sinceMs: clock.now() }),
    expectDeletions: (key, count) => void records.set(key, { creations: 0, deletions: count, sinceMs: clock.now() }),
    creationObserved: (key) => lower(key, 'creations'),
    deletionObserved: (key) => lower(key, 'deletions'),
    satisfied: (key) => expiresInMs(key) === 0,
    expiresInMs,
    forget: (key) => void records.delete(key),
  };
}

/** Pods whose tracking finalizer was asked to be removed and is still there in the cache, by Job key. No time-out. */
export interface FinalizerExpectations {
  expectRemoval(key: string, uids: Iterable<string>): void;
  removalObserved(key: string, uid: string): void;
  pending(key: string): ReadonlySet<string>;
  forget(key: string): void;
}

/** An empty store of finalizer expectations. */
export function createFinalizerExpectations(): FinalizerExpectations {
  const pending = new Map<string, Set<string>>();
  return {
    expectRemoval(key, uids) {
      const known = pending.get(key) ?? new Set();
      for (const uid of uids) known.add(uid);
      if (known.size > 0) pending.set(key, known);
    },
    removalObserved(key, uid) {
      const known = pending.get(key);
      known?.delete(uid);
      if (known?.size === 0) pending.delete(key);
    },
    pending: (key) => pending.get(key) ?? new Set(),
    forget: (key) => void pending.delete(key),
  };
}
