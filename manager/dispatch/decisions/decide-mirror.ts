import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { copyIdentity, copyName } from '../../work-kind/copy-marks.ts';
import { fencedOffAfterMs, fencedOffStatus, isBlocking } from '../mirror/lost-place.ts';
import {
  type Copy,
  hasOpenWrites,
  isCurrent,
  isOf,
  isOnChanged,
  isReady,
  type MirrorGroup,
  troubleOfDoubt,
} from '../mirror/mirror-group.ts';
import { unclearPlaces } from '../mirror/missing-copy.ts';
import { notDispatched } from '../status-home/own-conditions.ts';
import { decideDeletion } from './decide-deletion.ts';
import { decideMissingCopy } from './decide-missing-copy.ts';
import { decidePresentCopy } from './decide-present-copy.ts';
import { decideUnrecorded } from './decide-unrecorded.ts';
import { deletions, type MirrorPlan, NOTHING, release, type RemoteAction, troubleOn, writeHome } from './mirror-plan.ts';
import { retainedCopies } from './retained-copies.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';

/**
 * Decides what a Job and its copies need. At most one copy runs, and it is the one that the admission record names. The record is written
 * before a copy exists, and no report of a worker cluster outweighs it. Only objects with the origin label of this manager and the UID of
 * the Job are touched. In order:
 *
 *  1. The Job does not exist, or has another controller: its copies are orphans and are deleted.
 *  2. The Job has finished (its final status is at home), or is being deleted: its copies are deleted, those of a finished Job perhaps
 *     after a while. A Job that is being deleted keeps the finalizer until the recorded cluster has shown that it has no copy, or is lost
 *     and the Job is fenced off; the same goes for every other cluster with a copy.
 *  3. The Job was never admitted: no copy runs anywhere. When its record is lost, every cluster is checked before the Job counts as never
 *     admitted.
 *  4. Copies of an earlier Job of this name, of an earlier placement or on another cluster are deleted; copies of a later placement once
 *     their absence from the record is confirmed. Those of this very Job must be gone with their pods, or rest, before a copy is created or
 *     resumed. The copy of another Job has some time to go from the cluster where its name is needed, and then counts as a Job of a user.
 *     No copy is created or resumed either while the manager cluster was restored from a backup and some cluster has not shown its copies
 *     since.
 *  5. The copy exists. A copy that its cluster did not create as sent is deleted, and its placement ends. Any other copy follows the
 *     original (suspended in place when evicted, resumed in place), but never beyond the record, and its status is written home. It is not
 *     resumed before it shows all the finished work that home shows. At rest it ends if admission has decided so.
 *  6. The recorded cluster is unknown, or the WorkerCluster of its name is another cluster: the Job reports it.
 *  7. The recorded cluster is not ready: while it may have the copy, the status stays; else the Job reports that the cluster cannot be
 *     reached. Whatever follows from a copy that is not listed waits until its name was read there (`isToBeLookedUp`).
 *  8. The copy is gone, but its verdict is at home: the verdict is carried out.
 *  9. The copy is missing from the cluster that had it: it is lost, and for a while its pods may still be terminating.
 * 10. The Job is suspended: no copy is created. Once that no copy exists is certain, the Job reports that it rests, or ends if admission
 *     has decided so.
 * 11. The cluster has refused this placement for good: the Job reports it, and admission moves the Job.
 * 12. The copy is created, suspended where some work is finished already; or the Job reports why it cannot be created.
 */
export function decideMirror(group: MirrorGroup, nowMs: number): MirrorPlan {
  const plan = decide(group, nowMs);
  return { ...plan, remote: plan.remote.filter(({ cluster }) => isReady(group, cluster)) };
}

function decide(group: MirrorGroup, nowMs: number): MirrorPlan {
  const plan = decideOnKnown(group, nowMs);
  return { ...plan, ...withUnclearPlaces(group, plan) };
}

/**
 * For a suspended or deleted Job, clusters with unanswered writes are read; so is the recorded cluster when the copy is missing. Until then
 * the Job must not count as resting, moved or gone.
 */
