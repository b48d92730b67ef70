import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isDispatched } from '../../api/dispatch-proof.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { type DispatchProblem, isRefusalOf, refusalOf } from '../../api/refusals.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { carryPending } from '../companions/carry-mark.ts';
import { isLossYoung, lossMessage, unreadable } from '../mirror/lost-place.ts';
import { absence, isCertain, isNameHeld, isUntouched, type MirrorGroup, placeOf, viewOfPlace } from '../mirror/mirror-group.ts';
import { isToBeLookedUp, lostDelayMs, remainingLostDelayMs, unclearCopy } from '../mirror/missing-copy.ts';
import { atRest, cannotStart, dispatched, notDispatched } from '../status-home/own-conditions.ts';
import type { OwnCondition } from '../../work-kind/work-kind.ts';
import { carriedTo } from './carried-objects.ts';
import { type HomeAction, type MirrorPlan, NOTHING, type RemoteAction, writeHome } from './mirror-plan.ts';
import { wantedCopy } from './wanted-copy.ts';

/** How long the copy of another Job may keep the name that a Job needs. */
export const NAME_PATIENCE_MS = 30_000;

/** Rules 6 to 12 of {@link decideMirror}. */
export function decideMissingCopy(group: MirrorGroup, local: DeepReadonly<WorkObject>, record: AdmissionRecord, nowMs: number): MirrorPlan {
  const { kind } = group;
  const cluster = viewOfPlace(group);
  const nothingRuns = (own: readonly OwnCondition[]): HomeAction =>
    writeHome(kind, local, kind.home.of({ local, remote: cluster?.contact === 'Ready' ? undefined : local.status, own, nowMs }));
  const waits = (problem: DispatchProblem, againAfterMs?: number): MirrorPlan => ({
    remote: [],
    home: nothingRuns([notDispatched(problem)]),
    ...omitUndefined({ againAfterMs }),
  });
  const isResting = (): HomeAction =>
    record.fail === undefined
      ? nothingRuns([atRest(record)])
      : writeHome(kind, local, kind.home.failed(local, local.status, record.fail, [atRest(record), ...cannotStart(record.fail)], nowMs));
  if (kind.isSuspended(local) && isProvenAtRest(local.status, record))
    return { remote: [], home: record.fail === undefined ? NOTHING : isResting() };
  if (kind.isSuspended(local) && isUntouched(cluster, record)) return { remote: [], home: isResting() }; // 10
  if (cluster === undefined) return waits(absence(group, record)); // 6
  const name = placeOf(group) ?? record.cluster;
  const wasThere = isDispatched(local.status, record);
  // No write was ever sent there for this placement, so that none of it can run.
  if (cluster.contact === 'Unreadable' && isUntouched(cluster, record))
    return waits(refusalOf(record.epoch, { reason: DispatchedReason.Refused, message: unreadable(group) })); // 11
  if (cluster.contact !== 'Ready') {
    const loss = lossMessage(group);
    // A copy that was there may still run: the status stays until the cluster answers again.
    const message =
      cluster.contact === 'NotServed'
        ? `cluster "${name}" does not serve namespace "${local.metadata.namespace}" (servedNamespaces of its WorkerCluster)`
        : cluster.contact === 'Unreadable'
          ? unreadable(group)
          : `cluster "${name}" cannot be reached${loss === undefined ? '' : `: ${loss}`}`;
    // The last status stays, with the consequence of the loss added.
    if (wasThere && loss !== undefined)
      return {
        remote: [],
        home: writeHome(kind, local, kind.home.of({ local, remote: local.status, own: [dispatched(record, loss)], nowMs })),
      };
    return wasThere || cluster.contact === 'Connecting' || isLossYoung(group)
      ? { remote: [], home: { kind: 'None' } }
      : waits({ reason: DispatchedReason.ClusterUnreachable, message }); // 7
  }
  if (isToBeLookedUp(group, local, record)) {
    const problem = cluster.problem ?? cluster.trouble;
    if (problem === undefined || isRefusalOf(record.epoch, problem)) return { remote: [], home: NOTHING };
    const own = [unclearCopy(local, record, problem)];
    return { remote: [], home: writeHome(kind, local, kind.home.of({ local, remote: local.status, own, nowMs })) };
  }
  if (kind.home.hasVerdict(local)) return { remote: [], home: writeHome(kind, local, kind.home.carryOutVerdict(local, nowMs)) }; // 8
  const lost = { reason: DispatchedReason.CopyLost, message: `the copy on cluster "${name}" vanished before it had finished` };
  if (wasThere) return waits(lost, lostDelayMs(kind, local)); // 9
  const waitMs = remainingLostDelayMs(kind, local, nowMs);
  if (waitMs > 0) return waits(lost, waitMs); // 9
  if (kind.isSuspended(local)) return { remote: [], home: isCertain(cluster, record) ? isResting() : NOTHING }; // 10
  const nameHeld = isNameHeld(group, local);
  const told = findCondition(local.status?.conditions, SwitchyardCondition.Dispatched);
  if (told?.status === 'False' && isRefusalOf(record.epoch, told)) return { remote: [], home: NOTHING, nameHeld }; // 11
  if (cluster.problem !== undefined && isRefusalOf(record.epoch, cluster.problem)) return { ...waits(cluster.problem), nameHeld }; // 11
  const patienceMs = (group.nameHeldSinceMs ?? nowMs) + NAME_PATIENCE_MS - nowMs; // 4
  if (nameHeld && patienceMs > 0) {
    const message = `cluster "${name}" still has the copy of another Job of this name`;
    return { ...waits({ reason: DispatchedReason.NameTaken, message }, patienceMs), nameHeld };
  }
  const job = wantedCopy(group, local, record); // 12
  if ('reason' in job) return { ...waits(job), nameHeld };
  const create = creation(group, local, record, name, job);
  const problem = cluster.problem ?? cluster.trouble;
  const home = problem === undefined ? NOTHING : nothingRuns([notDispatched(problem)]);
  return { remote: [create], home, nameHeld };
}

/** A copy that takes finished work or objects along is created suspended, and resumed once it has them. */
function creation(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
  cluster: string,
  job: Unsaved<WorkObject>,
): RemoteAction {
  const { kind } = group;
  const carry = carriedTo(group, local, record, cluster);
  if (carry !== undefined) return { kind: 'Create', cluster, job: carryPending(kind.copies.suspended(job)), carry };
  return { kind: 'Create', cluster, job: kind.home.hasFinishedWork(local) ? kind.copies.suspended(job) : job };
}
