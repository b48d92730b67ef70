import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { copyIdentity } from '../copy/copy-marks.ts';
import { copyName } from '../copy/remote-job.ts';
import { fencedOffStatus, isInTheWay, lossChangesAfterMs } from '../mirror/lost-place.ts';
import { type Copy, hasOpenWrites, isCurrent, isOf, isOnChanged, isReady, type MirrorGroup } from '../mirror/mirror-group.ts';
import { unclearPlaces } from '../mirror/missing-copy.ts';
import { notDispatched } from '../status-home/own-conditions.ts';
import { toLocalStatus } from '../status-home/to-local-status.ts';
import { decideDeletion } from './decide-deletion.ts';
import { decideMissingCopy } from './decide-missing-copy.ts';
import { decidePresentCopy } from './decide-present-copy.ts';
import { decideUnrecorded } from './decide-unrecorded.ts';
import { deletions, type MirrorPlan, NOTHING, release, type RemoteAction, troubleOn, writeHome } from './mirror-plan.ts';
import { retainedCopies } from './retained-copies.ts';

/**
 * Decides what a Job and its copies need. At most one copy runs, and it is the one that the admission record names: the record is
 * written before a copy exists, and nothing that a worker cluster says outweighs it. Only objects that carry our origin label and the
 * UID of the Job are touched. In order:
 *
 *  1. No such Job, or it is not the manager's: its copies are orphans and go.
 *  2. The Job has finished (its final status is home), or is being deleted: its copies go, those of a finished one perhaps after a while. One that is being deleted stays, with our
 *     finalizer, until the recorded cluster has shown that there is none, or is lost and fenced off, and so has every other that shows one.
 *  3. It was never admitted: nothing runs anywhere. Where its record is lost, all clusters are asked before it counts as such.
 *  4. Copies of an earlier Job of this name, of an earlier placement or on another cluster go, and those of a later placement once it is confirmed
 *     that there is none. Those of this very Job are gone with their pods, or at rest, before one is made or resumed; that of another has some
 *     time to go from the cluster where its name is needed, and then counts as somebody else's Job. Nor is one made or resumed while the manager
 *     cluster was restored from a backup, and some cluster has not shown since what runs there.
 *  5. The copy is there. One that its cluster has not made as it was sent goes, and its placement ends. Any other follows the original (suspended
 *     in place when evicted, resumed in place), but never beyond what the record holds, and its status goes home. It is not resumed before it shows
 *     all the finished work that home shows. At rest it ends if admission has so decided.
 *  6. The recorded cluster is unknown, or the WorkerCluster of its name leads to another: the Job says so.
 *  7. It is not ready: while it may have the copy nothing new is said; else the Job says that it cannot be reached.
 *     Whatever follows from a copy that is not listed waits until its name was looked up there (`isToBeLookedUp`).
 *  8. The copy is gone, but its verdict is home: the verdict is carried out.
 *  9. The copy is missing from a cluster on which it was: it is lost, and for a while its pods may still be stopping.
 * 10. The Job is suspended: there is nothing to make, and once that is certain, it says so, or ends if admission has so decided.
 * 11. The cluster has refused this placement for good: the Job says so, and admission takes it elsewhere.
 * 12. The copy is made, suspended where work of it is finished already, or the Job says why it cannot be made.
 */
export function decideMirror(group: MirrorGroup, nowMs: number): MirrorPlan {
  const plan = decide(group, nowMs);
  return { ...plan, remote: plan.remote.filter(({ cluster }) => isReady(group, cluster)) };
}

function decide(group: MirrorGroup, nowMs: number): MirrorPlan {
  const plan = decideOnKnown(group, nowMs);
  return { ...plan, ...withUnclearPlaces(group, plan) };
}

