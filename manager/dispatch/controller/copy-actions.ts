import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReconcileResult } from '../../../shared/kube/controller.ts';
import { objectKey, parseKey } from '../../../shared/kube/keys.ts';
import { CARRIED_CONTENT_ANNOTATION, CARRY_PENDING_ANNOTATION, MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import { carriedReferences } from '../../api/pod-references.ts';
import { JobEventReason } from '../../api/reasons.ts';
import type { ParsedRecord } from '../../api/records.ts';
import { fieldsDropped, isRefusal, isRefusalOf, refusalOf, type DispatchProblem } from '../../api/refusals.ts';
import { neverSent } from '../cluster/lease-not-held.ts';
import type { RemoteCluster } from '../connection/remote-cluster-contract.ts';
import { isCarried } from '../companions/carry-mark.ts';
import { type Companion, refersTo, withCompanions } from '../companions/plan-companions.ts';
import { carriedContentOf, carriedContentText, changedContent } from '../companions/carried-content.ts';
import { readCompanions } from '../companions/read-companions.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import type { RemoteAction } from '../decisions/mirror-plan.ts';
import { wasDispatched } from '../mirror/missing-copy.ts';
import { isCertain, mayBeMadeYet, recordIn, type MirrorGroup } from '../mirror/mirror-group.ts';
import { createRecentRefusals, type RecentRefusals } from '../mirror/recent-refusals.ts';
import { DispatchRefused, isAnswer } from '../writes/write-refusals.ts';
import { troubleOf, type Trouble } from '../writes/write-troubles.ts';
import { confirmDeletion } from './confirm-deletion.ts';
import { keepEnding } from './copy-ending.ts';
import { lookForCopy, unlistedMarks } from './look-for-copy.ts';
import type { MirrorControllerDeps } from './mirror-controller-deps.ts';

/** Carries out the actions of `decideMirror` on the copies of a Job on a worker cluster. */
export interface CopyActions {
  /**
   * Carries out one action; a result requeues the Job.
   *
   * @throws {Error} when a write fails that is worth a retry with back-off.
   */
  carryOut(cluster: RemoteCluster, key: string, group: MirrorGroup, action: RemoteAction): Promise<ReconcileResult>;
  /** Writes to the cluster succeed: clears a trouble that the Job reports. */
  works(cluster: RemoteCluster, key: string): void;
}

export type CopyActionsDeps = Pick<
  MirrorControllerDeps,
  'kind' | 'home' | 'jobs' | 'readRecord' | 'origin' | 'clock' | 'log' | 'events' | 'metrics' | 'endings'
> & {
  /** Called with answers of the manager cluster's API server, before a watch delivers them. */
  readonly wrote: (key: string, job: WorkObject) => void;
  /** Enqueues the Job in the home queue. */
  readonly wake: (key: string) => void;
};

/** A refusal may end when a user changes something on the cluster, which no watch shows. */
const REFUSED_RETRY_MS = 10_000;
/** Time for the cache of Jobs to catch up with the API server. */
const LAG_RETRY_MS = 1_000;
const CARRY_MARK = `metadata.annotations[${CARRY_PENDING_ANNOTATION}]`;

export const createCopyActions = (deps: CopyActionsDeps): CopyActions => new Actions(deps);

class Actions implements CopyActions {
  readonly #deps: CopyActionsDeps;
  readonly #refusals: RecentRefusals;

  constructor(deps: CopyActionsDeps) {
    this.#deps = deps;
    this.#refusals = createRecentRefusals(deps.kind, deps.clock);
  }

  async carryOut(cluster: RemoteCluster, key: string, group: MirrorGroup, action: RemoteAction): Promise<ReconcileResult> {
    const { local } = group;
    try {
      switch (action.kind) {
        case 'Create':
          return await this.#create(cluster, key, group, action);
        case 'Update':
          await this.#send(cluster, key, () => cluster.writer.update(action.copy, action.spec, action.annotations));
          return undefined;
        case 'Carry':
          return await this.#carry(cluster, key, group, action);
        case 'Seed':
        case 'TakeBackSuspended':
          // The write starts no pod and is conditional on the version of the copy: a lost answer leaves no doubt.
          cluster.wrote(key, await cluster.writer.writeStatus(action));
          cluster.setProblem(key, undefined);
          this.works(cluster, key);
          cluster.wake(key, { now: true });
          return undefined;
        case 'Look':
          return await this.#readName(cluster, key, group, action.name);
        case 'Delete':
          return await this.#delete(cluster, key, local, action);
      }
    } catch (error) {
      return this.#failed(cluster, key, local, action.kind, error);
    }
  }

  async #create(
    cluster: RemoteCluster,
    key: string,
    group: MirrorGroup,
    { job, carry }: RemoteAction & { kind: 'Create' },
  ): Promise<ReconcileResult> {
    const { local, record } = group;
    const holdMs = record.kind === 'Record' ? this.#refusals.holdMs(cluster.name, local, record.record) : 0;
    if (holdMs > 0) return { requeueAfterMs: holdMs };
    const companions = carry === undefined ? [] : await this.#companions(key, group, carry);
    const wanted = withCompanions(this.#deps.kind, job, companions);
    const isFirst = record.kind === 'Record' && isCertain(group.clusters.get(cluster.name), record.record);
    const options = { mayBeMadeYet: mayBeMadeYet(group, cluster.name), isFirst };
    const copy = await this.#send(cluster, key, () => cluster.writer.create(wanted, options));
    cluster.created(key);
    const { kind } = this.#deps;
    const dropped = [...unlistedMarks(kind, copy, wanted), ...kind.copies.droppedFields(wanted, copy)];
    if (dropped.length === 0) {
      this.#created(cluster, key, local);
      // A copy that existed before may refer to other content: it is looked at again.
      if (carry !== undefined && refersTo(this.#deps.kind, copy, companions)) await this.#write(cluster, key, local, copy, companions);
      // A new copy starts from the finished work, which must be written to its status first.
      if (kind.isSuspended(wanted)) cluster.wake(key, { now: true });
      return undefined;
    }
    const epoch = copyIdentity(copy, kind.copies.templateIdentity)?.epoch ?? 0;
    const problem = refusalOf(epoch, fieldsDropped(cluster.name, dropped));
    this.#deps.metrics.dispatchFailures.inc({ cluster: cluster.name, verb: 'create', reason: problem.reason });
    this.#refused(cluster, key, local, problem);
    await this.#deleteMismade(cluster, key, copy, 'Foreground');
    cluster.deleted(copy);
    return undefined;
  }

  /** A controller may already run the copy: its placement ends when no pod of it is left, and none can still be created. */
  async #deleteMismade(
    cluster: RemoteCluster,
    key: string,
    copy: DeepReadonly<WorkObject>,
    propagationPolicy: 'Background' | 'Foreground',
  ): Promise<void> {
    await cluster.writer.delete(copy, propagationPolicy);
    if (!this.#deps.kind.isSuspended(copy)) cluster.unanswered.deletedUnstopped(key, copy);
  }

  /** The objects that the Job takes along, as they are now. Where its queue says so, they must be those that its first copy had. */
  async #companions(key: string, { local, record }: MirrorGroup, carry: readonly CarriedKind[]): Promise<readonly Companion[]> {
    if (local === undefined) return [];
    const plan = await readCompanions(this.#deps, local, carry);
    if (plan.kind === 'Problem') throw new DispatchRefused(plan.problem);
    const { companions } = plan;
    if (recordIn(record)?.carryContent !== 'Admitted') return companions;
    const first = carriedContentOf(local);
    const references = carriedReferences(this.#deps.kind.references(local), carry);
    const problem = first === undefined ? undefined : changedContent(local, references, companions, first);
    if (problem !== undefined) throw new DispatchRefused(problem);
    if (first === undefined) await this.#noteContent(key, local, companions);
    return companions;
  }

  /** Before the copy is created, and only on the version of the Job that says nothing yet: whatever runs later has this content. */
  async #noteContent(key: string, local: DeepReadonly<WorkObject>, companions: readonly Companion[]): Promise<void> {
    const { kind, home, wrote } = this.#deps;
    const { uid, resourceVersion } = local.metadata;
    const metadata = { uid, resourceVersion, annotations: { [CARRIED_CONTENT_ANNOTATION]: carriedContentText(companions) } };
    const options = { fieldManager: MANAGER_FIELD_MANAGER };
    wrote(key, await home.patch(kind.resource, parseKey(key), { type: 'merge', body: { metadata } }, options));
  }

  /** Writes the objects of a suspended copy. A copy that refers to content of before, and has never run, gives way to another one. */
  async #carry(
    cluster: RemoteCluster,
    key: string,
    group: MirrorGroup,
    { copy, carry }: RemoteAction & { kind: 'Carry' },
  ): Promise<ReconcileResult> {
    const { local } = group;
    const companions = await this.#companions(key, group, carry);
    // The cache has no references of copies.
    const whole = await cluster.writer.find(objectKey(copy));
    if (whole?.metadata.uid !== copy.metadata.uid) return { requeueAfterMs: LAG_RETRY_MS };
    if (refersTo(this.#deps.kind, whole, companions)) {
      await this.#write(cluster, key, local, copy, companions);
      cluster.wake(key, { now: true });
      return undefined;
    }
    await cluster.writer.delete(copy, 'Foreground');
    cluster.deleted(copy);
    // What was refused was the former content: nothing else tries the next copy.
    cluster.setProblem(key, undefined);
    return undefined;
  }

  async #write(
    cluster: RemoteCluster,
    key: string,
    local: DeepReadonly<WorkObject> | undefined,
    copy: DeepReadonly<WorkObject>,
    companions: readonly Companion[],
  ): Promise<void> {
    const carried = await cluster.writer.carry(copy, companions);
    cluster.wrote(key, carried);
    // Without the mark no later leader knows that they are written: the cluster keeps no copy that takes objects along.
    if (!isCarried(carried))
      throw new DispatchRefused(refusalOf(copyIdentity(copy)?.epoch ?? 0, fieldsDropped(cluster.name, [CARRY_MARK])));
    this.works(cluster, key);
    if (local === undefined || companions.length === 0) return;
    const names = companions.map(({ reference, object }) => `${reference.kind.toLowerCase()} ${reference.name} as ${object.metadata.name}`);
    this.#deps.events.event(
      this.#deps.kind.resource,
      local,
      'Normal',
      JobEventReason.Carried,
      `to cluster ${cluster.name}: ${names.join(', ')}`,
    );
  }

  /**
   * Sends a write that creates a copy, or resumes one. It counts as carried out until its answer arrives, and for a while when none
   * arrives.
   */
  async #send(cluster: RemoteCluster, key: string, write: () => Promise<WorkObject>): Promise<WorkObject> {
    cluster.unanswered.sent(key);
    let copy: WorkObject;
    try {
      copy = await write();
      cluster.wrote(key, copy);
    } catch (error) {
      if (isAnswer(error)) cluster.unanswered.answered(key, error instanceof DispatchRefused && isRefusal(error.problem));
      else if (neverSent(error)) cluster.unanswered.unsent(key);
      else cluster.unanswered.lost(key);
      throw error;
    }
    cluster.unanswered.answered(key);
    cluster.setProblem(key, undefined);
    this.works(cluster, key);
    return copy;
  }

  works(cluster: RemoteCluster, key: string): void {
    if (cluster.troubles.reported(key) !== undefined) this.#deps.wake(key);
    cluster.troubles.over(key);
  }

  async #readName(cluster: RemoteCluster, key: string, { local, record }: MirrorGroup, name: string): Promise<ReconcileResult> {
    const last = recordIn(record);
    if (local === undefined) return undefined;
    const sought = {
      name,
      originUid: local.metadata.uid,
      origin: this.#deps.origin,
      wasDispatched: last !== undefined && wasDispatched(local, last),
    };
    const found = await lookForCopy(this.#deps.kind, cluster, key, sought);
    switch (found.kind) {
      case 'Unclear':
        this.#refused(cluster, key, local, found.problem);
        return { requeueAfterMs: REFUSED_RETRY_MS };
      case 'Unmarkable':
        this.#refused(cluster, key, local, refusalOf(found.epoch, fieldsDropped(cluster.name, found.dropped)));
        if (found.copy.metadata.deletionTimestamp === undefined) await this.#deleteMismade(cluster, key, found.copy, 'Foreground');
        return { requeueAfterMs: LAG_RETRY_MS };
      case 'Early':
        return { requeueAfterMs: found.forMs };
      case 'Listed':
      case 'Absent':
        if (last === undefined || !isRefusalOf(last.epoch, cluster.view(key).problem)) cluster.setProblem(key, undefined);
        this.#deps.wake(key);
        return undefined;
    }
  }

  #created(cluster: RemoteCluster, key: string, local: DeepReadonly<WorkObject> | undefined): void {
    const { metrics, log, clock, readRecord } = this.#deps;
    const parsed = local === undefined ? undefined : readRecord(local);
    if (parsed?.kind !== 'Record') return;
    const { clusterQueue, since, epoch } = parsed.record;
    metrics.dispatched.inc({ cluster_queue: clusterQueue, cluster: cluster.name });
    metrics.dispatchDuration.observe({ cluster: cluster.name }, Math.max(0, clock.now() - Date.parse(since)) / 1000);
    log.info('dispatched a Job', { job: key, cluster: cluster.name, epoch });
  }

  async #delete(
    cluster: RemoteCluster,
    key: string,
    local: DeepReadonly<WorkObject> | undefined,
    { copy, propagationPolicy, confirm }: RemoteAction & { kind: 'Delete' },
  ): Promise<ReconcileResult> {
    if (confirm !== undefined) {
      const waitMs = cluster.mayAskAfterMs(key);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      if (!(await this.#confirms(confirm, key, local, copy))) return { requeueAfterMs: LAG_RETRY_MS };
    }
    // The manager that created the copy may not have seen the answer. Another create would lose the same field.
    const hasLostController = confirm !== 'Gone' && this.#deps.kind.copies.hasLostController(copy);
    if (hasLostController) this.#lostController(cluster, key, local, copy);
    await keepEnding(this.#deps.endings, cluster, copy);
    if (hasLostController) await this.#deleteMismade(cluster, key, copy, propagationPolicy);
    else await cluster.writer.delete(copy, propagationPolicy);
    cluster.deleted(copy);
    this.works(cluster, key);
    if (confirm === 'Gone') this.#deps.metrics.orphansDeleted.inc({ cluster: cluster.name });
    this.#deps.log.info('deleted a copy', { job: key, cluster: cluster.name, uid: copy.metadata.uid });
    return undefined;
  }

  #confirms(
    what: 'Gone' | 'Older',
    key: string,
    local: DeepReadonly<WorkObject> | undefined,
    copy: DeepReadonly<WorkObject>,
  ): Promise<boolean> {
    const { kind, home, readRecord } = this.#deps;
    const onRead = (original: WorkObject): void => {
      if (original.metadata.resourceVersion === local?.metadata.resourceVersion) return;
      // The overlay catches up at once, so that the next plan need not ask again.
      this.#deps.wrote(key, original);
      this.#deps.wake(key);
    };
    return confirmDeletion(what, copy, { kind, home, readRecord, onRead });
  }

  #failed(
    cluster: RemoteCluster,
    key: string,
    local: DeepReadonly<WorkObject> | undefined,
    kind: RemoteAction['kind'],
    error: unknown,
  ): ReconcileResult {
    const { metrics } = this.#deps;
    if (error instanceof DispatchRefused) {
      if (kind === 'Create') cluster.createFailed(key, error, error.problem);
      metrics.dispatchFailures.inc({ cluster: cluster.name, verb: kind.toLowerCase(), reason: error.problem.reason });
      this.#refused(cluster, key, local, error.problem);
      return { requeueAfterMs: REFUSED_RETRY_MS };
    }
    const trouble = troubleOf(error, cluster.name, kind);
    this.#troubled(cluster, key, local, trouble);
    if (kind === 'Create') cluster.createFailed(key, error, trouble.problem);
    // The copy has changed or gone meanwhile: its event is on the way.
    if (isConflict(error) || isNotFound(error)) return { requeueAfterMs: LAG_RETRY_MS };
    metrics.dispatchFailures.inc({ cluster: cluster.name, verb: kind.toLowerCase(), reason: trouble.problem.reason });
    throw new Error(`${kind.toLowerCase()} the copy of Job ${key} on cluster ${cluster.name}`, { cause: error });
  }

  #refused(cluster: RemoteCluster, key: string, local: DeepReadonly<WorkObject> | undefined, problem: DispatchProblem): void {
    const { kind, log, events, jobs } = this.#deps;
    const known = cluster.view(key).problem;
    const hasChanged = known?.reason !== problem.reason || known.message !== problem.message;
    if (hasChanged)
      log.warn('a cluster refused a Job', { job: key, cluster: cluster.name, reason: problem.reason, detail: problem.message });
    if (hasChanged && local !== undefined) events.event(kind.resource, local, 'Warning', JobEventReason.DispatchFailed, problem.message);
    const parsed: ParsedRecord = local === undefined ? { kind: 'None' } : this.#deps.readRecord(local);
    if (parsed.kind === 'Record' && isRefusalOf(parsed.record.epoch, problem)) this.#refusals.note(cluster.name, local, problem.reason);
    cluster.troubles.over(key);
    if (jobs.get(parseKey(key))?.metadata.uid === local?.metadata.uid) cluster.setProblem(key, problem);
    // A reconcile of the Job retries the write at once; a refusal with the same message waits for its back-off.
    if (hasChanged) this.#deps.wake(key);
  }

  #lostController(cluster: RemoteCluster, key: string, local: DeepReadonly<WorkObject> | undefined, copy: DeepReadonly<WorkObject>): void {
    const { originUid, epoch = 0 } = copyIdentity(copy) ?? {};
    if (local === undefined || originUid !== local.metadata.uid || isRefusalOf(epoch, cluster.view(key).problem)) return;
    this.#refused(cluster, key, local, refusalOf(epoch, fieldsDropped(cluster.name, ['spec.managedBy'])));
  }

  /** Reports a failing write once it lasts: most failures are gone after a retry. */
  #troubled(cluster: RemoteCluster, key: string, local: DeepReadonly<WorkObject> | undefined, trouble: Trouble): void {
    const { kind, log, events, clock } = this.#deps;
    const { reported, first } = cluster.troubles.failed(key, trouble, clock.monotonic());
    if (!reported) return;
    const { reason, message } = trouble.problem;
    log.warn('writes to a cluster go on failing', { job: key, cluster: cluster.name, reason, detail: message });
    if (first && local !== undefined) events.event(kind.resource, local, 'Warning', JobEventReason.DispatchFailed, message);
    this.#deps.wake(key);
  }
}
