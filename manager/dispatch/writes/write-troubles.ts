import { ApiError } from '../../../shared/kube/api-error.ts';
import { connectionFailure } from '../../../shared/kube/connection-failure.ts';
import { UnusableAnswer } from '../../../shared/kube/unusable-answer.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { RemoteAction } from '../decisions/mirror-plan.ts';
import { LeaseNotHeld } from '../cluster/lease-not-held.ts';

/** Failing writes to one cluster that are retried, and the problems that their Jobs report. */
export interface WriteTroubles {
  /**
   * Records one more failed write for the Job. `reported`: the Job has a new problem to report; `first`: its reason is new for this Job.
   */
  failed(localKey: string, trouble: Trouble, nowMs: number): { readonly reported: boolean; readonly first: boolean };
  /** The problem that the Job reports; undefined while there is none. */
  reported(localKey: string): DispatchProblem | undefined;
  /** A write for the Job has succeeded, or is no longer needed. */
  over(localKey: string): void;
  keys(): readonly string[];
}
/** The problem of a failing write, and how long the failure must last before the Job reports it. */
export type Trouble = { readonly problem: DispatchProblem; readonly patienceMs: number };

/** A failure that the next retries may mend is not worth a status write. */
const PATIENCE_MS = 1_000;
/** Conflicts and throttling are normal on a healthy cluster. */
const USUAL_PATIENCE_MS = 10_000;
/** A message that changes with each failure is reported once in this time. */
const REPORT_INTERVAL_MS = 10_000;

type OngoingTrouble = {
  readonly sinceMs: number;
  readonly reported: DispatchProblem | undefined;
  readonly reportedMs: number;
  readonly reasons: readonly string[];
};

export function createWriteTroubles(): WriteTroubles {
  const ongoing = new Map<string, OngoingTrouble>();
  return {
    failed(localKey, { problem, patienceMs }, nowMs) {
      const before = ongoing.get(localKey) ?? { sinceMs: nowMs, reported: undefined, reportedMs: Number.NEGATIVE_INFINITY, reasons: [] };
      const silent =
        nowMs - before.sinceMs < patienceMs || nowMs - before.reportedMs < REPORT_INTERVAL_MS || isSameProblem(before.reported, problem);
      if (silent) {
        ongoing.set(localKey, before);
        return { reported: false, first: false };
      }
      const first = !before.reasons.includes(problem.reason);
      ongoing.set(localKey, {
        ...before,
        reported: problem,
        reportedMs: nowMs,
        reasons: first ? [...before.reasons, problem.reason] : before.reasons,
      });
      return { reported: true, first };
    },
    reported: (localKey) => ongoing.get(localKey)?.reported,
    over: (localKey) => void ongoing.delete(localKey),
    keys: () => [...ongoing.keys()],
  };
}

/** Numbers and identifiers differ between answers and make no new problem. */
const isSameProblem = (told: DispatchProblem | undefined, { reason, message }: DispatchProblem): boolean =>
  told?.reason === reason && isSameText(told.message, message);
/** True when the texts differ in numbers and identifiers alone. */
export const isSameText = (one: string, other: string): boolean => withoutNumbers(one) === withoutNumbers(other);
const withoutNumbers = (message: string): string => message.replace(/[\da-f]*\d[\da-f]*/gi, '#');

/** The problem of a failed write that is no final refusal. */
export function troubleOf(error: unknown, cluster: string, kind: RemoteAction['kind']): Trouble {
  const { reason, words } = cause(error);
  const message = `the copy on cluster "${cluster}" cannot be ${DONE[kind]} now, which is tried again: ${words}`;
  return { problem: { reason, message }, patienceMs: USUAL.includes(reason) ? USUAL_PATIENCE_MS : PATIENCE_MS };
}

const DONE = {
  Create: 'created',
  Update: 'changed',
  Seed: 'told what is finished',
  TakeBackSuspended: 'asked whether its suspension is seen',
  Delete: 'deleted',
  Look: 'read',
  Carry: 'given the objects that it takes along',
} as const satisfies Record<RemoteAction['kind'], string>;
const USUAL: readonly DispatchedReason[] = [DispatchedReason.WriteConflict, DispatchedReason.Throttled];

function cause(error: unknown): { readonly reason: DispatchedReason; readonly words: string } {
  if (error instanceof UnusableAnswer) return { reason: DispatchedReason.ClusterError, words: sanitizeText(error.message) };
  if (error instanceof LeaseNotHeld) return { reason: DispatchedReason.NoAnswer, words: error.message };
  if (!(error instanceof ApiError)) return { reason: DispatchedReason.NoAnswer, words: connectionFailure(error) };
  const words = `${sanitizeText(error.message)} (${error.code})`;
  if (error.code === 401 || error.code === 403) return { reason: DispatchedReason.NotAllowed, words };
  if (error.code === 429) return { reason: DispatchedReason.Throttled, words };
  if (error.code === 404 || error.code === 409) return { reason: DispatchedReason.WriteConflict, words };
  return { reason: DispatchedReason.ClusterError, words };
}
