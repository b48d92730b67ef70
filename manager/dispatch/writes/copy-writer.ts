import type { ConfigMap, DeepReadonly, Namespace, ObjectKey, Unsaved, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { podIdentity } from '../../../shared/api/copy-identity.ts';
import { logTailsName } from '../../../shared/api/log-tails.ts';
import { DISPATCH_EPOCH_ANNOTATION, MANAGER_FIELD_MANAGER, ORIGIN_LABEL, RESUMED_FROM_ANNOTATION } from '../../../shared/api/names.ts';
import { CONFIG_MAPS, NAMESPACES, PODS, UNENDED_PODS } from '../../../shared/api/resources.ts';
import { ApiError, isAlreadyExists, isConflict, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import type { Patch } from '../../../shared/kube/client.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import { refusalOf, type DispatchProblem } from '../../api/refusals.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { copyIdentity, marksFor, marksOf, missingMarks, otherManager, type CopyMarks } from '../../work-kind/copy-marks.ts';
import type { RemoteAction } from '../decisions/mirror-plan.ts';
import { CARRY_DONE } from '../companions/carry-mark.ts';
import type { Companion } from '../companions/plan-companions.ts';
import { writeCompanions } from '../companions/write-companions.ts';
import type { LeasedClient } from '../lease/leased-writes.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { NamespacePolicy } from './namespace-policy.ts';
import { copyOfOther, DispatchRefused, jobOfOther, namespaceMissing, podsUnseen, problemOf } from './write-refusals.ts';

/** Writes to one worker cluster. Each method is safe to repeat and touches only objects of this manager. */
export interface CopyWriter {
  /**
   * Creates the copy, in the namespace of its original and nowhere else. An existing copy counts as created. While an earlier create is
   * unanswered (`mayBeMadeYet`), no refusal is final. Where the name may not be read either, a refusal is final only for the first create
   * that was ever sent (`isFirst`).
   */
  create(copy: Unsaved<WorkObject>, options: CreateOptions): Promise<WorkObject>;
  /**
   * Restores the marks that identify a copy on this version of it; 409 when the copy has changed meanwhile. The cluster may drop or refuse
   * them: returns the copy as the cluster has it.
   */
  mark(copy: WorkObject, marks: CopyMarks): Promise<WorkObject>;
  /** The Job of this name now, whether it is a copy or not. */
  find(key: ObjectKey): Promise<WorkObject | undefined>;
  /** Names of the first pods of this copy that have not ended. The copy itself may be gone: a user can delete it and orphan its pods. */
  runningPods(copy: ObjectKey, originUid: string): Promise<readonly string[]>;
  /** Writes the objects that a copy takes along, and marks the copy so. */
  carry(copy: DeepReadonly<WorkObject>, companions: readonly Companion[]): Promise<WorkObject>;
  update(copy: DeepReadonly<WorkObject>, spec: Record<string, unknown>, annotations?: Record<string, string | null>): Promise<WorkObject>;
  /** Writes finished work to the status of this version of a suspended copy; 409 when its Job controller has written to it meanwhile. */
  seed(copy: DeepReadonly<WorkObject>, work: WorkStatus): Promise<WorkObject>;
  /** Sets the condition Suspended of this version of the copy to False; 409 when its Job controller has written to it meanwhile. */
  takeBackSuspended(copy: DeepReadonly<WorkObject>): Promise<WorkObject>;
  /** Carries out {@link seed} or {@link takeBackSuspended}. */
  writeStatus(action: StatusAction): Promise<WorkObject>;
  /** The log tails that the worker keeps of the copy's pods; undefined where there is none. */
  tails(copy: DeepReadonly<WorkObject>): Promise<ConfigMap | undefined>;
  /** Deletes this object by its UID: `Foreground` keeps it until its pods are gone, `Background` does not. */
  delete(copy: DeepReadonly<WorkObject>, propagationPolicy: 'Foreground' | 'Background'): Promise<void>;
}

export type CreateOptions = { readonly mayBeMadeYet: boolean; readonly isFirst: boolean };

/** A write to the status of a suspended copy. */
type StatusAction = Extract<RemoteAction, { readonly kind: 'Seed' | 'TakeBackSuspended' }>;

/** Timeout of one write. */
const WRITE_TIMEOUT_MS = 15_000;
/** Page size of pod lists. */
const PODS_PAGE = 50;
/** Bounds the list of pods: a cluster could return pages without end, none with a pod of the copy. */
const PODS_PAGES_MAX = 200;
/** Attempts to mark a copy when its version keeps changing. */
const MARK_TRIES = 5;
/** Timeout of reading log tails: a copy does not wait longer for them. */
const TAILS_TIMEOUT_MS = 2_000;

type CopyWriterOptions = {
  readonly kind: WorkKind;
  readonly cluster: string;
  readonly client: LeasedClient;
  /** Id of this manager. */
  readonly origin: string;
  readonly namespaces: NamespacePolicy;
  /** Where the worker's Lease is, and the ends of logs are with it. */
  readonly leaseNamespace: () => string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

export function createCopyWriter(options: CopyWriterOptions): CopyWriter {
  return new ClusterCopyWriter(options);
}

const fieldManager = MANAGER_FIELD_MANAGER;

class ClusterCopyWriter implements CopyWriter {
  readonly #options: CopyWriterOptions;
  readonly #kind: WorkKind;
  readonly #cluster: string;
  readonly #client: LeasedClient;

  constructor(options: CopyWriterOptions) {
    this.#options = options;
    this.#kind = options.kind;
    this.#cluster = options.cluster;
    this.#client = options.client;
  }

  async create(copy: Unsaved<WorkObject>, options: CreateOptions): Promise<WorkObject> {
    try {
      return await this.#marked(await this.#post(copy), marksOf(copy));
    } catch (error) {
      const problem = problemOf(this.#cluster, error);
      if (problem !== undefined || isAlreadyExists(error)) return this.#afterRefusal(copy, problem, error, options);
      throw error;
    }
  }

  async #post(copy: Unsaved<WorkObject>): Promise<WorkObject> {
    const { namespaces } = this.#options;
    const create = (): Promise<WorkObject> =>
      this.#timed((signal) => this.#client.create(this.#kind.resource, copy, { fieldManager, fieldValidation: 'Strict', signal }));
    try {
      return await create();
    } catch (error) {
      if (!isNamespaceMissing(error)) throw error;
      if (namespaces.kind === 'Require') throw new DispatchRefused(namespaceMissing(this.#cluster, copy.metadata.namespace ?? ''), error);
    }
    await this.#createNamespace(copy, namespaces.labelsOf);
    return create();
  }

  async #createNamespace(copy: Unsaved<WorkObject>, labelsOf: (namespace: string) => Readonly<Record<string, string>>): Promise<void> {
    const name = copy.metadata.namespace ?? '';
    const labels = { ...labelsOf(name), [ORIGIN_LABEL]: copy.metadata.labels?.[ORIGIN_LABEL] ?? '' };
    const namespace: Unsaved<Namespace> = { metadata: { name, labels } };
    try {
      await this.#timed((signal) => this.#client.create(NAMESPACES, namespace, { fieldManager, signal }));
    } catch (error) {
      if (isAlreadyExists(error)) return;
      if (!isForbidden(error)) throw error;
      const message = `namespace "${name}" does not exist on cluster "${this.#cluster}" and may not be created there: ${sanitizeText(error.message)}`;
      throw new DispatchRefused({ reason: DispatchedReason.NamespaceMissing, message }, error);
    }
  }

  /**
   * The cluster refused the create. A copy may exist all the same: an earlier create may have succeeded unanswered, or may still succeed.
   * The refusal is final only when neither is possible.
   */
  async #afterRefusal(
    copy: Unsaved<WorkObject>,
    problem: DispatchProblem | undefined,
    cause: unknown,
    { mayBeMadeYet, isFirst }: CreateOptions,
  ): Promise<WorkObject> {
    const key = { namespace: copy.metadata.namespace ?? '', name: copy.metadata.name ?? '' };
    const present = await this.find(key).catch((error: unknown) => {
      if (problem === undefined) throw error;
      throw new DispatchRefused(isFirst && isForbidden(error) ? refusalOf(epochOf(copy), problem) : problem, cause);
    });
    const { origin } = this.#options;
    const { templateIdentity } = this.#kind.copies;
    const identity = present && copyIdentity(present, templateIdentity);
    const wanted = copyIdentity(copy, templateIdentity);
    if (present !== undefined && identity !== undefined && identity.originUid === wanted?.originUid) {
      const other = otherManager(present, origin, templateIdentity);
      if (other !== undefined) throw new DispatchRefused(copyOfOther(this.#cluster, other, origin), cause);
      const known = await this.#marked(present, marksFor(identity, origin, present.metadata));
      if (identity.epoch === wanted.epoch) return known;
      const message = `cluster "${this.#cluster}" has a copy of another placement`;
      throw new DispatchRefused({ reason: DispatchedReason.NameTaken, message }, cause);
    }
    const told = present === undefined ? problem : jobOfOther(this.#cluster);
    if (told === undefined) throw cause;
    throw new DispatchRefused(mayBeMadeYet ? told : refusalOf(epochOf(copy), told), cause);
  }

  /** Restores marks that a webhook dropped or a user removed, with retries while the Job controller writes. */
  async #marked(present: WorkObject, marks: CopyMarks, tries = MARK_TRIES): Promise<WorkObject> {
    if (missingMarks(present.metadata, marks).length === 0) return present;
    try {
      return await this.mark(present, marks);
    } catch (error) {
      const now = isConflict(error) && tries > 1 ? await this.find(objectKey(present)) : undefined;
      if (
        now?.metadata.uid !== present.metadata.uid ||
        otherManager(now, this.#options.origin, this.#kind.copies.templateIdentity) !== undefined
      )
        throw error;
      return this.#marked(now, marks, tries - 1);
    }
  }

  async mark(copy: WorkObject, { labels, annotations }: CopyMarks): Promise<WorkObject> {
    const { uid, resourceVersion } = copy.metadata;
    try {
      return await this.#timed((signal) => this.#patch(copy, { metadata: { uid, resourceVersion, labels, annotations } }, signal));
    } catch (error) {
      if (problemOf(this.#cluster, error) === undefined || isNotFound(error)) throw error;
      return copy;
    }
  }

  async find(key: ObjectKey): Promise<WorkObject | undefined> {
    try {
      return await this.#timed((signal) => this.#client.get(this.#kind.resource, key, { signal }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  carry(copy: DeepReadonly<WorkObject>, companions: readonly Companion[]): Promise<WorkObject> {
    return this.#timed(async (signal) => {
      const problem = await writeCompanions(this.#client, this.#cluster, this.#kind.resource, copy, companions, signal);
      if (problem !== undefined) throw new DispatchRefused(problem);
      return this.#patch(copy, { metadata: { uid: copy.metadata.uid, annotations: CARRY_DONE } }, signal);
    });
  }

  async update(
    copy: DeepReadonly<WorkObject>,
    spec: Record<string, unknown>,
    annotations?: Record<string, string | null>,
  ): Promise<WorkObject> {
    const { name, uid, resourceVersion } = copy.metadata;
    // Whether a copy that is resumed here and suspended again rests is judged from its present version (copy-rest.ts).
    const condition = this.#kind.of(name).copies.resumes(spec) ? { resourceVersion } : {};
    const body = { metadata: { uid, ...condition, ...omitUndefined({ annotations }) }, spec };
    try {
      return await this.#timed((signal) => this.#patch(copy, body, signal));
    } catch (error) {
      const problem = problemOf(this.#cluster, error);
      throw problem === undefined ? error : new DispatchRefused(problem, error);
    }
  }

  #patch(copy: DeepReadonly<WorkObject>, body: object, signal: AbortSignal): Promise<WorkObject> {
    return this.#client.patch(this.#kind.resource, objectKey(copy), { type: 'merge', body }, { fieldManager, signal });
  }

  async runningPods({ namespace, name }: ObjectKey, originUid: string): Promise<readonly string[]> {
    const kind = this.#kind.of(name);
    const labelSelector = kind.podsOf({ namespace, name });
    const selectors = { ...omitUndefined({ labelSelector }), fieldSelector: UNENDED_PODS };
    const isNamedByLabels = labelSelector !== undefined && kind !== this.#kind.of(undefined);
    let continueToken: string | undefined;
    for (let page = 0; page < PODS_PAGES_MAX; page++) {
      const options = { namespace, ...selectors, limit: PODS_PAGE, ...omitUndefined({ continueToken }) };
      const pods = await this.#timed((signal) => this.#client.list(PODS, { ...options, signal })).catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
        throw new DispatchRefused(podsUnseen(this.#cluster, namespace), error);
      });
      // Not every operator keeps the environment of a template in its pods.
      const own = pods.items.filter(({ spec }) => {
        const identity = podIdentity(spec);
        return identity === undefined ? isNamedByLabels : identity.originUid === originUid;
      });
      continueToken = pods.continueToken;
      if (own.length > 0 || continueToken === undefined || continueToken === '') return own.map((pod) => pod.metadata.name);
    }
    throw new Error(`cluster "${this.#cluster}" lists more pods of Job ${namespace}/${name} than can be`);
  }

  writeStatus(action: StatusAction): Promise<WorkObject> {
    return action.kind === 'Seed' ? this.seed(action.copy, action.status) : this.takeBackSuspended(action.copy);
  }

  async seed(copy: DeepReadonly<WorkObject>, work: WorkStatus): Promise<WorkObject> {
    const { uid, resourceVersion } = copy.metadata;
    const body = { metadata: { uid, resourceVersion }, status: work };
    const seeded = await this.#patchStatus(
      copy,
      { type: 'merge', body },
      `cluster "${this.#cluster}" does not let the Job go on with what it has finished elsewhere`,
    );
    const dropped = Object.entries(work).find(([field, value]) => value !== '' && seeded.status?.[field] !== value);
    if (dropped === undefined) return seeded;
    const message = `cluster "${this.#cluster}" does not keep what the Job has finished elsewhere: its API server drops status.${dropped[0]}`;
    throw new DispatchRefused({ reason: DispatchedReason.Refused, message });
  }

  /**
   * A Job controller that sees the suspension sets the condition again once the pods are told to end; a write of it to an earlier version
   * meets a conflict. The annotation of the resumption is removed: the condition that follows may have the same second as the one before.
   */
  async takeBackSuspended(copy: DeepReadonly<WorkObject>): Promise<WorkObject> {
    const { name, uid, resourceVersion } = copy.metadata;
    const now = toWireTime(this.#options.clock.now());
    const times = { lastProbeTime: now, lastTransitionTime: now };
    const type = this.#kind.of(name).copies.suspendedCondition;
    const resumed = { type, status: 'False', reason: 'JobResumed', message: 'Job resumed', ...times };
    const metadata = { uid, resourceVersion, annotations: { [RESUMED_FROM_ANNOTATION]: null } };
    const body = { metadata, status: { conditions: [resumed] } };
    const asked = `cluster "${this.#cluster}" does not let its Job controller be asked whether it has seen that the Job is suspended`;
    return this.#patchStatus(copy, { type: 'strategic', body }, asked);
  }

  /** `refused`: what a refusal means. */
  async #patchStatus(copy: DeepReadonly<WorkObject>, patch: Patch, refused: string): Promise<WorkObject> {
    try {
      return await this.#timed((signal) => this.#client.patchStatus(this.#kind.resource, objectKey(copy), patch, { fieldManager, signal }));
    } catch (error) {
      const problem = problemOf(this.#cluster, error);
      if (problem === undefined || isNotFound(error)) throw error;
      const remedy = isForbidden(error) ? ' (the manager needs the verb patch on jobs/status there)' : '';
      const said = sanitizeText(error instanceof Error ? error.message : '');
      throw new DispatchRefused({ reason: problem.reason, message: `${refused}: ${said}${remedy}` }, error);
    }
  }

  tails({ metadata: { namespace, uid } }: DeepReadonly<WorkObject>): Promise<ConfigMap | undefined> {
    const { clock, signal: stopped, leaseNamespace } = this.#options;
    const name = logTailsName(uid);
    return withDeadline(clock, TAILS_TIMEOUT_MS, stopped, async (signal) => {
      const read = async (where: string): Promise<ConfigMap | ApiError> => {
        try {
          return await this.#client.get(CONFIG_MAPS, { namespace: where, name }, { signal });
        } catch (error) {
          if (isNotFound(error) || isForbidden(error)) return error;
          throw error;
        }
      };
      const kept = await read(leaseNamespace());
      if (!(kept instanceof ApiError)) return kept;
      // A worker of an earlier release puts them beside the copy, and so does one that has such a manager. Rights there end with these.
      const beside = await read(namespace);
      if (!(beside instanceof ApiError)) return beside;
      if (isForbidden(kept)) throw kept;
      return undefined;
    });
  }

  async delete(copy: DeepReadonly<WorkObject>, propagationPolicy: 'Foreground' | 'Background'): Promise<void> {
    const { uid } = copy.metadata;
    try {
      await this.#timed((signal) => this.#client.delete(this.#kind.resource, objectKey(copy), { propagationPolicy, uid, signal }));
    } catch (error) {
      // The copy is gone, or another object has its name.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #timed<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(this.#options.clock, WRITE_TIMEOUT_MS, this.#options.signal, call);
  }
}

const epochOf = ({ metadata }: Unsaved<WorkObject>): number => Number(metadata.annotations?.[DISPATCH_EPOCH_ANNOTATION]);

const isNamespaceMissing = (error: unknown): boolean => isNotFound(error) && error.status.details?.kind === 'namespaces';
