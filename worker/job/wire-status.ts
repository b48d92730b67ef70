import type { DeepReadonly, JobStatus } from '../../shared/api/kubernetes.ts';

/** A Job's status as upstream puts it on the wire: what is zero or empty is left out, what may be null and is not stays. */
export function wireStatus(status: DeepReadonly<JobStatus>): JobStatus {
  const { active, succeeded, failed, completedIndexes, conditions = [], uncountedTerminatedPods, ...rest } = status;
  const { succeeded: uncountedSucceeded = [], failed: uncountedFailed = [] } = uncountedTerminatedPods ?? {};
  return {
    ...rest,
    ...(active ? { active } : {}),
    ...(succeeded ? { succeeded } : {}),
    ...(failed ? { failed } : {}),
    ...(completedIndexes ? { completedIndexes } : {}),
    ...(conditions.length > 0 ? { conditions: conditions.map((condition) => ({ ...condition })) } : {}),
    uncountedTerminatedPods: {
      ...(uncountedSucceeded.length > 0 ? { succeeded: [...uncountedSucceeded] } : {}),
      ...(uncountedFailed.length > 0 ? { failed: [...uncountedFailed] } : {}),
    },
  };
}
