import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { isRefusalOf } from '../../api/refusals.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { isCarried } from '../companions/carry-mark.ts';
import { changedMarks } from '../../work-kind/copy-marks.ts';
import { reportsFailureInMs } from '../mirror/awaited-ends.ts';
import { lossMessage } from '../mirror/lost-place.ts';
import { type Copy, isCertain, type MirrorGroup } from '../mirror/mirror-group.ts';
import { withoutWorker } from '../mirror/without-worker.ts';
import { atRest, cannotStart, dispatched, quotaReserved, started } from '../status-home/own-conditions.ts';
import { carriedTo } from './carried-objects.ts';
import { deletions, type MirrorPlan, NOTHING, type RemoteAction, withoutFence, writeHome } from './mirror-plan.ts';
import { wantedCopy } from './wanted-copy.ts';

/** Rule 5 of {@link decideMirror}. */
export function decidePresentCopy(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
  copy: Copy,
  nowMs: number,
): MirrorPlan {
  const { kind } = group;
  if (isMismade(group, record, copy) || isForOtherPods(group, local, record, copy))
    return { remote: deletions(kind, [copy]), home: NOTHING };
  const reportsInMs = reportsFailureInMs(group, copy, nowMs);
  if (reportsInMs > 0) return { remote: [], home: NOTHING, againAfterMs: reportsInMs };
  const { cluster } = copy;
  const view = group.clusters.get(cluster);
  const isResting = rests(group, local, record, copy);
  const told = kind.copies.believed(copy.job, local);
  const ended = isResting && kind.copies.isJudgedAtRest(copy.job) ? kind.home.withTerminal(told, nowMs) : told;
  const remote = isResting ? kind.home.counted(ended, local) : ended;
  const trouble = (view?.problem ?? view?.trouble)?.message ?? (kind.copies.isWaitingToStart(copy.job) ? view?.waiting : undefined);
  const detail = lossMessage(group) ?? withoutWorker(kind, view, copy) ?? trouble ?? unfencedBecause(group, record, copy.cluster);
  const own = [
    ...quotaReserved(kind, local, record),
    isResting ? atRest(record) : dispatched(record, detail),
    ...started(kind, local, record, remote),
  ];
  const hasEnded = isResting && record.fail !== undefined;
  const status = hasEnded
    ? kind.home.failed(local, remote, record.fail, [...own, ...cannotStart(record.fail)], nowMs)
    : kind.home.of({ local, remote, own, nowMs });
  const home = writeHome(kind, local, status, copy);
  if (copy.deleting) return { remote: [], home };
  // No worker is there to report that the copy rests. Once the copy is deleted, the absence of its pods is the proof.
  if (kind.isSuspended(local) && view?.withoutWorker !== undefined && !isResting && kind.copies.isUnbegun(copy.job))
    return { remote: [{ kind: 'Delete', cluster, copy: copy.job, propagationPolicy: 'Background', confirm: undefined }], home };
  if (kind.isSuspended(local) && kind.copies.isResumeUnseen(copy.job))
    return { remote: [{ kind: 'TakeBackSuspended', cluster, copy: copy.job }], home };
  // Its finished work is at home, and the WorkerCluster is being deleted.
  if (view?.leaving === true && isResting && isProvenAtRest(local.status, record)) return { remote: deletions(kind, [copy]), home };
  const wanted = wantedCopy(group, local, record);
  const runs = !kind.isSuspended(local) && !('reason' in wanted);
  const update = (spec: Record<string, unknown>, annotations?: Record<string, string | null>): RemoteAction => ({
    kind: 'Update',
    cluster,
    copy: copy.job,
    spec,
    resumes: kind.copies.resumes(spec),
    ...omitUndefined({ annotations: kind.copies.resumes(spec) ? { ...annotations, ...kind.copies.resumption(copy.job) } : annotations }),
  });
  // A copy with a verdict is not changed: it only has to finish, for which it must not be suspended.
  if (kind.home.hasVerdict(copy.job))
    return { remote: runs && kind.isSuspended(copy.job) && !isFinished(copy.job.status) ? [update(kind.suspension(false))] : [], home };
  const mayLack = runs && kind.isSuspended(copy.job) && kind.copies.isUnbegun(copy.job) && !isCarried(copy.job);
  const carry = mayLack ? carriedTo(group, local, record, cluster) : undefined;
  if (carry !== undefined) return { remote: [{ kind: 'Carry', cluster, copy: copy.job, carry }], home };
  const seed = runs ? kind.home.seedFor(copy.job, local) : undefined;
  const spec = 'reason' in wanted ? suspension(group, copy.job, local) : kind.copies.change(copy.job, wanted, !runs || seed !== undefined);
  // The API server is too old for such changes: the resting copy is deleted, and created again with the present template.
  if (view?.problem !== undefined && kind.copies.changesPods(spec) && kind.copies.isAtRest(copy.job))
    return { remote: deletions(kind, [copy]), home };
  const stays = runs ? undefined : withoutFence(kind, copy.job);
  const marks = 'reason' in wanted ? undefined : changedMarks(copy.job, wanted);
  const annotations = marks === undefined ? stays : { ...marks, ...stays };
  if (spec !== undefined || annotations !== undefined) return { remote: [update(spec ?? {}, annotations)], home };
  return { remote: seed === undefined ? [] : [{ kind: 'Seed', cluster, copy: copy.job, status: seed }], home };
}

/** The copy is not what was sent: an API server has dropped fields, or another Job controller runs the copies there now. */
const isMismade = (group: MirrorGroup, { epoch }: AdmissionRecord, { cluster, job }: Copy): boolean => {
  const { problem, jobController } = group.clusters.get(cluster) ?? {};
  return (
    group.kind.copies.hasOtherController(job, jobController) ||
    (problem?.reason === DispatchedReason.FieldsDropped && isRefusalOf(epoch, problem))
  );
};

/**
 * The copy is to be resumed, and was made for an admission with other numbers of pods, or other flavors, that no change gives it. It rests:
 * it is created again for the present admission. Its status, of which a new copy has nothing, does not come home any more.
 */
function isForOtherPods(group: MirrorGroup, local: DeepReadonly<WorkObject>, record: AdmissionRecord, { job }: Copy): boolean {
  const { kind } = group;
  if (kind.isSuspended(local) || !kind.isSuspended(job) || isFinished(job.status) || !kind.copies.isAtRest(job)) return false;
  const wanted = wantedCopy(group, local, record);
  return !('reason' in wanted) && kind.copies.hasOtherPods(job, wanted);
}

/** Job and copy are suspended, and the copy rests with certainty. */
const rests = (group: MirrorGroup, local: DeepReadonly<WorkObject>, record: AdmissionRecord, { cluster, job }: Copy): boolean =>
  group.kind.isSuspended(local) &&
  group.kind.isSuspended(job) &&
  group.kind.copies.isAtRest(job) &&
  isCertain(group.clusters.get(cluster), record);

/** The only change of a copy whose original may not run in its present form. */
const suspension = (
  { kind }: MirrorGroup,
  copy: DeepReadonly<WorkObject>,
  local: DeepReadonly<WorkObject>,
): Record<string, unknown> | undefined => (kind.isSuspended(local) && !kind.isSuspended(copy) ? kind.suspension(true) : undefined);

/** What a Job that asks for a fence reports when it has none. */
const unfencedBecause = (group: MirrorGroup, record: AdmissionRecord, cluster: string): string | undefined =>
  group.clusters.get(cluster)?.builtIn === true && record.unfenced !== true
    ? 'not fenced: the built-in Job controller runs it there, and goes on when the manager is out of reach'
    : undefined;
