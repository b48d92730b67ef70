import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { InadmissibleReason } from './snapshot.ts';

/**
 * Jobs whose admission the API server did not store, each with the time of its next try: the more tries have failed in a row, the later. What is
 * in here occupies no slot and no timer of its own.
 */
export interface AdmissionRetries {
  /** Another try has failed, for this reason. Returns how many have, in a row. Times are epoch milliseconds. */
  failed(key: string, nowMs: number, inadmissibleReason: InadmissibleReason): number;
  /** How many tries have failed in a row. */
  failuresOf(key: string): number;
  /** Why a Job is not to be tried now; undefined when it may be. */
  reasonToWait(key: string): InadmissibleReason | undefined;
  /** Has it wait a little longer; this is no failure. */
  postpone(key: string, nowMs: number): void;
  /** The key of a Job that is to be tried by now. It waits no more. */
  takeDue(nowMs: number): string | undefined;
  /** When the next one is to be tried; undefined when none waits. */
  nextMs(): number | undefined;
  /** Its admission was stored, or it needs none any more. */
  forget(key: string): void;
}

const BASE_MS = 500;
const MAX_MS = 60_000;

/** How long to wait after so many failures in a row. */
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
