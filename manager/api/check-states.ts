import type { DeepReadonly, WorkStatus } from '../../shared/api/kubernetes.ts';

/** The state of an admission check for a Job: a condition of the Job, whose type is the name of the check. */
export type CheckState = {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** The last transition, in epoch milliseconds; -Infinity where it is absent. */
  readonly sinceMs: number;
};

/**
 * Names of checks begin with a lower-case letter or a digit, as names of objects do. Condition types of Kubernetes and Switchyard begin
 * with a capital.
 */
export const isCheckType = (type: string): boolean => /^[a-z0-9]/.test(type);

/** States by name of the check. */
export function checkStatesOf(status: DeepReadonly<WorkStatus> | undefined): ReadonlyMap<string, CheckState> {
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

/** Reasons of `False`. Any other reason means Retry. */
export const CheckReason = { Rejected: 'Rejected', Retry: 'Retry', Pending: 'Pending' } as const;
