import type { DeepReadonly, Job, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { queueNameOf } from '../../api/job-annotations.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { formatWork, parseQualifiedName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { rowOf, stateOf } from '../get/work-view.ts';
import { plain } from '../plain-text.ts';

/** An object by its own words: state, queue and cluster, and each of its conditions. */
export function conditionLines(job: DeepReadonly<WorkObject>, kind: WorkKind<Job>): string[] {
  const { namespace, name } = job.metadata;
  const { cluster, reason } = rowOf(job, kind);
  const where = cluster === undefined ? `in queue ${queueNameOf(job) ?? '-'}` : `on cluster ${cluster}`;
  return [
    `${namespace}/${name} ${where}: ${stateOf(job, kind)}${reason === '' ? '' : `: ${reason}`}`,
    ...(job.status?.conditions ?? []).map(
      ({ type, status, reason: why, message }) =>
        `  ${type} ${status}${[why, message].flatMap((each) => (each ? `: ${each}` : [])).join('')}`,
    ),
  ].map(plain);
}

/** Why an object is none of the manager's, and how to make it one; undefined where it is the manager's. */
export function unmanagedProblem(job: DeepReadonly<WorkObject>, kind: WorkKind<Job>): string | undefined {
  const controller = kind.controllerOf(job);
  if (controller === MANAGER_CONTROLLER_NAME) return undefined;
  const { qualifier, name } = parseQualifiedName(job.metadata.name);
  const [work, word] = [plain(formatWork(kind, job.metadata)), plain(kind.of(job.metadata.name).resource.kind)];
  if (queueNameOf(job) === undefined) {
    const deletion = `kubectl delete ${plain(qualifier ?? 'job')} ${plain(name)} -n ${plain(job.metadata.namespace)}`;
    return `${work} is not Switchyard’s: it has no label ${QUEUE_NAME_LABEL}, so it runs here, in no queue. Write the label with the name of a LocalQueue into its manifest, delete the ${word} (${deletion}) and create it again; switchyard submit FILE -q QUEUE sets the label`;
  }
  if (qualifier !== undefined)
    return `${work} is not Switchyard’s: ${controller === undefined ? 'its operator runs it here' : `${plain(controller)} manages it`}; delete the ${word} and create it again by switchyard submit`;
  return `${work} is not Switchyard’s: its spec.managedBy names ${plain(controller ?? 'nobody')}, and cannot be changed; delete the Job and create it again with spec.managedBy: ${MANAGER_CONTROLLER_NAME}, or by switchyard submit`;
}

/** Whether the Job has been admitted, now or before. */
export const wasPlaced = (job: DeepReadonly<Job>): boolean => writtenRecordOf(job).kind === 'Record';
