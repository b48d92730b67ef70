import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { forPods } from '../../api/job-requests.ts';
import type { ShownCopy } from '../../api/shown-copy.ts';
import { isCarried } from '../companions/carry-mark.ts';
import type { ClusterView, Copy } from './mirror-group.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import { requestsOf } from '../../work-kind/pod-sets.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/** A copy as its cluster shows it; undefined for a copy without an identity, which is left alone. */
export function shownCopy(
  kind: WorkKind,
  { cluster, job, deleting }: Copy,
  { contact, doubt }: Pick<ClusterView, 'contact' | 'doubt'>,
): ShownCopy | undefined {
  const identity = copyIdentity(job);
  if (identity === undefined) return undefined;
  const ended = isFinished(job.status);
  const told = kind.progress(job);
  const active = ended ? 0 : told.active;
  return {
    cluster,
    inSight: contact === 'Ready',
    uid: job.metadata.uid,
    originUid: identity.originUid,
    epoch: identity.epoch,
    suspended: kind.isSuspended(job),
    ...(kind.home.hasVerdict(job) ? { judged: true as const } : {}),
    ...(kind.copies.isFenced(job) ? { fenced: true as const } : {}),
    ...(isCarried(job) ? { carried: true as const } : {}),
    ...(doubt.kind === 'None' ? {} : { isWritten: true as const }),
    deleting,
    active,
    terminating: ended ? 0 : told.terminating,
    podsAtOnce: kind.podsAtOnce(job),
    running: runningOf(kind, job, active),
  };
}

/** Which pods of several sets are active is not known: each counts as the average one. */
function runningOf(kind: WorkKind, job: DeepReadonly<WorkObject>, active: number): ShownCopy['running'] {
  const podSets = kind.podSets(job);
  const [first, ...others] = podSets;
  const { requests, problem } = requestsOf(first !== undefined && others.length === 0 ? [{ ...first, count: active }] : podSets);
  if (problem !== undefined) return undefined;
  return others.length === 0 ? requests : forPods(requests, active);
}
