import type { DeepReadonly, Job, JobStatus, Unsaved } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { findCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import { admittedPart } from '../../api/admitted-part.ts';
import { parseRequests } from '../../api/amount.ts';
import { isDispatched } from '../../api/dispatch-proof.ts';
import { excess, requestsOfJob } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { isRefusalOf, type DispatchProblem } from '../../api/refusals.ts';
import { isProvenAtRest, isProvenNowhere, nowhereMessage } from '../../api/rest-proof.ts';
import { given } from '../../../shared/runtime/given.ts';
import { failureAnnotations } from './failure-annotations.ts';
import { mergePatchBetween } from '../status-home/json-diff.ts';
import { changedMarks, copyIdentity } from '../copy/copy-marks.ts';
import { isAtRest, isJudgedAtRest, isResumeUnseen, isUnbegun, resumption } from '../copy/copy-rest.ts';
import { counted, hasFinishedWork, seedFor, type FinishedWork } from '../status-home/finished-work.ts';
import {
  absence,
  claimsCopy,
  hasOpenWrites,
  isCertain,
  isCurrent,
  isEmptyForSure,
  isFencedOff,
  isHeld,
  isNameHeld,
  isOf,
  isOnChanged,
  isReady,
  isUntouched,
  placeOf,
  recordIn,
  unseenPlaces,
  viewOfPlace,
  type Copy,
  type MirrorGroup,
} from './mirror-group.ts';
import { changesTemplate, copyName, hasOtherController, remoteJob, specChange } from '../copy/remote-job.ts';
import { fencedOff, fencedOffStatus, isInTheWay, isLossYoung, isStopped, lossChangesAfterMs, lossTold } from './lost-place.ts';
import { retainedCopies } from './retained-copies.ts';
import { isToBeLookedUp, lostDelayMs, remainingLostDelayMs, unclearCopy, unclearPlaces } from './missing-copy.ts';
import { isWaitingToStart } from '../status-home/start-troubles.ts';
import { withoutWorker } from './without-worker.ts';
import { toldBy } from './copy-verdict.ts';
import { atRest, cannotStart, dispatched, notDispatched, quotaReserved, started } from '../status-home/own-conditions.ts';
import {
  carryOutVerdict,
  failedStatus,
  hasVerdict,
  toLocalStatus,
  type OwnCondition,
  withTerminal,
} from '../status-home/to-local-status.ts';

/** What to do next. The two halves do not wait for each other: each relies only on what has been observed. */
export type MirrorPlan = {
  readonly remote: readonly RemoteAction[];
  readonly home: HomeAction;
  /** Look again after this time, though nothing may have changed. */
  readonly againAfterMs?: number;
  /** The copy of another Job has the name that the copy needs. */
  readonly nameHeld?: boolean;
};
export type RemoteAction =
  | { readonly kind: 'Create'; readonly cluster: string; readonly job: Unsaved<Job> }
  | {
      readonly kind: 'Update';
      readonly cluster: string;
      readonly copy: DeepReadonly<Job>;
      readonly spec: Record<string, unknown>;
      /** null: it goes. */
      readonly annotations?: Record<string, string | null>;
    }
  /** Tells a suspended copy what of its Job is done already. */
  | { readonly kind: 'Seed'; readonly cluster: string; readonly copy: DeepReadonly<Job>; readonly status: FinishedWork }
  /** Takes back what a copy said of an earlier suspension, so that its Job controller says it anew once it has seen this one. */
  | { readonly kind: 'TakeBackSuspended'; readonly cluster: string; readonly copy: DeepReadonly<Job> }
  /** Reads what stands under the name of the copy, because the answer to a write of it was lost, or it is missing from the list. */
  | { readonly kind: 'Look'; readonly cluster: string; readonly name: string }
  | {
      readonly kind: 'Delete';
      readonly cluster: string;
      readonly copy: DeepReadonly<Job>;
      /** Foreground where pods of it may run: it then is there for as long as they are. */
      readonly propagationPolicy: 'Foreground' | 'Background';
      /**
       * What our cache says of the original, where that may be late: deleting cannot be undone, so the API server must confirm it first. Gone: there is
       * none. Older: its record knows nothing of the placement of this copy, as after a restore from a backup.
       */
      readonly confirm: 'Gone' | 'Older' | undefined;
    };
export type HomeAction =
  | { readonly kind: 'None' }
  | {
      readonly kind: 'WriteStatus';
      readonly status: JobStatus;
      /** Body of `status` in a merge patch. */
      readonly patch: Record<string, unknown>;
      /** What `metadata.finalizers` is to be with it; absent: as it is. The API server lets a status write change metadata of a Job. */
      readonly finalizers?: readonly string[];
      /** Annotations to set with it; absent: none. */
      readonly annotations?: Readonly<Record<string, string>>;
      /** At once: the Job has ended. Otherwise writes may be gathered. */
      readonly urgent: boolean;
    }
  /** No copy is left: our finalizer goes, and with it what the Job holds. */
  | {
      readonly kind: 'Release';
      readonly finalizers: readonly string[];
      /** Body of `status` in a merge patch, for a Job that others keep: it is not to say for ever that pods run. */
      readonly patch?: Record<string, unknown>;
    };

/** The copy of another Job of its name has this long to go, when a Job needs the name. */
export const NAME_PATIENCE_MS = 30_000;

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
  return { ...plan, ...withDoubts(group, plan) };
}

