import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { isRefusalOf } from '../../api/refusals.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { isCarryPending } from '../copy/carry-mark.ts';
import { changedMarks } from '../copy/copy-marks.ts';
import { isAtRest, isJudgedAtRest, isResumeUnseen, isUnbegun, resumption } from '../copy/copy-rest.ts';
import { changesTemplate, hasOtherController, specChange } from '../copy/remote-job.ts';
import { statusByCopy } from '../mirror/copy-verdict.ts';
import { lossMessage } from '../mirror/lost-place.ts';
import { type Copy, isCertain, type MirrorGroup } from '../mirror/mirror-group.ts';
import { withoutWorker } from '../mirror/without-worker.ts';
import { counted, seedFor } from '../status-home/finished-work.ts';
import { atRest, cannotStart, dispatched, quotaReserved, started } from '../status-home/own-conditions.ts';
import { isWaitingToStart } from '../status-home/start-troubles.ts';
import { failedStatus, hasVerdict, toLocalStatus, withTerminal } from '../status-home/to-local-status.ts';
import { carriedTo } from './carried-objects.ts';
import { deletions, type MirrorPlan, NOTHING, type RemoteAction, writeHome } from './mirror-plan.ts';
import { wantedCopy } from './wanted-copy.ts';

/** Rule 5 of {@link decideMirror}. */
export function decidePresentCopy(
  group: MirrorGroup,
  local: DeepReadonly<Job>,
  record: AdmissionRecord,
  copy: Copy,
  nowMs: number,
): MirrorPlan {
  if (isMismade(group, record, copy)) return { remote: deletions([copy]), home: NOTHING };
  const { cluster } = copy;
  const view = group.clusters.get(cluster);
  const isResting = rests(group, local, record, copy);
  const told = statusByCopy(copy.job, local);
  const ended = isResting && isJudgedAtRest(copy.job) ? withTerminal(told, nowMs) : told;
  const remote = isResting ? counted(ended, local.spec) : ended;
  const trouble = (view?.problem ?? view?.trouble)?.message ?? (isWaitingToStart(copy.job) ? view?.waiting : undefined);
  const detail = lossMessage(group) ?? withoutWorker(view, copy) ?? trouble ?? unfencedBecause(group, record, copy.cluster);
  const own = [...quotaReserved(local, record), isResting ? atRest(record) : dispatched(record, detail), ...started(local, record, remote)];
  const hasEnded = isResting && record.fail !== undefined;
  const status = hasEnded
    ? failedStatus(local, remote, record.fail, [...own, ...cannotStart(record.fail)], nowMs)
    : toLocalStatus({ local, remote, own, nowMs });
  const home = writeHome(local, status, copy);
  if (copy.deleting) return { remote: [], home };
  // No worker is there to report that the copy rests. Once the copy is deleted, the absence of its pods is the proof.
  if (local.spec.suspend === true && view?.withoutWorker !== undefined && !isResting && isUnbegun(copy.job))
    return { remote: [{ kind: 'Delete', cluster, copy: copy.job, propagationPolicy: 'Background', confirm: undefined }], home };
  if (local.spec.suspend === true && isResumeUnseen(copy.job))
    return { remote: [{ kind: 'TakeBackSuspended', cluster, copy: copy.job }], home };
  // Its finished work is at home, and the WorkerCluster is being deleted.
  if (view?.leaving === true && isResting && isProvenAtRest(local.status, record)) return { remote: deletions([copy]), home };
  const wanted = wantedCopy(group, local, record);
  const runs = local.spec.suspend !== true && !('reason' in wanted);
  const update = (spec: Record<string, unknown>, annotations?: Record<string, string | null>): RemoteAction => ({
    kind: 'Update',
    cluster,
    copy: copy.job,
    spec,
    ...omitUndefined({ annotations: spec['suspend'] === false ? { ...annotations, ...resumption(copy.job) } : annotations }),
  });
  // A copy with a verdict is not changed: it only has to finish, for which it must not be suspended.
  if (hasVerdict(copy.job.status))
    return { remote: runs && copy.job.spec.suspend === true && !isFinished(copy.job.status) ? [update({ suspend: false })] : [], home };
  const carry = runs && isCarryPending(copy.job) ? carriedTo(group, local, record, cluster) : undefined;
  if (carry !== undefined) return { remote: [{ kind: 'Carry', cluster, copy: copy.job, carry }], home };
  const seed = runs ? seedFor(copy.job, local) : undefined;
  const spec = 'reason' in wanted ? suspension(copy.job, local) : specChange(copy.job, wanted, !runs || seed !== undefined);
  // The API server is too old for such changes: the resting copy is deleted, and created again with the present template.
  if (view?.problem !== undefined && changesTemplate(spec) && isAtRest(copy.job)) return { remote: deletions([copy]), home };
  const annotations = 'reason' in wanted ? undefined : changedMarks(copy.job, wanted);
  if (spec !== undefined || annotations !== undefined) return { remote: [update(spec ?? {}, annotations)], home };
  return { remote: seed === undefined ? [] : [{ kind: 'Seed', cluster, copy: copy.job, status: seed }], home };
}

/** The copy is not what was sent: an API server has dropped fields, or another Job controller runs the copies there now. */
const isMismade = (group: MirrorGroup, { epoch }: AdmissionRecord, { cluster, job }: Copy): boolean => {
  const { problem, jobController } = group.clusters.get(cluster) ?? {};
  return hasOtherController(job, jobController) || (problem?.reason === DispatchedReason.FieldsDropped && isRefusalOf(epoch, problem));
};

/** Job and copy are suspended, and the copy rests with certainty. */
const rests = (group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord, { cluster, job }: Copy): boolean =>
  local.spec.suspend === true && job.spec.suspend === true && isAtRest(job) && isCertain(group.clusters.get(cluster), record);

/** The only change of a copy whose original may not run in its present form. */
const suspension = (copy: DeepReadonly<Job>, local: DeepReadonly<Job>): Record<string, unknown> | undefined =>
  local.spec.suspend === true && copy.spec.suspend !== true ? { suspend: true } : undefined;

/** What a Job that asks for a fence reports when it has none. */
const unfencedBecause = (group: MirrorGroup, record: AdmissionRecord, cluster: string): string | undefined =>
  group.clusters.get(cluster)?.builtIn === true && record.unfenced !== true
    ? 'not fenced: the built-in Job controller runs it there, and goes on when the manager is out of reach'
    : undefined;
