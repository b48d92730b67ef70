import type { DeepReadonly, Job, JobStatus } from '../../../shared/api/kubernetes.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { tellsLossOnly } from './lost-place.ts';

/**
 * How long the progress of a running Job is gathered before it is written home. An API server under a burst answers slowly; the longer its
 * answers take, the longer progress waits, so that admissions and final statuses come first and short Jobs need one status write less.
 */
export interface StatusWindow {
  /** Milliseconds from the first change to the write. */
  ms(): number;
  /** When this status of a Job is to be written, on the time of day; `knownMs` was said of an earlier one that is not written yet. */
  dueMs(local: DeepReadonly<Job>, status: DeepReadonly<JobStatus>, knownMs: number | undefined): number;
  /** A status write was answered after so many milliseconds. */
  answered(tookMs: number): void;
}

/** The least, so that there is at most one such write of a Job in this time. */
export const STATUS_WINDOW_MS = 200;
/** Below the five seconds of the objective in docs/slo.md. */
const WINDOW_MAX_MS = 4_000;
/** So often at most a write says nothing but that a cluster is lost, or back: thousands of Jobs say so at once, and final statuses go by the same way. */
const LOSS_EVERY_MS = 50;
/** The window, in answers. */
const ANSWERS = 16;
/** Weight of the latest answer in the average. */
const WEIGHT = 1 / 8;
/** An average to which nothing was added for this long says nothing about the server of now. */
const KNOWN_FOR_MS = 2_000;

export function createStatusWindow(clock: Pick<Clock, 'monotonic' | 'now'>): StatusWindow {
  let averageMs = 0;
  let answeredMs = Number.NEGATIVE_INFINITY;
  let lossDueMs = Number.NEGATIVE_INFINITY;
  const isKnown = (): boolean => clock.monotonic() - answeredMs < KNOWN_FOR_MS;
  const ms = (): number => (isKnown() ? Math.min(WINDOW_MAX_MS, Math.max(STATUS_WINDOW_MS, ANSWERS * averageMs)) : STATUS_WINDOW_MS);
  return {
    ms,
    dueMs(local, status, knownMs) {
      const nowMs = clock.now();
      if (tellsLossOnly(local.status, status)) {
        if (knownMs !== undefined) return knownMs;
        lossDueMs = Math.max(lossDueMs + LOSS_EVERY_MS, clock.monotonic() + STATUS_WINDOW_MS);
        return nowMs + lossDueMs - clock.monotonic();
      }
      // Quota of a Job that is being stopped waits for its status.
      return Math.min(knownMs ?? Number.POSITIVE_INFINITY, nowMs + (local.spec.suspend === true ? STATUS_WINDOW_MS : ms()));
    },
    answered(tookMs) {
      averageMs = isKnown() ? averageMs + (tookMs - averageMs) * WEIGHT : tookMs;
      answeredMs = clock.monotonic();
    },
  };
}
