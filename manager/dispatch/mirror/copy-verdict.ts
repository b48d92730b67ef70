import type { DeepReadonly, Job, JobStatus } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { hasVerdict, VERDICT_TYPES } from '../status-home/to-local-status.ts';

/**
 * What a copy says of itself. That it rests counts only while it is told to: once it is resumed its pods may run before it says so, and if the
 * cluster is lost then, nobody may take the Job for one that rests.
 */
export function statusByCopy(copy: DeepReadonly<Job>, local: DeepReadonly<Job>): DeepReadonly<JobStatus> | undefined {
  const status = copy.metadata.deletionTimestamp === undefined ? copy.status : toldWhileDeleting(copy.status, local);
  if (copy.spec.suspend === true || status?.conditions === undefined) return status;
  return { ...status, conditions: status.conditions.filter((each) => each.type !== 'Suspended' || each.status !== 'True') };
}

/**
 * The status of a copy that is being deleted. A Job controller counts the pods that its deletion takes away as failures, and ends the Job for them or, a
 * work queue, because none is left: neither says anything of the Job. A verdict that stands at home was said before, and successes are its pods' own.
 */
function toldWhileDeleting(status: DeepReadonly<JobStatus> | undefined, local: DeepReadonly<Job>): DeepReadonly<JobStatus> | undefined {
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
