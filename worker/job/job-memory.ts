/**
 * What the controller remembers of its Jobs between syncs; a restart loses it, and that does no harm.
 * All of it is kept by the Job's UID: a Job created anew under an old name starts afresh.
 */
import type { Clock } from '../../shared/runtime/clock.ts';
import {
  type ControllerExpectations,
  createControllerExpectations,
  createFinalizerExpectations,
  type FinalizerExpectations,
} from '../../shared/kube/expectations.ts';
import { type BackoffRecord, NO_BACKOFF } from './backoff.ts';
import { createDoubtfulPods, type DoubtfulPods } from './doubtful-pods.ts';
import type { Verdict } from './verdict.ts';
import { createWrittenVersions, type CachedVersion, type WrittenVersions } from './written-versions.ts';

export interface JobMemory {
  /** Pods asked for, or deleted, and not yet seen so. */
  readonly expectations: ControllerExpectations;
  readonly finalizerExpectations: FinalizerExpectations;
  readonly doubtfulPods: DoubtfulPods;
  readonly written: WrittenVersions;
  /** Jobs whose final status is written and perhaps not seen yet: nothing may be done to them any more. */
  readonly finished: Set<string>;
  /** The server has said that the Job is gone; the cache may show it for a while. */
  rememberGone(jobUid: string): void;
  /** How long this is believed against the cache, in milliseconds; 0 when nothing is known. */
  goneForMs(jobUid: string): number;
  /** Jobs of other controllers that the log knows of. */
  readonly delegated: Set<string>;
  /** Jobs without pods for their namespace that this was told of. */
  readonly denied: Set<string>;
  /** Jobs whose counted pods have been compared with the selector since one of them changed its labels. */
  readonly surveyed: Set<string>;
  /** Jobs whose last sync was capped: it did as much as one sync may, and there is more to do. */
  readonly capped: Set<string>;
  /** Ends that pods were deleted for, or may have been, of Jobs whose status may not say so yet. */
  readonly endsBegun: Map<string, Verdict>;
  backoff(jobUid: string): BackoffRecord;
  rememberBackoff(jobUid: string, record: BackoffRecord): void;
  /**
   * The Job has its final status: what led there is of no interest any more. The finalizers that are still to be seen off
   * stay known until they are: nobody need remove them once more.
   */
  forgetProgress(jobUid: string): void;
  /** The Job is gone. */
  forget(jobUid: string): void;
}

/** A server that is not to be believed would stop a Job for ever without this. */
const GONE_BELIEVED_MS = 5 * 60_000;

export function createJobMemory(clock: Clock, cachedVersion: CachedVersion): JobMemory {
  const expectations = createControllerExpectations(clock);
  const finalizerExpectations = createFinalizerExpectations();
  const doubtfulPods = createDoubtfulPods();
  const written = createWrittenVersions(clock, cachedVersion);
  const backoffs = new Map<string, BackoffRecord>();
  const endsBegun = new Map<string, Verdict>();
  const goneSinceMs = new Map<string, number>();
  const sets = {
    finished: new Set<string>(),
    delegated: new Set<string>(),
    denied: new Set<string>(),
    surveyed: new Set<string>(),
    capped: new Set<string>(),
  };
  function forgetProgress(jobUid: string): void {
    backoffs.delete(jobUid);
    endsBegun.delete(jobUid);
    sets.capped.delete(jobUid);
    written.forget(jobUid);
    expectations.forget(jobUid);
    doubtfulPods.forget(jobUid);
  }
  return {
    expectations,
    finalizerExpectations,
    doubtfulPods,
    written,
    ...sets,
    endsBegun,
    rememberGone: (jobUid) => void goneSinceMs.set(jobUid, clock.now()),
    goneForMs: (jobUid) => Math.max(0, (goneSinceMs.get(jobUid) ?? Number.NEGATIVE_INFINITY) + GONE_BELIEVED_MS - clock.now()),
    backoff: (jobUid) => backoffs.get(jobUid) ?? NO_BACKOFF,
    rememberBackoff: (jobUid, record) =>
      void (record.failuresAfterLastSuccess === 0 ? backoffs.delete(jobUid) : backoffs.set(jobUid, record)),
    forgetProgress,
    forget(jobUid) {
      forgetProgress(jobUid);
      finalizerExpectations.forget(jobUid);
      goneSinceMs.delete(jobUid);
      for (const set of Object.values(sets)) set.delete(jobUid);
    },
  };
}