/** Doubts are settled for a Job that is not to run where they are open, or whose copy is missing: until then nobody may take it for resting, moved or gone. */
function withDoubts(group: MirrorGroup, plan: MirrorPlan): Pick<MirrorPlan, 'remote' | 'againAfterMs'> {
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
    return { remote: gone, home: release(local), ...given({ againAfterMs: stay.againAfterMs }) }; // 2
  }
  if (local.metadata.deletionTimestamp !== undefined) return windUp(group, local, copies, nowMs); // 2
  if (group.record.kind !== 'Record') return holdBack(group, local, copies, nowMs); // 3
  const { record } = group.record;
  const current = copies.find((copy) => isCurrent(group, copy, local, record));
  const later = copies.filter((copy) => isLater(copy, local, record)); // 4
  const stale = copies.filter((copy) => copy !== current && !later.includes(copy) && !isOnChanged(group, copy, local, record)); // 4
  const leftBehind = [...deletions(stale), ...deletions(later, 'Older')];
  const fenced = fencedOffStatus(group, local, record, nowMs);
  if (fenced !== undefined) return { remote: leftBehind, home: fenced === 'Said' ? NOTHING : writeHome(local, fenced) };
  const plan = current === undefined ? withoutCopy(group, local, record, nowMs) : withCopy(group, local, record, current, nowMs); // 5, or 6 to 12
  const inTheWay = stale.some((copy) => isOf(copy.job, local) && isInTheWay(group, copy, record));
  const blocked = inTheWay || later.length > 0 || hasOpenWrites(group) || group.homeRestored !== undefined;
  const others = plan.remote.filter((action) => !setsGoing(action) || !blocked);
  if (blocked && others.length < plan.remote.length) {
    const trouble = group.homeRestored ?? troubleOn(group, stale);
    if (trouble !== undefined) {
      const home = writeHome(local, toLocalStatus({ local, remote: local.status, own: [notDispatched(trouble)], nowMs }));
      return { ...plan, home, remote: [...leftBehind, ...others] };
    }
  }
  // What cannot be deleted must not keep the cluster from saying that the name is taken.
  return { ...plan, remote: plan.nameHeld === true ? [...others, ...leftBehind] : [...leftBehind, ...others] };
}

const setsGoing = (action: RemoteAction): boolean =>
  action.kind === 'Create' || (action.kind === 'Update' && action.spec['suspend'] === false);