function withUnclearPlaces(group: MirrorGroup, plan: MirrorPlan): Pick<MirrorPlan, 'remote' | 'againAfterMs'> {
  const { local } = group;
  const { remote, againAfterMs = Number.POSITIVE_INFINITY } = plan;
  if (local === undefined || isFinished(local.status)) return plan;
  const { looks, waitsMs } = unclearPlaces(group, local);
  const actions = looks.map(([cluster, view]): RemoteAction => ({ kind: 'Look', cluster, name: copyName(local, view.local) }));
  const againMs = Math.min(againAfterMs, fencedOffAfterMs(group) ?? againAfterMs, ...waitsMs);
  return { remote: [...remote, ...actions], ...(Number.isFinite(againMs) ? { againAfterMs: againMs } : {}) };
}

function decideOnKnown(group: MirrorGroup, nowMs: number): MirrorPlan {
  const { kind, local } = group;
  const copies = group.copies.filter(({ job }) => copyIdentity(job) !== undefined);
  if (local === undefined || kind.controllerOf(local) !== MANAGER_CONTROLLER_NAME) return remove(kind, copies, local === undefined); // 1
  if (isFinished(local.status)) {
    const stay = retainedCopies(group, local, copies, nowMs);
    const gone = deletions(
      kind,
      copies.filter((copy) => !stay.copies.has(copy)),
    );
    return { remote: gone, home: release(local), ...omitUndefined({ againAfterMs: stay.againAfterMs }) }; // 2
  }
  if (local.metadata.deletionTimestamp !== undefined) return decideDeletion(group, local, copies, nowMs); // 2
  if (group.record.kind !== 'Record') return decideUnrecorded(group, local, copies, nowMs); // 3
  const { record } = group.record;
  const current = copies.find((copy) => isCurrent(group, copy, local, record));
  const later = copies.filter((copy) => isLater(copy, local, record)); // 4
  const stale = copies.filter((copy) => copy !== current && !later.includes(copy) && !isOnChanged(group, copy, local, record)); // 4
  const staleCopies = [...deletions(kind, stale), ...deletions(kind, later, 'Older')];
  const fenced = fencedOffStatus(group, local, record, nowMs);
  if (fenced !== undefined) return { remote: staleCopies, home: fenced === 'Said' ? NOTHING : writeHome(kind, local, fenced) };
  const plan =
    current === undefined ? decideMissingCopy(group, local, record, nowMs) : decidePresentCopy(group, local, record, current, nowMs); // 5, or 6 to 12
  const inTheWay = stale.some((copy) => isOf(copy.job, local) && isBlocking(group, copy, record));
  const blocked = inTheWay || later.length > 0 || hasOpenWrites(group) || group.homeRestored !== undefined;
  const others = plan.remote.filter((action) => !startsCopy(action) || !blocked);
  if (blocked && others.length < plan.remote.length) {
    const trouble = group.homeRestored ?? troubleOn(group, stale) ?? troubleOfDoubt(group);
    if (trouble !== undefined) {
      const home = writeHome(kind, local, kind.home.of({ local, remote: local.status, own: [notDispatched(trouble)], nowMs }));
      return { ...plan, home, remote: [...staleCopies, ...others] };
    }
  }
  // A copy that cannot be deleted must not keep the cluster from reporting that the name is taken.
  return { ...plan, remote: plan.nameHeld === true ? [...others, ...staleCopies] : [...staleCopies, ...others] };
}

const startsCopy = (action: RemoteAction): boolean =>
  action.kind === 'Create' || action.kind === 'Carry' || (action.kind === 'Update' && action.resumes);

const remove = (kind: SingleKind, copies: readonly Copy[], confirmGone: boolean): MirrorPlan => ({
  remote: deletions(kind, copies, confirmGone ? 'Gone' : undefined),
  home: NOTHING,
});

/** A copy of a placement later than the record: the cache may be stale, or the API server may have an older record, as after a restore. */
const isLater = ({ job }: Copy, local: DeepReadonly<WorkObject>, record: AdmissionRecord): boolean =>
  isOf(job, local) && (copyIdentity(job)?.epoch ?? 0) > record.epoch;
