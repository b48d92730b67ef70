import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import { isProvenNowhere, nowhereMessage } from '../../api/rest-proof.ts';
import { claimsCopy, type Copy, isEmptyForSure, isHeld, isOf, type MirrorGroup, recordIn, unseenPlaces } from '../mirror/mirror-group.ts';
import { isToBeSuspended } from '../mirror/in-place.ts';
import { notDispatched } from '../status-home/own-conditions.ts';
import { deletions, howToGiveUp, listed, type MirrorPlan, NOTHING, type RemoteAction, withoutFence, writeHome } from './mirror-plan.ts';

/** Rule 3 of {@link decideMirror}: only admission may start a Job. A copy without a record is suspended in place, and kept. */
export function decideUnrecorded(group: MirrorGroup, local: DeepReadonly<WorkObject>, copies: readonly Copy[], nowMs: number): MirrorPlan {
  const { kind, record } = group;
  const running = copies.filter(({ job, deleting }) => !deleting && isOf(job, local) && isToBeSuspended(kind, job));
  const suspensions: RemoteAction[] = running.map(({ cluster, job }) => ({
    kind: 'Update',
    cluster,
    copy: job,
    spec: kind.suspension(true),
    resumes: false,
    ...omitUndefined({ annotations: withoutFence(kind, job) }),
  }));
  const unseenResumes = copies.filter(({ job, deleting }) => !deleting && isOf(job, local) && kind.copies.isResumeUnseen(job));
  const unsettled = unseenResumes.map(({ cluster, job }): RemoteAction => ({ kind: 'TakeBackSuspended', cluster, copy: job }));
  const remote = [
    ...deletions(
      kind,
      copies.filter(({ job }) => !isOf(job, local)),
    ),
    ...unsettled,
    ...suspensions,
  ];
  // Where one copy may run and another rests, the status is that of the former.
  const kept = running[0] ?? copies.find(({ job }) => isOf(job, local));
  const problem = record.kind === 'Forged' || record.kind === 'Invalid' ? record.problem : undefined;
  // The Job was admitted once, and its record is lost. It may be admitted again only when every cluster has shown that no copy runs there.
  const last = recordIn(record);
  const lost = last === undefined && isHeld(local);
  if (kept === undefined && problem === undefined && !lost && !claimsCopy(kind, local)) return { remote, home: NOTHING };
  if (lost && running.length === 0 && isProvenNowhere(local)) return { remote, home: NOTHING };
  const own = copies.filter(({ job }) => isOf(job, local));
  const unseen = unseenPlaces(group, last);
  // While a cluster that may have a copy is out of sight, the Job must not count as resting.
  const hidden = kept === undefined && (unseen.length > 0 || !isEmptyForSure(group, last));
  if (hidden && !lost && claimsCopy(kind, local)) return { remote, home: NOTHING };
  const isNowhere =
    lost &&
    kind.isSuspended(local) &&
    unseen.length === 0 &&
    isEmptyForSure(group, undefined) &&
    own.every(({ job, deleting }) => kind.copies.isAtRest(job) && !deleting);
  const why = problem ?? 'the Job has no admission record';
  const outOfSight =
    lost && unseen.length > 0 ? `; what runs of it on cluster ${listed(unseen)} cannot be seen. ${howToGiveUp(local)}` : '';
  const said = isNowhere
    ? { reason: DispatchedReason.AtRest, message: nowhereMessage(local.metadata.generation) }
    : { reason: DispatchedReason.NotAdmitted, message: `${why}${outOfSight}` };
  const told = kept === undefined ? (hidden ? local.status : undefined) : kind.copies.believed(kept.job, local);
  return { remote, home: writeHome(kind, local, kind.home.of({ local, remote: told, own: [notDispatched(said)], nowMs })) };
}