/** Rule 2 for a Job that is being deleted. */
function windUp(group: MirrorGroup, local: DeepReadonly<Job>, copies: readonly Copy[], nowMs: number): MirrorPlan {
  const remote = deletions(copies);
  if (!isHeld(local)) return { remote, home: NOTHING };
  const record = recordIn(group.record);
  const open = copies.filter((copy) => record === undefined || !isStopped(group, copy, record));
  const current = record && open.find((copy) => isCurrent(group, copy, local, record));
  // What still stops is told, and an end that it came to counts.
  if (record !== undefined && current !== undefined)
    return {
      remote,
      home: writeHome(local, toLocalStatus({ local, remote: toldBy(current.job, local), own: ownOf(group, current, local), nowMs })),
    };
  const shown = open.filter(({ job }) => isOf(job, local)).map(({ cluster }) => cluster);
  // What rests may outlast its WorkerCluster.
  const isLeft = record !== undefined && viewOfPlace(group) === undefined && isProvenAtRest(local.status, record);
  const places = isLeft ? [] : unseenPlaces(group, record);
  const unseen = [...new Set([...shown.filter((cluster) => !isReady(group, cluster)), ...places])];
  const isMissing = record !== undefined && isToBeLookedUp(group, local, record);
  if (shown.length === 0 && unseen.length === 0 && isEmptyForSure(group, record) && !isMissing)
    return { remote, home: releaseAtRest(group, local, record, nowMs) };
  if (unseen.length === 0) {
    const trouble = troubleOn(group, copies);
    return { remote, home: trouble === undefined ? NOTHING : stillDeleting(local, trouble, nowMs) };
  }
  const reason =
    record !== undefined && viewOfPlace(group) === undefined ? absence(group, record).reason : DispatchedReason.ClusterUnreachable;
  const loss = lossTold(group);
  const message =
    `deleted, but what runs of it on cluster ${listed(unseen)} cannot be seen: it holds its quota until the cluster is ` +
    `back${loss === undefined ? '' : `, or nothing can run there any more (${loss})`}. ${howToGiveUp(local)}`;
  return { remote, home: stillDeleting(local, { reason, message }, nowMs) };
}

const NAMED_MAX = 5;
const listed = (names: readonly string[]): string => {
  const named = names.slice(0, NAMED_MAX).map((name) => `"${name}"`);
  return names.length > NAMED_MAX ? `${named.join(', ')} and ${names.length - NAMED_MAX} more` : named.join(', ');
};
const howToGiveUp = ({ metadata }: DeepReadonly<Job>): string =>
  `To give it up: kubectl patch job -n ${metadata.namespace} ${metadata.name} --field-manager switchyard-override ` +
  `-p '{"metadata":{"$deleteFromPrimitiveList/finalizers":["${COPIES_FINALIZER}"]}}'`;

function stillDeleting(local: DeepReadonly<Job>, problem: DispatchProblem, nowMs: number): HomeAction {
  const present = findCondition(local.status?.conditions, SwitchyardCondition.Dispatched);
  const own: OwnCondition = { type: SwitchyardCondition.Dispatched, status: present?.status === 'True' ? 'True' : 'False', ...problem };
  return writeHome(local, toLocalStatus({ local, remote: local.status, own: [own], nowMs }));
}

/** Said of a copy that is to go and does not. */
function ownOf({ clusters }: MirrorGroup, copy: Copy, local: DeepReadonly<Job>): OwnCondition[] {
  const view = clusters.get(copy.cluster);
  const absence = withoutWorker(view, copy);
  const trouble = view?.trouble ?? (absence === undefined ? undefined : { reason: DispatchedReason.WorkerAbsent, message: absence });
  return trouble === undefined || local.status === undefined ? [] : [{ type: SwitchyardCondition.Dispatched, status: 'True', ...trouble }];
}

/** Why copies that are to go do not. */
const troubleOn = ({ clusters }: MirrorGroup, copies: readonly Copy[]): DispatchProblem | undefined =>
  copies.map(({ cluster }) => clusters.get(cluster)?.trouble).find((trouble) => trouble !== undefined);

const otherFinalizers = ({ metadata }: DeepReadonly<Job>): string[] =>
  (metadata.finalizers ?? []).filter((finalizer) => finalizer !== COPIES_FINALIZER);
function releaseAtRest(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord | undefined, nowMs: number): HomeAction {
  const finalizers = otherFinalizers(local);
  const own = record === undefined ? [] : [isFencedOff(group) ? fencedOff(record) : atRest(record)];
  const patch = mergePatchBetween(local.status ?? {}, toLocalStatus({ local, remote: undefined, own, nowMs }));
  const isKept = finalizers.length > 0 && typeof patch === 'object' && patch !== null;
  return { kind: 'Release', finalizers, ...(isKept ? { patch: { ...patch } } : {}) };
}
const release = (local: DeepReadonly<Job>): HomeAction =>
  isHeld(local) ? { kind: 'Release', finalizers: otherFinalizers(local) } : NOTHING;

