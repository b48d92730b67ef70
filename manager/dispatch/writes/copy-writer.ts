import type { ConfigMap, DeepReadonly, Namespace, ObjectKey, Unsaved, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { podIdentity } from '../../../shared/api/copy-identity.ts';
import { logTailsName } from '../../../shared/api/log-tails.ts';
import { DISPATCH_EPOCH_ANNOTATION, MANAGER_FIELD_MANAGER, ORIGIN_LABEL, RESUMED_FROM_ANNOTATION } from '../../../shared/api/names.ts';
import { CONFIG_MAPS, NAMESPACES, PODS, UNENDED_PODS } from '../../../shared/api/resources.ts';
import { ApiError, isAlreadyExists, isConflict, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
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

/** The cluster refused the write. The Job reports the problem. */
export class DispatchRefused extends Error {
  override readonly name = 'DispatchRefused';
  readonly problem: DispatchProblem;

  constructor(problem: DispatchProblem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

/** What to do when the namespace is missing on the cluster: refuse the Job, or create the namespace with these labels. */
export type NamespacePolicy =
  | { readonly kind: 'Require' }
  | { readonly kind: 'Create'; readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> };

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

export function createCopyWriter(options: {
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
}): CopyWriter {
  const { kind, cluster, client, origin, namespaces, leaseNamespace, clock } = options;
  const timed = <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => withDeadline(clock, WRITE_TIMEOUT_MS, options.signal, call);
  const fieldManager = MANAGER_FIELD_MANAGER;

  async function create(copy: Unsaved<WorkObject>, options: CreateOptions): Promise<WorkObject> {
    try {
      return await marked(await post(copy), marksOf(copy));
    } catch (error) {
      const problem = problemOf(error);
      if (problem !== undefined || isAlreadyExists(error)) return afterRefusal(copy, problem, error, options);
      throw error;
    }
  }

  async function post(copy: Unsaved<WorkObject>): Promise<WorkObject> {
    const create = (): Promise<WorkObject> =>
      timed((signal) => client.create(kind.resource, copy, { fieldManager, fieldValidation: 'Strict', signal }));
    try {
      return await create();
    } catch (error) {
      if (!isNamespaceMissing(error)) throw error;
      if (namespaces.kind === 'Require') throw namespaceMissing(copy, error);
    }
    await createNamespace(copy, namespaces.labelsOf);
    return create();
  }

  /**
   * The cluster refused the create. A copy may exist all the same: an earlier create may have succeeded unanswered, or may still succeed.
   * The refusal is final only when neither is possible.
   */
  async function afterRefusal(
    copy: Unsaved<WorkObject>,
    problem: DispatchProblem | undefined,
    cause: unknown,
    { mayBeMadeYet, isFirst }: CreateOptions,
  ): Promise<WorkObject> {
    const present = await find({ namespace: copy.metadata.namespace ?? '', name: copy.metadata.name ?? '' }).catch((error: unknown) => {
      if (problem === undefined) throw error;
      throw new DispatchRefused(isFirst && isForbidden(error) ? refusalOf(epochOf(copy), problem) : problem, cause);
    });
    const { templateIdentity } = kind.copies;
    const identity = present && copyIdentity(present, templateIdentity);
    const wanted = copyIdentity(copy, templateIdentity);
    if (present !== undefined && identity !== undefined && identity.originUid === wanted?.originUid) {
      const other = otherManager(present, origin, templateIdentity);
      if (other !== undefined) throw new DispatchRefused(copyOfOther(cluster, other, origin), cause);
      const known = await marked(present, marksFor(identity, origin, present.metadata));
      if (identity.epoch === wanted.epoch) return known;
      throw new DispatchRefused(
        { reason: DispatchedReason.NameTaken, message: `cluster "${cluster}" has a copy of another placement` },
        cause,
      );
    }
    const told = present === undefined ? problem : nameTaken;
    if (told === undefined) throw cause;
    throw new DispatchRefused(mayBeMadeYet ? told : refusalOf(epochOf(copy), told), cause);
  }

  /** Restores marks that a webhook dropped or a user removed, with retries while the Job controller writes. */
  async function marked(present: WorkObject, marks: CopyMarks, tries = MARK_TRIES): Promise<WorkObject> {
    if (missingMarks(present.metadata, marks).length === 0) return present;
    try {
      return await mark(present, marks);
    } catch (error) {
      const now = isConflict(error) && tries > 1 ? await find(objectKey(present)) : undefined;
      if (now?.metadata.uid !== present.metadata.uid || otherManager(now, origin, kind.copies.templateIdentity) !== undefined) throw error;
      return marked(now, marks, tries - 1);
    }
  }

  async function mark(copy: WorkObject, { labels, annotations }: CopyMarks): Promise<WorkObject> {
    const { uid, resourceVersion } = copy.metadata;
    const body = { metadata: { uid, resourceVersion, labels, annotations } };
    try {
      return await timed((signal) => client.patch(kind.resource, objectKey(copy), { type: 'merge', body }, { fieldManager, signal }));
    } catch (error) {
      if (problemOf(error) === undefined || isNotFound(error)) throw error;
      return copy;
    }
  }

  const nameTaken: DispatchProblem = {
    reason: DispatchedReason.NameTaken,
    message: `cluster "${cluster}" has a Job of this name that is not ours; rename one of the two, or delete that Job`,
  };

  function namespaceMissing(copy: Unsaved<WorkObject>, cause: unknown): DispatchRefused {
    const name = copy.metadata.namespace ?? '';
    const remedy = `create it there, or set namespaces: Create in the WorkerCluster`;
    const message = `namespace "${name}" does not exist on cluster "${cluster}"; ${remedy}`;
    return new DispatchRefused({ reason: DispatchedReason.NamespaceMissing, message }, cause);
  }

  async function createNamespace(
    copy: Unsaved<WorkObject>,
    labelsOf: (namespace: string) => Readonly<Record<string, string>>,
  ): Promise<void> {
    const name = copy.metadata.namespace ?? '';
    const labels = { ...labelsOf(name), [ORIGIN_LABEL]: copy.metadata.labels?.[ORIGIN_LABEL] ?? '' };
    const namespace: Unsaved<Namespace> = { metadata: { name, labels } };
    try {
      await timed((signal) => client.create(NAMESPACES, namespace, { fieldManager, signal }));
    } catch (error) {
      if (isAlreadyExists(error)) return;
      if (!isForbidden(error)) throw error;
      const message = `namespace "${name}" does not exist on cluster "${cluster}" and may not be created there: ${sanitizeText(error.message)}`;
      throw new DispatchRefused({ reason: DispatchedReason.NamespaceMissing, message }, error);
    }
  }

  /** An answer that stays the same on retry is a refusal; a failure of the cluster is not. */
  function problemOf(error: unknown): DispatchProblem | undefined {
    if (error instanceof DispatchRefused) return error.problem;
    if (!(error instanceof ApiError) || error.code < 400 || error.code >= 500 || [401, 408, 409, 429].includes(error.code))
      return undefined;
    const said = sanitizeText(error.message);
    if (error.code === 400 && said.includes('strict decoding error')) {
      const message = `cluster "${cluster}" does not know fields of the Job; leave them out, or bring that cluster to a version that has them: ${said}`;
      return { reason: DispatchedReason.FieldsUnknown, message };
    }
    return { reason: DispatchedReason.Refused, message: `cluster "${cluster}" refused the Job: ${said}` };
  }

  async function find(key: ObjectKey): Promise<WorkObject | undefined> {
    try {
      return await timed((signal) => client.get(kind.resource, key, { signal }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  const carry = (copy: DeepReadonly<WorkObject>, companions: readonly Companion[]): Promise<WorkObject> =>
    timed(async (signal) => {
      const problem = await writeCompanions(client, cluster, kind.resource, copy, companions, signal);
      if (problem !== undefined) throw new DispatchRefused(problem);
      const body = { metadata: { uid: copy.metadata.uid, annotations: CARRY_DONE } };
      return client.patch(kind.resource, objectKey(copy), { type: 'merge', body }, { fieldManager, signal });
    });

  async function runningPods({ namespace, name }: ObjectKey, originUid: string): Promise<readonly string[]> {
    const labelSelector = kind.of(name).podsOf({ namespace, name });
    const selectors = { ...omitUndefined({ labelSelector }), fieldSelector: UNENDED_PODS };
    const isNamedByLabels = labelSelector !== undefined && kind.of(name) !== kind.of(undefined);
    let continueToken: string | undefined;
    for (let page = 0; page < PODS_PAGES_MAX; page++) {
      const options = { namespace, ...selectors, limit: PODS_PAGE, ...omitUndefined({ continueToken }) };
      const pods = await timed((signal) => client.list(PODS, { ...options, signal })).catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
        throw new DispatchRefused(podsUnseen(namespace), error);
      });
      // Not every operator keeps the environment of a template in its pods.
      const own = pods.items.filter(({ spec }) => {
        const identity = podIdentity(spec);
        return identity === undefined ? isNamedByLabels : identity.originUid === originUid;
      });
      continueToken = pods.continueToken;
      if (own.length > 0 || continueToken === undefined || continueToken === '') return own.map((pod) => pod.metadata.name);
    }
    throw new Error(`cluster "${cluster}" lists more pods of Job ${namespace}/${name} than can be`);
  }

  const podsUnseen = (namespace: string): DispatchProblem => ({
    reason: DispatchedReason.PodsRemain,
    message:
      `the copy on cluster "${cluster}" is gone, and whether pods of it are still there cannot be seen: let the manager list pods in namespace ` +
      `"${namespace}" there (chart switchyard-worker, managerAccess)`,
  });

  async function seed(copy: DeepReadonly<WorkObject>, work: WorkStatus): Promise<WorkObject> {
    const { uid, resourceVersion } = copy.metadata;
    const body = { metadata: { uid, resourceVersion }, status: work };
    let seeded: WorkObject;
    try {
      seeded = await timed((signal) =>
        client.patchStatus(kind.resource, objectKey(copy), { type: 'merge', body }, { fieldManager, signal }),
      );
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined || isNotFound(error)) throw error;
      const remedy = isForbidden(error) ? ' (the manager needs the verb patch on jobs/status there)' : '';
      const message = `cluster "${cluster}" does not let the Job go on with what it has finished elsewhere: ${(error as Error).message}${remedy}`;
      throw new DispatchRefused({ reason: problem.reason, message }, error);
    }
    const dropped = Object.entries(work).find(([field, value]) => value !== '' && seeded.status?.[field] !== value);
    if (dropped === undefined) return seeded;
    const message = `cluster "${cluster}" does not keep what the Job has finished elsewhere: its API server drops status.${dropped[0]}`;
    throw new DispatchRefused({ reason: DispatchedReason.Refused, message });
  }

  /**
   * A Job controller that sees the suspension sets the condition again once the pods are told to end; a write of it to an earlier version
   * meets a conflict. The annotation of the resumption is removed: the condition that follows may have the same second as the one before.
   */
  async function takeBackSuspended(copy: DeepReadonly<WorkObject>): Promise<WorkObject> {
    const { uid, resourceVersion } = copy.metadata;
    const now = toWireTime(clock.now());
    const times = { lastProbeTime: now, lastTransitionTime: now };
    const type = kind.of(copy.metadata.name).copies.suspendedCondition;
    const resumed = { type, status: 'False', reason: 'JobResumed', message: 'Job resumed', ...times };
    const metadata = { uid, resourceVersion, annotations: { [RESUMED_FROM_ANNOTATION]: null } };
    const body = { metadata, status: { conditions: [resumed] } };
    try {
      return await timed((signal) =>
        client.patchStatus(kind.resource, objectKey(copy), { type: 'strategic', body }, { fieldManager, signal }),
      );
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined || isNotFound(error)) throw error;
      const remedy = isForbidden(error) ? ' (the manager needs the verb patch on jobs/status there)' : '';
      const said = sanitizeText((error as Error).message);
      const message = `cluster "${cluster}" does not let its Job controller be asked whether it has seen that the Job is suspended: ${said}${remedy}`;
      throw new DispatchRefused({ reason: problem.reason, message }, error);
    }
  }

  return {
    create,
    mark,
    find,
    runningPods,
    carry,
    takeBackSuspended,
    writeStatus: (action) => (action.kind === 'Seed' ? seed(action.copy, action.status) : takeBackSuspended(action.copy)),
    update: (copy, spec, annotations) =>
      timed((signal) => {
        const { uid, resourceVersion } = copy.metadata;
        // Whether a copy that is resumed here and suspended again rests is judged from its present version (copy-rest.ts).
        const condition = kind.of(copy.metadata.name).copies.resumes(spec) ? { resourceVersion } : {};
        const body = { metadata: { uid, ...condition, ...omitUndefined({ annotations }) }, spec };
        return client.patch(kind.resource, objectKey(copy), { type: 'merge', body }, { fieldManager, signal });
      }).catch((error: unknown) => {
        const problem = problemOf(error);
        throw problem === undefined ? error : new DispatchRefused(problem, error);
      }),
    seed,
    async tails({ metadata: { namespace, uid } }) {
      const name = logTailsName(uid);
      return withDeadline(clock, TAILS_TIMEOUT_MS, options.signal, async (signal) => {
        const read = async (where: string): Promise<ConfigMap | ApiError> => {
          try {
            return await client.get(CONFIG_MAPS, { namespace: where, name }, { signal });
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
    },
    async delete(copy, propagationPolicy) {
      const { uid } = copy.metadata;
      try {
        await timed((signal) => client.delete(kind.resource, objectKey(copy), { propagationPolicy, uid, signal }));
      } catch (error) {
        // The copy is gone, or another object has its name.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
  };
}

const epochOf = ({ metadata }: Unsaved<WorkObject>): number => Number(metadata.annotations?.[DISPATCH_EPOCH_ANNOTATION]);

const isNamespaceMissing = (error: unknown): boolean => isNotFound(error) && error.status.details?.kind === 'namespaces';

/** Another manager may run there and take the copy for its own: only a user can resolve this. */
export const copyOfOther = (cluster: string, other: string, origin: string): DispatchProblem => ({
  reason: DispatchedReason.NameTaken,
  message:
    `the copy of this Job on cluster "${cluster}" says that manager "${sanitizeText(other)}" made it, and this manager is "${origin}": delete that Job there, ` +
    `or, where no manager of that id is and its label ${ORIGIN_LABEL} was changed, give it the value "${origin}"`,
});

/** The server has said whether the write was carried out. After a 5xx or a timeout the write may have been carried out. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof DispatchRefused || (error instanceof ApiError && error.code < 500 && error.code !== 408);
