import type { DeepReadonly, JobStatus } from '../../shared/api/kubernetes.ts';

/** What an admission check says of a Job: a condition of the Job, of which the check's name is the type. */
export type CheckState = {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Since when it says so, in epoch milliseconds; -Infinity where it does not tell. */
  readonly sinceMs: number;
};

/** Names of checks begin with a small letter or a digit, as names of objects do. All conditions of Kubernetes and of ours begin with a capital. */
export const isCheckType = (type: string): boolean => /^[a-z0-9]/.test(type);

/** By name of the check. */
export function checkStatesOf(status: DeepReadonly<JobStatus> | undefined): ReadonlyMap<string, CheckState> {
  const checks = (status?.conditions ?? []).filter(({ type }) => isCheckType(type));
  if (checks.length === 0) return NONE;
  return new Map(
    checks.map(({ type, status: said, reason, message, lastTransitionTime }) => [
      type,
      {
        status: said,
        reason: reason ?? '',
        message: message ?? '',
        sinceMs: Date.parse(lastTransitionTime ?? '') || Number.NEGATIVE_INFINITY,
      },
    ]),
  );
}

const NONE: ReadonlyMap<string, CheckState> = new Map();

/** Reasons of `False`. Any other means Retry. */
export const CheckReason = { Rejected: 'Rejected', Retry: 'Retry', Pending: 'Pending' } as const;
