import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { InadmissibleReason } from './snapshot.ts';

/**
 * Jobs whose admission the API server did not store, each with the time of its retry; the delay grows with consecutive failures. A waiting
 * Job occupies no slot and no timer of its own.
 */
export interface AdmissionRetries {
  /** Records a failed attempt with its reason. Returns the number of consecutive failures. Times are epoch milliseconds. */
  failed(key: string, nowMs: number, inadmissibleReason: InadmissibleReason): number;
  /** The number of consecutive failures. */
  failuresOf(key: string): number;
  /** Why a Job waits for its retry; undefined if it may be tried. */
  reasonToWait(key: string): InadmissibleReason | undefined;
  /** Postpones the retry a little; this counts as no failure. */
  postpone(key: string, nowMs: number): void;
  /** Removes and returns the key of a Job whose retry is due. */
  takeDue(nowMs: number): string | undefined;
  /** The time of the next retry; undefined if none waits. */
  nextMs(): number | undefined;
  /** The admission was stored, or is no longer needed. */
  forget(key: string): void;
}

const BASE_MS = 500;
const MAX_MS = 60_000;

/** The delay after so many consecutive failures, in milliseconds. */
export const retryDelayMs = (failures: number): number => Math.min(MAX_MS, BASE_MS * 2 ** (failures - 1));

type Failing = { readonly failures: number; readonly inadmissibleReason: InadmissibleReason };

export function createAdmissionRetries(): AdmissionRetries {
  const failing = new Map<string, Failing>();
  const waiting = new IndexedHeap<{ readonly key: string; readonly atMs: number }>(
    ({ key }) => key,
    (a, b) => a.atMs - b.atMs,
  );

  return {
    failed: (key, nowMs, inadmissibleReason) => {
      const failures = (failing.get(key)?.failures ?? 0) + 1;
      failing.set(key, { failures, inadmissibleReason });
      waiting.set({ key, atMs: nowMs + retryDelayMs(failures) });
      return failures;
    },
    failuresOf: (key) => failing.get(key)?.failures ?? 0,
    reasonToWait: (key) => (waiting.has(key) ? failing.get(key)?.inadmissibleReason : undefined),
    postpone: (key, nowMs) => waiting.set({ key, atMs: nowMs + BASE_MS }),
    takeDue: (nowMs) => {
      const first = waiting.peek();
      if (first === undefined || first.atMs > nowMs) return undefined;
      waiting.delete(first.key);
      return first.key;
    },
    nextMs: () => waiting.peek()?.atMs,
    forget: (key) => {
      failing.delete(key);
      waiting.delete(key);
    },
  };
}
