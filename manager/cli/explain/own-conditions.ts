import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { queueNameOf } from '../../api/job-annotations.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { stateOf } from '../get/kinds.ts';
import { jobRow } from '../job-row.ts';
import { plain } from '../plain-text.ts';

/** What a Job says of itself: its state, queue and cluster, and each of its conditions. */
export function conditionLines(job: DeepReadonly<Job>): string[] {
  const { namespace, name } = job.metadata;
  const { cluster, reason } = jobRow(job);
  const where = cluster === undefined ? `in queue ${queueNameOf(job) ?? '-'}` : `on cluster ${cluster}`;
  return [
    `${namespace}/${name} ${where}: ${stateOf(job)}${reason === '' ? '' : `: ${reason}`}`,
    ...(job.status?.conditions ?? []).map(
      ({ type, status, reason: why, message }) =>
        `  ${type} ${status}${[why, message].flatMap((each) => (each ? `: ${each}` : [])).join('')}`,
    ),
  ].map(plain);
}

/** Why a Job is none of the manager's, and how to make it one; undefined where it is the manager's. */
export function unmanagedProblem(job: DeepReadonly<Job>, controller: string | undefined): string | undefined {
  if (controller === MANAGER_CONTROLLER_NAME) return undefined;
  const { namespace, name } = job.metadata;
  const key = plain(`${namespace}/${name}`);
  if (queueNameOf(job) === undefined)
    return `Job ${key} is not Switchyard’s: it has no label ${QUEUE_NAME_LABEL}, so it runs here, in no queue. Write the label with the name of a LocalQueue into its manifest, delete the Job (kubectl delete job ${plain(name)} -n ${plain(namespace)}) and create it again; switchyard submit FILE -q QUEUE sets the label`;
  return `Job ${key} is not Switchyard’s: its spec.managedBy names ${plain(controller ?? 'nobody')}, and cannot be changed; delete the Job and create it again with spec.managedBy: ${MANAGER_CONTROLLER_NAME}, or by switchyard submit`;
}

/** Whether the Job has been admitted, now or before. */
export const wasPlaced = (job: DeepReadonly<Job>): boolean => writtenRecordOf(job).kind === 'Record';
