import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { fencedOff, isStopped, lossMessage } from '../mirror/lost-place.ts';
import {
  absence,
  type Copy,
  isCurrent,
  isEmptyForSure,
  isFencedOff,
  isHeld,
  isOf,
  isReady,
  type MirrorGroup,
  recordIn,
  unseenPlaces,
  viewOfPlace,
} from '../mirror/mirror-group.ts';
import { isToBeLookedUp } from '../mirror/missing-copy.ts';
import { withoutWorker } from '../mirror/without-worker.ts';
import { mergePatchBetween } from '../../api/json-diff.ts';
import { atRest } from '../status-home/own-conditions.ts';
import type { OwnCondition, SingleKind } from '../../work-kind/work-kind.ts';
import {
  deletions,
  type HomeAction,
  howToGiveUp,
  listed,
  type MirrorPlan,
  NOTHING,
  otherFinalizers,
  troubleOn,
  writeHome,
} from './mirror-plan.ts';

/** Rule 2 of {@link decideMirror} for a Job that is being deleted. */
export function decideDeletion(group: MirrorGroup, local: DeepReadonly<WorkObject>, copies: readonly Copy[], nowMs: number): MirrorPlan {
  const { kind } = group;
  const remote = deletions(kind, copies);
  if (!isHeld(local)) return { remote, home: NOTHING };
  const record = recordIn(group.record);
  const open = copies.filter((copy) => record === undefined || !isStopped(group, copy, record));
  const current = record && open.find((copy) => isCurrent(group, copy, local, record));
  // The status of a terminating copy is written home, and its verdict counts.
  if (record !== undefined && current !== undefined)
    return {
      remote,
      home: writeHome(
        kind,
        local,
        kind.home.of({ local, remote: kind.copies.believed(current.job, local), own: ownOf(group, current, local), nowMs }),
      ),
    };
  const shown = open.filter(({ job }) => isOf(job, local)).map(({ cluster }) => cluster);
  // A resting copy may outlast its WorkerCluster.
  const isLeft = record !== undefined && viewOfPlace(group) === undefined && isProvenAtRest(local.status, record);
  const places = isLeft ? [] : unseenPlaces(group, record);
  const unseen = [...new Set([...shown.filter((cluster) => !isReady(group, cluster)), ...places])];
  const isMissing = record !== undefined && isToBeLookedUp(group, local, record);
  if (shown.length === 0 && unseen.length === 0 && isEmptyForSure(group, record) && !isMissing)
    return { remote, home: releaseAtRest(group, local, record, nowMs) };
  if (unseen.length === 0) {
    const trouble = troubleOn(group, copies);
    return { remote, home: trouble === undefined ? NOTHING : stillDeleting(kind, local, trouble, nowMs) };
  }
  const reason =
    record !== undefined && viewOfPlace(group) === undefined ? absence(group, record).reason : DispatchedReason.ClusterUnreachable;
  const loss = lossMessage(group);
  const message =
    `deleted, but what runs of it on cluster ${listed(unseen)} cannot be seen: it holds its quota until the cluster is ` +
    `back${loss === undefined ? '' : `, or nothing can run there any more (${loss})`}. ${howToGiveUp(local)}`;
  return { remote, home: stillDeleting(kind, local, { reason, message }, nowMs) };
}

function stillDeleting(kind: SingleKind, local: DeepReadonly<WorkObject>, problem: DispatchProblem, nowMs: number): HomeAction {
  const present = findCondition(local.status?.conditions, SwitchyardCondition.Dispatched);
  const own: OwnCondition = { type: SwitchyardCondition.Dispatched, status: present?.status === 'True' ? 'True' : 'False', ...problem };
  return writeHome(kind, local, kind.home.of({ local, remote: local.status, own: [own], nowMs }));
}

/** The condition of a Job whose copy is being deleted and does not go. */
function ownOf({ kind, clusters }: MirrorGroup, copy: Copy, local: DeepReadonly<WorkObject>): OwnCondition[] {
  const view = clusters.get(copy.cluster);
  const absence = withoutWorker(kind, view, copy);
  const trouble = view?.trouble ?? (absence === undefined ? undefined : { reason: DispatchedReason.WorkerAbsent, message: absence });
  return trouble === undefined || local.status === undefined ? [] : [{ type: SwitchyardCondition.Dispatched, status: 'True', ...trouble }];
}

function releaseAtRest(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord | undefined,
  nowMs: number,
): HomeAction {
  const { kind } = group;
  const finalizers = otherFinalizers(local);
  const own = record === undefined ? [] : [isFencedOff(group) ? fencedOff(record) : atRest(record)];
  const patch = mergePatchBetween(local.status ?? {}, kind.home.of({ local, remote: undefined, own, nowMs }));
  const isKept = finalizers.length > 0 && typeof patch === 'object' && patch !== null;
  return { kind: 'Release', finalizers, ...(isKept ? { patch: { ...patch } } : {}) };
}