/** Rule 5. */
function withCopy(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord, copy: Copy, nowMs: number): MirrorPlan {
  if (isMismade(group, record, copy)) return { remote: deletions([copy]), home: NOTHING };
  const { cluster } = copy;
  const view = group.clusters.get(cluster);
  const isResting = rests(group, local, record, copy);
  const told = toldBy(copy.job, local);
  const ended = isResting && isJudgedAtRest(copy.job) ? withTerminal(told, nowMs) : told;
  const remote = isResting ? counted(ended, local.spec) : ended;
  const trouble = (view?.problem ?? view?.trouble)?.message ?? (isWaitingToStart(copy.job) ? view?.waiting : undefined);
  const detail = lossTold(group) ?? withoutWorker(view, copy) ?? trouble ?? unfencedBecause(group, record, copy.cluster);
  const own = [...quotaReserved(local, record), isResting ? atRest(record) : dispatched(record, detail), ...started(local, record, remote)];
  const isOver = isResting && record.fail !== undefined;
  const status = isOver
    ? failedStatus(local, remote, record.fail, [...own, ...cannotStart(record.fail)], nowMs)
    : toLocalStatus({ local, remote, own, nowMs });
  const home = writeHome(local, status, copy);
  if (copy.deleting) return { remote: [], home };
  // Nobody is there who could say that it rests. Its pods are the proof, once it is gone.
  if (local.spec.suspend === true && view?.withoutWorker !== undefined && !isResting && isUnbegun(copy.job))
    return { remote: [{ kind: 'Delete', cluster, copy: copy.job, propagationPolicy: 'Background', confirm: undefined }], home };
  if (local.spec.suspend === true && isResumeUnseen(copy.job))
    return { remote: [{ kind: 'TakeBackSuspended', cluster, copy: copy.job }], home };
  // What it has finished stands at home, and the cluster is to go.
  if (view?.leaving === true && isResting && isProvenAtRest(local.status, record)) return { remote: deletions([copy]), home };
  const wanted = remoteJobOf(group, local, record);
  const runs = local.spec.suspend !== true && !('reason' in wanted);
  const update = (spec: Record<string, unknown>, annotations?: Record<string, string | null>): RemoteAction => ({
    kind: 'Update',
    cluster,
    copy: copy.job,
    spec,
    ...given({ annotations: spec['suspend'] === false ? { ...annotations, ...resumption(copy.job) } : annotations }),
  });
  // A copy that has reached its verdict is not disturbed: what it does now is finish, for which it may not be suspended.
  if (hasVerdict(copy.job.status))
    return { remote: runs && copy.job.spec.suspend === true && !isFinished(copy.job.status) ? [update({ suspend: false })] : [], home };
  const seed = runs ? seedFor(copy.job, local) : undefined;
  const spec = 'reason' in wanted ? suspension(copy.job, local) : specChange(copy.job, wanted, !runs || seed !== undefined);
  // Its API server is older than such changes: the copy rests, and is made anew with what the original asks for now.
  if (view?.problem !== undefined && changesTemplate(spec) && isAtRest(copy.job)) return { remote: deletions([copy]), home };
  const annotations = 'reason' in wanted ? undefined : changedMarks(copy.job, wanted);
  if (spec !== undefined || annotations !== undefined) return { remote: [update(spec ?? {}, annotations)], home };
  return { remote: seed === undefined ? [] : [{ kind: 'Seed', cluster, copy: copy.job, status: seed }], home };
}

/** What was asked for is not what would run: an API server has dropped parts of it, or another Job controller runs the copies there by now. */
const isMismade = (group: MirrorGroup, { epoch }: AdmissionRecord, { cluster, job }: Copy): boolean => {
  const { problem, jobController } = group.clusters.get(cluster) ?? {};
  return hasOtherController(job, jobController) || (problem?.reason === DispatchedReason.FieldsDropped && isRefusalOf(epoch, problem));
};

/** Both are told to rest, and the copy does, as far as anybody knows. */
const rests = (group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord, { cluster, job }: Copy): boolean =>
  local.spec.suspend === true && job.spec.suspend === true && isAtRest(job) && isCertain(group.clusters.get(cluster), record);

