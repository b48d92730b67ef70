import type { DeepReadonly, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { reportsLossOnly } from './lost-place.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * How long status changes of a running Job are batched before they are written home. An API server under a burst answers slowly. The longer
 * its answers take, the longer changes wait, so that admissions and final statuses come first, and short Jobs need one write less.
 */
export interface StatusWindow {
  /** Milliseconds from the first change to the write. */
  ms(): number;
  /** When this status is to be written, in epoch milliseconds; `knownMs` is the time of an earlier status that is not written yet. */
  dueMs(local: DeepReadonly<WorkObject>, status: DeepReadonly<WorkStatus>, knownMs: number | undefined): number;
  /** A status write was answered after this many milliseconds. */
  answered(tookMs: number): void;
}

/** The least, so that a Job has at most one such write in this time. */
export const STATUS_WINDOW_MS = 200;
/** Below the five seconds of the objective in docs/slo.md. */
const WINDOW_MAX_MS = 4_000;
/**
 * Least interval between writes that report only the loss or the return of a cluster: thousands of Jobs report it at once, on the same path
 * as final statuses.
 */
const LOSS_EVERY_MS = 50;
/** The window as a multiple of the average answer time. */
const ANSWERS = 16;
/** Weight of the latest answer in the average. */
const WEIGHT = 1 / 8;
/** An average without a new answer for this long does not describe the present state of the API server. */
const KNOWN_FOR_MS = 2_000;

export function createStatusWindow(kind: WorkKind, clock: Pick<Clock, 'monotonic' | 'now'>): StatusWindow {
  let averageMs = 0;
  let answeredMs = Number.NEGATIVE_INFINITY;
  let lossDueMs = Number.NEGATIVE_INFINITY;
  const isKnown = (): boolean => clock.monotonic() - answeredMs < KNOWN_FOR_MS;
  const ms = (): number => (isKnown() ? Math.min(WINDOW_MAX_MS, Math.max(STATUS_WINDOW_MS, ANSWERS * averageMs)) : STATUS_WINDOW_MS);
  return {
    ms,
    dueMs(local, status, knownMs) {
      const nowMs = clock.now();
      if (reportsLossOnly(local.status, status)) {
        if (knownMs !== undefined) return knownMs;
        lossDueMs = Math.max(lossDueMs + LOSS_EVERY_MS, clock.monotonic() + STATUS_WINDOW_MS);
        return nowMs + lossDueMs - clock.monotonic();
      }
      // Quota of a Job that is being stopped waits for its status.
      return Math.min(knownMs ?? Number.POSITIVE_INFINITY, nowMs + (kind.isSuspended(local) ? STATUS_WINDOW_MS : ms()));
    },
    answered(tookMs) {
      averageMs = isKnown() ? averageMs + (tookMs - averageMs) * WEIGHT : tookMs;
      answeredMs = clock.monotonic();
    },
  };
}
