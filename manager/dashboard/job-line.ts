import type { DeepReadonly, Job, JobCondition } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { findCondition, finishedCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { userOf } from '../api/creator.ts';
import { holdOf, queueNameOf } from '../api/job-annotations.ts';
import { DispatchedReason, SwitchyardCondition } from '../api/reasons.ts';
import { writtenRecordOf, type AdmissionRecord } from '../api/records.ts';
import type { JobLine, JobState } from './views.ts';

/** The page of the Job shows longer messages in full. */
const WHY_LENGTH_MAX = 240;

/** The Job as a line; undefined where another controller manages it. */
export function jobLine(job: DeepReadonly<Job>): JobLine | undefined {
  const { metadata, spec, status = {} } = job;
  if (spec.managedBy !== MANAGER_CONTROLLER_NAME) return undefined;
  const written = writtenRecordOf(job);
  const record = written.kind === 'Record' ? written.record : undefined;
  const ended = finishedCondition(status);
  const state = stateOf(job, record, ended);
  const cause = causeOf(job, state, ended);
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid,
    state,
    ...omitUndefined({
      reason: cause?.reason || undefined,
      why: cause && shortened(cause.message),
      queue: queueNameOf(job),
      clusterQueue: record?.clusterQueue,
      cluster: record?.cluster,
      user: userOf(job),
      admittedMs: parseWireTime(record?.since),
      startedMs: parseWireTime(status.startTime),
      endedMs: ended && (parseWireTime(status.completionTime) ?? parseWireTime(ended.lastTransitionTime)),
    }),
    createdMs: parseWireTime(metadata.creationTimestamp) ?? 0,
    completions: spec.completions ?? spec.parallelism ?? 1,
    active: status.active ?? 0,
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
  };
}

function stateOf(job: DeepReadonly<Job>, record: AdmissionRecord | undefined, ended: DeepReadonly<JobCondition> | undefined): JobState {
  if (ended !== undefined) return ended.type === 'Complete' ? 'Complete' : 'Failed';
  const hold = holdOf(job);
  const isHeld = hold.kind === 'Hold' && hold.held === true;
  if (record === undefined) return isHeld ? 'Held' : 'Waiting';
  if (record.evicted === true || job.spec.suspend === true) {
    const rests = (job.status?.active ?? 0) > 0 || (job.status?.terminating ?? 0) > 0;
    if (rests || findCondition(job.status?.conditions, SwitchyardCondition.Dispatched)?.reason !== DispatchedReason.AtRest)
      return 'Resting';
    return isHeld ? 'Held' : 'Waiting';
  }
  const runs =
    (job.status?.startTime ?? undefined) !== undefined && hasTrueCondition(job.status?.conditions, SwitchyardCondition.Dispatched);
  return runs || (job.status?.active ?? 0) > 0 || (job.status?.succeeded ?? 0) > 0 ? 'Running' : 'Dispatching';
}

/** The condition that explains the state. */
function causeOf(
  { status }: DeepReadonly<Job>,
  state: JobState,
  ended: DeepReadonly<JobCondition> | undefined,
): { readonly reason?: string | undefined; readonly message?: string | undefined } | undefined {
  const notTrue = (type: string): DeepReadonly<JobCondition> | undefined => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === 'True' ? undefined : condition;
  };
  switch (state) {
    case 'Waiting':
    case 'Held':
    case 'Resting':
      return notTrue(SwitchyardCondition.QuotaReserved);
    case 'Dispatching':
      return notTrue(SwitchyardCondition.Dispatched) ?? notTrue(SwitchyardCondition.Started);
    case 'Running':
      return notTrue(SwitchyardCondition.Dispatched);
    case 'Failed':
      return ended;
    case 'Complete':
      return undefined;
  }
}

const shortened = (text: string | undefined): string | undefined =>
  text === undefined || text === '' ? undefined : text.length > WHY_LENGTH_MAX ? `${text.slice(0, WHY_LENGTH_MAX - 1)}…` : text;

export const namespaceOf = ({ key }: Pick<JobLine, 'key'>): string => key.slice(0, key.indexOf('/'));
export const hasEnded = ({ state }: Pick<JobLine, 'state'>): boolean => state === 'Complete' || state === 'Failed';
