import type { DeepReadonly, Job, JobStatus } from '../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { hasVerdict, VERDICT_TYPES } from '../status-home/to-local-status.ts';

/**
 * The status of a copy, as far as it counts. `Suspended` counts only while the copy is suspended: the pods of a resumed copy may run before
 * its status says so, and if its cluster is lost then, the Job must not count as one that rests.
 */
export function statusByCopy(copy: DeepReadonly<Job>, local: DeepReadonly<Job>): DeepReadonly<JobStatus> | undefined {
  const status = copy.metadata.deletionTimestamp === undefined ? copy.status : statusWhileDeleting(copy.status, local);
  if (copy.spec.suspend === true || status?.conditions === undefined) return status;
  return { ...status, conditions: status.conditions.filter((each) => each.type !== 'Suspended' || each.status !== 'True') };
}

/**
 * The status of a copy that is being deleted. A Job controller counts pods that the deletion removes as failures. It fails the Job for
 * them, or completes a work queue because no pod is left: both are ignored. An earlier verdict at home stays, and successes are those of
 * pods.
 */
function statusWhileDeleting(status: DeepReadonly<JobStatus> | undefined, local: DeepReadonly<Job>): DeepReadonly<JobStatus> | undefined {
  if (status === undefined || hasVerdict(local.status)) return status;
  const { failed: _failed, failedIndexes: _lost, uncountedTerminatedPods: ledger, conditions, ...rest } = status;
  const { failed, failedIndexes } = local.status ?? {};
  const said = hasAllSuccesses(status, local) ? SUCCESS : [];
  return {
    ...rest,
    ...omitUndefined({
      failed,
      failedIndexes,
      uncountedTerminatedPods: ledger && omitUndefined({ succeeded: ledger.succeeded }),
      conditions: conditions?.filter(({ type }) => said.includes(type) || !VERDICT_TYPES.includes(type)),
    }),
  };
}

const SUCCESS: readonly string[] = ['SuccessCriteriaMet', 'Complete'];
const hasAllSuccesses = ({ succeeded = 0 }: DeepReadonly<JobStatus>, { spec: { completions } }: DeepReadonly<Job>): boolean =>
  typeof completions === 'number' && succeeded >= completions;