/** All that reaches a copy whose original may not run as it is now. */
const suspension = (copy: DeepReadonly<Job>, local: DeepReadonly<Job>): Record<string, unknown> | undefined =>
  local.spec.suspend === true && copy.spec.suspend !== true ? { suspend: true } : undefined;

/** Rules 6 to 12. */
function withoutCopy(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord, nowMs: number): MirrorPlan {
  const cluster = viewOfPlace(group);
  const nothingRuns = (own: readonly OwnCondition[]): HomeAction =>
    writeHome(local, toLocalStatus({ local, remote: cluster?.contact === 'Ready' ? undefined : local.status, own, nowMs }));
  const waits = (problem: DispatchProblem, againAfterMs?: number): MirrorPlan => ({
    remote: [],
    home: nothingRuns([notDispatched(problem)]),
    ...given({ againAfterMs }),
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
    const loss = lossTold(group);
    // A copy that was there may be running still: the Job goes on saying so until the cluster is heard of again.
    const message =
      cluster.contact === 'NotServed'
        ? `cluster "${name}" does not serve namespace "${local.metadata.namespace}" (servedNamespaces of its WorkerCluster)`
        : `cluster "${name}" cannot be reached${loss === undefined ? '' : `: ${loss}`}`;
    // What it said last stands, and what follows from the loss is added.
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
  const job = remoteJobOf(group, local, record); // 12
  if ('reason' in job) return { ...waits(job), nameHeld };
  const made = hasFinishedWork(local) ? { ...job, spec: { ...job.spec, suspend: true } } : job;
  const create: RemoteAction = { kind: 'Create', cluster: name, job: made };
  const problem = cluster.problem ?? cluster.trouble;
  const home = problem === undefined ? NOTHING : nothingRuns([notDispatched(problem)]);
  return { remote: [create], home, nameHeld };
}

/** Rule 3: nobody but admission may set a Job going. A copy without a record is suspended where it is, and kept. */
function holdBack(group: MirrorGroup, local: DeepReadonly<Job>, copies: readonly Copy[], nowMs: number): MirrorPlan {
  const { record } = group;
  const running = copies.filter(
    ({ job, deleting }) => job.spec.suspend !== true && !deleting && isOf(job, local) && !hasVerdict(job.status),
  );
  const suspensions: RemoteAction[] = running.map(({ cluster, job }) => ({ kind: 'Update', cluster, copy: job, spec: { suspend: true } }));
  const unseenResumes = copies.filter(({ job, deleting }) => !deleting && isOf(job, local) && isResumeUnseen(job));
  const unsettled = unseenResumes.map(({ cluster, job }): RemoteAction => ({ kind: 'TakeBackSuspended', cluster, copy: job }));
  const remote = [...deletions(copies.filter(({ job }) => !isOf(job, local))), ...unsettled, ...suspensions];
  // Where one copy may run and another rests, the Job does not.
  const kept = running[0] ?? copies.find(({ job }) => isOf(job, local));
  const problem = record.kind === 'Forged' || record.kind === 'Invalid' ? record.problem : undefined;
  // It was admitted once, and nobody remembers where to: only when every cluster has shown that nothing of it runs there may it be admitted again.
  const last = recordIn(record);
  const lost = last === undefined && isHeld(local);
  if (kept === undefined && problem === undefined && !lost && !claimsCopy(local.status)) return { remote, home: NOTHING };
  if (lost && running.length === 0 && isProvenNowhere(local)) return { remote, home: NOTHING };
  const own = copies.filter(({ job }) => isOf(job, local));
  const unseen = unseenPlaces(group, last);
  // While a cluster is out of sight that may have a copy, nobody may take the Job for one that rests.
  const hidden = kept === undefined && (unseen.length > 0 || !isEmptyForSure(group, last));
  if (hidden && !lost && claimsCopy(local.status)) return { remote, home: NOTHING };
  const isNowhere = lost && local.spec.suspend === true && unseen.length === 0 && isEmptyForSure(group, undefined) && own.every(restsFully);
  const why = problem ?? 'the Job has no admission record';
  const outOfSight =
    lost && unseen.length > 0 ? `; what runs of it on cluster ${listed(unseen)} cannot be seen. ${howToGiveUp(local)}` : '';
  const said = isNowhere
    ? { reason: DispatchedReason.AtRest, message: nowhereMessage(local.metadata.generation) }
    : { reason: DispatchedReason.NotAdmitted, message: `${why}${outOfSight}` };
  const told = kept === undefined ? (hidden ? local.status : undefined) : toldBy(kept.job, local);
  return { remote, home: writeHome(local, toLocalStatus({ local, remote: told, own: [notDispatched(said)], nowMs })) };
}

const restsFully = ({ job, deleting }: Copy): boolean => isAtRest(job) && !deleting;

const NOTHING: HomeAction = { kind: 'None' };

const remove = (copies: readonly Copy[], confirmGone: boolean): MirrorPlan => ({
  remote: deletions(copies, confirmGone ? 'Gone' : undefined),
  home: NOTHING,
});

const deletions = (copies: readonly Copy[], confirm?: 'Gone' | 'Older'): RemoteAction[] =>
  copies.flatMap(({ cluster, job, deleting }) => {
    if (deleting) return [];
    const propagationPolicy = isAtRest(job) ? 'Background' : 'Foreground';
    return [{ kind: 'Delete', cluster, copy: job, propagationPolicy, confirm }];
  });

function writeHome(local: DeepReadonly<Job>, status: JobStatus, copy?: Copy): HomeAction {
  const patch = mergePatchBetween(local.status ?? {}, status);
  if (typeof patch !== 'object' || patch === null) return NOTHING;
  // The worker's ledger is its own affair: it travels along, but is not worth a write.
  if (Object.keys(patch).every((field) => field === 'uncountedTerminatedPods')) return NOTHING;
  const ends = isFinished(status);
  return {
    kind: 'WriteStatus',
    status,
    patch: { ...patch },
    urgent: ends,
    ...(ends && isHeld(local) ? { finalizers: otherFinalizers(local) } : {}),
    ...given({ annotations: copy && failureAnnotations(local.status ?? {}, status, copy) }),
  };
}

/** The copy as it should be, or why there can be none: it never asks for more than the record. */
function remoteJobOf(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord): Unsaved<Job> | DispatchProblem {
  const cluster = viewOfPlace(group);
  if (cluster === undefined) return absence(group, record);
  const names = [...new Set(Object.values(record.flavors))].toSorted();
  const missing = names.find((name) => group.flavors.get(name) === undefined);
  if (missing !== undefined) {
    return { reason: DispatchedReason.ResourceFlavorNotFound, message: `ResourceFlavor "${missing}" of the admission does not exist` };
  }
  if (group.unresolved !== undefined) return { reason: DispatchedReason.AdmissionUnresolved, message: group.unresolved };
  const part = admittedPart(local, record);
  const asked = requestsOfJob(part);
  if (asked.problem !== undefined) return { reason: DispatchedReason.ExceedsReservation, message: asked.problem };
  const more = excess(asked.requests, parseRequests(record.requests));
  if (more !== undefined) {
    const message = `the Job asks for ${more} more than it was admitted with, and waits to be admitted anew`;
    return { reason: DispatchedReason.ExceedsReservation, message };
  }
  return remoteJob(part, {
    origin: group.origin,
    epoch: record.epoch,
    jobController: cluster.jobController,
    local: cluster.local,
    flavors: names.flatMap((name) => group.flavors.get(name) ?? []),
    ...given({
      fenced: record.unfenced !== true,
      tracing: group.tracing,
      podFence: record.podFence === undefined ? undefined : { image: group.podFenceImage, afterSeconds: record.podFence },
    }),
  });
}

/** A copy of a placement that our cache does not know: it may be late, or the record on the API server is older than it was. */
const isLater = ({ job }: Copy, local: DeepReadonly<Job>, record: AdmissionRecord): boolean =>
  isOf(job, local) && (copyIdentity(job)?.epoch ?? 0) > record.epoch;

/** What a Job that asks for a fence has to know. */
const unfencedBecause = (group: MirrorGroup, record: AdmissionRecord, cluster: string): string | undefined =>
  group.clusters.get(cluster)?.builtIn === true && record.unfenced !== true
    ? 'not fenced: the built-in Job controller runs it there, and goes on when the manager is out of reach'
    : undefined;
