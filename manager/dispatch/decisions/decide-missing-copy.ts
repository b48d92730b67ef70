import type { DeepReadonly, Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isDispatched } from '../../api/dispatch-proof.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { type DispatchProblem, isRefusalOf } from '../../api/refusals.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { carryPending } from '../copy/carry-mark.ts';
import { isLossYoung, lossMessage } from '../mirror/lost-place.ts';
import { absence, isCertain, isNameHeld, isUntouched, type MirrorGroup, placeOf, viewOfPlace } from '../mirror/mirror-group.ts';
import { isToBeLookedUp, lostDelayMs, remainingLostDelayMs, unclearCopy } from '../mirror/missing-copy.ts';
import { hasFinishedWork } from '../status-home/finished-work.ts';
import { atRest, cannotStart, dispatched, notDispatched } from '../status-home/own-conditions.ts';
import { carryOutVerdict, failedStatus, hasVerdict, type OwnCondition, toLocalStatus } from '../status-home/to-local-status.ts';
import { carriedTo } from './carried-objects.ts';
import { type HomeAction, type MirrorPlan, NOTHING, type RemoteAction, writeHome } from './mirror-plan.ts';
import { wantedCopy } from './wanted-copy.ts';

/** How long the copy of another Job may keep the name that a Job needs. */
export const NAME_PATIENCE_MS = 30_000;

/** Rules 6 to 12 of {@link decideMirror}. */
export function decideMissingCopy(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord, nowMs: number): MirrorPlan {
  const cluster = viewOfPlace(group);
  const nothingRuns = (own: readonly OwnCondition[]): HomeAction =>
    writeHome(local, toLocalStatus({ local, remote: cluster?.contact === 'Ready' ? undefined : local.status, own, nowMs }));
  const waits = (problem: DispatchProblem, againAfterMs?: number): MirrorPlan => ({
    remote: [],
    home: nothingRuns([notDispatched(problem)]),
    ...omitUndefined({ againAfterMs }),
  });
  const isResting = (): HomeAction =>
    record.fail === undefined
      ? nothingRuns([atRest(record)])
      : writeHome(local, failedStatus(local, local.status, record.fail, [atRest(record), ...cannotStart(record.fail)], nowMs));
  if (local.spec.suspend === true && isProvenAtRest(local.status, record))
    return { remote: [], home: record.fail === undefined ? NOTHING : isResting() };
  if (local.spec.suspend === true && isUntouched(cluster, record)) return { remote: [], home: isResting() }; // 10
  if (cluster === undefined) return waits(absence(group, record)); // 6
  const name = placeOf(group) ?? record.cluster;
  const wasThere = isDispatched(local.status, record);
  if (cluster.contact !== 'Ready') {
    const loss = lossMessage(group);
    // A copy that was there may still run: the status stays until the cluster answers again.
    const message =
      cluster.contact === 'NotServed'
        ? `cluster "${name}" does not serve namespace "${local.metadata.namespace}" (servedNamespaces of its WorkerCluster)`
        : `cluster "${name}" cannot be reached${loss === undefined ? '' : `: ${loss}`}`;
    // The last status stays, with the consequence of the loss added.
    if (wasThere && loss !== undefined)
      return {
        remote: [],
        home: writeHome(local, toLocalStatus({ local, remote: local.status, own: [dispatched(record, loss)], nowMs })),
      };
    return wasThere || cluster.contact === 'Connecting' || isLossYoung(group)
      ? { remote: [], home: { kind: 'None' } }
      : waits({ reason: DispatchedReason.ClusterUnreachable, message }); // 7
  }
  if (isToBeLookedUp(group, local, record)) {
    const problem = cluster.problem ?? cluster.trouble;
    if (problem === undefined || isRefusalOf(record.epoch, problem)) return { remote: [], home: NOTHING };
    const own = [unclearCopy(local, record, problem)];
    return { remote: [], home: writeHome(local, toLocalStatus({ local, remote: local.status, own, nowMs })) };
  }
  if (hasVerdict(local.status)) return { remote: [], home: writeHome(local, carryOutVerdict(local, nowMs)) }; // 8
  const lost = { reason: DispatchedReason.CopyLost, message: `the copy on cluster "${name}" vanished before it had finished` };
  if (wasThere) return waits(lost, lostDelayMs(local)); // 9
  const waitMs = remainingLostDelayMs(local, nowMs);
  if (waitMs > 0) return waits(lost, waitMs); // 9
  if (local.spec.suspend === true) return { remote: [], home: isCertain(cluster, record) ? isResting() : NOTHING }; // 10
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
function creation(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord, cluster: string, job: Unsaved<Job>): RemoteAction {
  const carry = carriedTo(group, local, record, cluster);
  if (carry === undefined && !hasFinishedWork(local)) return { kind: 'Create', cluster, job };
  const suspended = { ...job, spec: { ...job.spec, suspend: true } };
  if (carry === undefined) return { kind: 'Create', cluster, job: suspended };
  return { kind: 'Create', cluster, job: carryPending(suspended), carry };
}