/** Doubts are settled for a Job that is not to run where they are open, or whose copy is missing: until then nobody may take it for resting, moved or gone. */
function withUnclearPlaces(group: MirrorGroup, plan: MirrorPlan): Pick<MirrorPlan, 'remote' | 'againAfterMs'> {
  const { local } = group;
  const { remote, againAfterMs = Number.POSITIVE_INFINITY } = plan;
  if (local === undefined || isFinished(local.status)) return plan;
  const { looks, waitsMs } = unclearPlaces(group, local);
  const actions = looks.map(([cluster, view]): RemoteAction => ({ kind: 'Look', cluster, name: copyName(local, view.local) }));
  const againMs = Math.min(againAfterMs, lossChangesAfterMs(group) ?? againAfterMs, ...waitsMs);
  return { remote: [...remote, ...actions], ...(Number.isFinite(againMs) ? { againAfterMs: againMs } : {}) };
}

function decideOnKnown(group: MirrorGroup, nowMs: number): MirrorPlan {
  const { local } = group;
  const copies = group.copies.filter(({ job }) => copyIdentity(job) !== undefined);
  if (local === undefined || local.spec.managedBy !== MANAGER_CONTROLLER_NAME) return remove(copies, local === undefined); // 1
  if (isFinished(local.status)) {
    const stay = retainedCopies(group, local, copies, nowMs);
    const gone = deletions(copies.filter((copy) => !stay.copies.has(copy)));
    return { remote: gone, home: release(local), ...omitUndefined({ againAfterMs: stay.againAfterMs }) }; // 2
  }
  if (local.metadata.deletionTimestamp !== undefined) return decideDeletion(group, local, copies, nowMs); // 2
  if (group.record.kind !== 'Record') return decideUnrecorded(group, local, copies, nowMs); // 3
  const { record } = group.record;
  const current = copies.find((copy) => isCurrent(group, copy, local, record));
  const later = copies.filter((copy) => isLater(copy, local, record)); // 4
  const stale = copies.filter((copy) => copy !== current && !later.includes(copy) && !isOnChanged(group, copy, local, record)); // 4
  const staleCopies = [...deletions(stale), ...deletions(later, 'Older')];
  const fenced = fencedOffStatus(group, local, record, nowMs);
  if (fenced !== undefined) return { remote: staleCopies, home: fenced === 'Said' ? NOTHING : writeHome(local, fenced) };
  const plan =
    current === undefined ? decideMissingCopy(group, local, record, nowMs) : decidePresentCopy(group, local, record, current, nowMs); // 5, or 6 to 12
  const inTheWay = stale.some((copy) => isOf(copy.job, local) && isInTheWay(group, copy, record));
  const blocked = inTheWay || later.length > 0 || hasOpenWrites(group) || group.homeRestored !== undefined;
  const others = plan.remote.filter((action) => !startsCopy(action) || !blocked);
  if (blocked && others.length < plan.remote.length) {
    const trouble = group.homeRestored ?? troubleOn(group, stale);
    if (trouble !== undefined) {
      const home = writeHome(local, toLocalStatus({ local, remote: local.status, own: [notDispatched(trouble)], nowMs }));
      return { ...plan, home, remote: [...staleCopies, ...others] };
    }
  }
  // What cannot be deleted must not keep the cluster from saying that the name is taken.
  return { ...plan, remote: plan.nameHeld === true ? [...others, ...staleCopies] : [...staleCopies, ...others] };
}

const startsCopy = (action: RemoteAction): boolean =>
  action.kind === 'Create' || (action.kind === 'Update' && action.spec['suspend'] === false);

const remove = (copies: readonly Copy[], confirmGone: boolean): MirrorPlan => ({
  remote: deletions(copies, confirmGone ? 'Gone' : undefined),
  home: NOTHING,
});

/** A copy of a placement that our cache does not know: it may be late, or the record on the API server is older than it was. */
const isLater = ({ job }: Copy, local: DeepReadonly<Job>, record: AdmissionRecord): boolean =>
  isOf(job, local) && (copyIdentity(job)?.epoch ?? 0) > record.epoch;
