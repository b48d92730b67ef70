import type { DeepReadonly, Job, JobCondition, WorkObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { findCondition, finishedCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { userOf } from '../api/creator.ts';
import { holdOf, queueNameOf } from '../api/job-annotations.ts';
import { DispatchedReason, QuotaReservedReason, SwitchyardCondition } from '../api/reasons.ts';
import { writtenRecordOf, type AdmissionRecord } from '../api/records.ts';
import { readShortOf } from '../api/short-of.ts';
import { isCanary } from '../canary/canary-job.ts';
import { wordOfKind, workKey } from '../work-kind/qualified-name.ts';
import type { Progress, WorkKind } from '../work-kind/work-kind.ts';
import type { JobLine, JobState } from './views.ts';

/** The page of the Job shows longer messages in full. */
const WHY_LENGTH_MAX = 240;

/** The Job, or object of another kind, as a line; undefined where another controller manages it. */
export function jobLine(job: DeepReadonly<Job>, kind: WorkKind<Job>): JobLine | undefined {
  const { metadata, status } = job;
  if (kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME) return undefined;
  const own = kind.of(metadata.name);
  const isJob = own === kind.of(undefined);
  const progress = own.progress(job);
  const written = writtenRecordOf(job);
  const record = written.kind === 'Record' ? written.record : undefined;
  const ended = finishedCondition(status);
  const byStatus = stateOf(job, own.isSuspended(job), progress, record, ended);
  const condition = conditionOf(job, byStatus, ended);
  const state = byStatus === 'Waiting' && NEVER_FITS.has(condition?.reason ?? '') ? 'NeverFits' : byStatus;
  return {
    key: workKey(metadata),
    ...(isJob ? {} : { kind: wordOfKind(own.resource) }),
    uid: metadata.uid,
    state,
    ...omitUndefined({
      reason: condition?.reason || undefined,
      why: condition && shortened(condition.message),
      cause: isQueued({ state }) ? causeOf(state, condition?.reason, readShortOf(metadata)) : undefined,
      canary: isCanary(metadata) ? true : undefined,
      queue: queueNameOf(job),
      clusterQueue: record?.clusterQueue,
      cluster: record?.cluster,
      user: userOf(job),
      admittedMs: parseWireTime(record?.since),
      startedMs: parseWireTime(progress.startTime),
      endedMs: ended && (parseWireTime(progress.completionTime) ?? parseWireTime(ended.lastTransitionTime)),
    }),
    createdMs: parseWireTime(metadata.creationTimestamp) ?? 0,
    completions: isJob ? (job.spec.completions ?? job.spec.parallelism ?? 1) : own.podsAtOnce(job),
    active: progress.active,
    succeeded: progress.succeeded,
    failed: progress.failed,
  };
}

function stateOf(
  job: DeepReadonly<WorkObject>,
  isSuspended: boolean,
  { startTime, active, terminating, succeeded }: Progress,
  record: AdmissionRecord | undefined,
  ended: DeepReadonly<JobCondition> | undefined,
): JobState {
  if (ended !== undefined) return ended.type === 'Complete' ? 'Complete' : 'Failed';
  const hold = holdOf(job);
  const isHeld = hold.kind === 'Hold' && hold.held === true;
  if (record === undefined) return isHeld ? 'Held' : 'Waiting';
  if (record.evicted === true || isSuspended) {
    const rests = active > 0 || terminating > 0;
    if (rests || findCondition(job.status?.conditions, SwitchyardCondition.Dispatched)?.reason !== DispatchedReason.AtRest)
      return 'Resting';
    return isHeld ? 'Held' : 'Waiting';
  }
  const runs = startTime !== undefined && hasTrueCondition(job.status?.conditions, SwitchyardCondition.Dispatched);
  return runs || active > 0 || succeeded > 0 ? 'Running' : 'Dispatching';
}

type Explaining = { readonly reason?: string | undefined; readonly message?: string | undefined };

/** The condition that explains the state. */
function conditionOf(
  { status }: DeepReadonly<WorkObject>,
  state: JobState,
  ended: DeepReadonly<JobCondition> | undefined,
): Explaining | undefined {
  const notTrue = (type: string): DeepReadonly<JobCondition> | undefined => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === 'True' ? undefined : condition;
  };
  switch (state) {
    case 'Waiting':
    case 'NeverFits':
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

/** Also with nothing else there: by its quota, the labels of its flavors, or the nodes of every cluster. */
const NEVER_FITS: ReadonlySet<string> = new Set([
  QuotaReservedReason.ExceedsQuota,
  QuotaReservedReason.NoMatchingFlavor,
  QuotaReservedReason.ExceedsNodes,
]);
/** Reasons beside which the Job says of what it is short; what stands there beside another is older than the condition. */
const SHORT: ReadonlySet<string> = new Set([QuotaReservedReason.InsufficientQuota, QuotaReservedReason.NoClusterFits]);

/** The cause for which a queued Job waits, without amounts and names, so that Jobs can be counted by it. */
function causeOf(state: JobState, reason: string | undefined, shortOf: readonly string[]): string {
  if (state === 'Held') return 'held';
  if (reason === undefined || reason === '') return 'not tried yet';
  if (SHORT.has(reason) && shortOf.length > 0) return `short of ${shortOf.join(' and ')}`;
  return CAUSES[reason] ?? reason.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

const CAUSES: Readonly<Record<string, string>> = {
  [QuotaReservedReason.InsufficientQuota]: 'short of quota',
  [QuotaReservedReason.ExceedsQuota]: 'more than its quota',
  [QuotaReservedReason.NoMatchingFlavor]: 'no flavor with such nodes',
  [QuotaReservedReason.NoClusterFits]: 'no cluster takes it',
  [QuotaReservedReason.ExceedsNodes]: 'larger than any node',
  [QuotaReservedReason.BehindEarlierJob]: 'behind an earlier Job',
  [QuotaReservedReason.BehindOtherQueues]: 'behind other queues',
  [QuotaReservedReason.Preempting]: 'others make room',
};

const shortened = (text: string | undefined): string | undefined =>
  text === undefined || text === '' ? undefined : text.length > WHY_LENGTH_MAX ? `${text.slice(0, WHY_LENGTH_MAX - 1)}…` : text;

export const namespaceOf = ({ key }: Pick<JobLine, 'key'>): string => key.slice(0, key.indexOf('/'));
/** In a queue, or held out of it. */
export const isQueued = ({ state }: Pick<JobLine, 'state'>): boolean => state === 'Waiting' || state === 'NeverFits' || state === 'Held';
export const hasEnded = ({ state }: Pick<JobLine, 'state'>): boolean => state === 'Complete' || state === 'Failed';
