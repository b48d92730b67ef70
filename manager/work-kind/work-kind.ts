import type { TemplateIdentity } from '../../shared/api/copy-identity.ts';
import type { FencedKind } from '../../shared/api/fenced-kinds.ts';
import type { DeepReadonly, JobCondition, ObjectKey, Unsaved, WorkObject, WorkStatus } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import type { FieldProblem } from '../api/field-problem.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { NeededObject } from '../api/needed-objects.ts';
import type { PodReference } from '../api/pod-references.ts';
import type { SwitchyardCondition } from '../api/reasons.ts';
import type { AdmissionRecord } from '../api/records.ts';
import type { WorkKindSpec } from '../api/work-kind.ts';
import type { CopyOptions } from './copy-options.ts';
import type { PodSet } from './pod-sets.ts';

/**
 * The kinds of work: how an object is suspended, which pods it asks for, how far it is, what its copies carry and which status comes home.
 * Admission and dispatch read the metadata and conditions of an object themselves, and ask its kind for all else. Every question names the
 * object, so that one kind and several ({@link SingleKind}, `kinds.ts`) are asked alike. `O` is the type of its objects, for code that
 * knows one kind only.
 */
export interface WorkKind<O extends WorkObject = WorkObject> {
  /** The kind of the object of this name, as the manager knows it (`qualified-name.ts`). */
  of(name: string | undefined): SingleKind<O>;
  /** The kinds beside Jobs; empty for one kind alone. */
  readonly others: readonly SingleKind[];
  readonly resource: Resource<O>;
  /** The controller that the object names; undefined: the built-in one of its kind. */
  controllerOf(object: DeepReadonly<Unsaved<WorkObject>>): string | undefined;
  isSuspended(object: DeepReadonly<Unsaved<WorkObject>>): boolean;
  /** The object with this manager as its controller, and suspended. */
  prepared<P extends Unsaved<WorkObject>>(object: P): P;
  /** The operations of a JSON patch by which an object becomes as {@link prepared}. */
  preparation(object: DeepReadonly<Unsaved<WorkObject>>): readonly object[];
  /** Why an object is refused, whatever the quota. */
  ruleProblems(object: DeepReadonly<Unsaved<WorkObject>>, rules: JobRules): readonly FieldProblem[];

  podSets(object: DeepReadonly<Unsaved<WorkObject>>): readonly PodSet[];
  /** The most pods at once, whatever is finished: the bound of its record. */
  podsAtOnce(object: DeepReadonly<Pick<WorkObject, 'spec'> & Named>): number;
  /**
   * The most pods that may still exist at once, where its pod sets do not say what is finished. `admittedPods`: the number of pods in its
   * record, of an admitted object.
   */
  podsNeeded(object: DeepReadonly<WorkObject>, admittedPods: number | undefined): number;
  /**
   * How many pods must be ready for the object to have started: pods that are not admitted, or whose work is done by its status or `told`,
   * are not needed.
   */
  readyPodsNeeded(object: DeepReadonly<WorkObject>, admittedPods: number | undefined, told?: DeepReadonly<WorkStatus>): number;
  /** The object with no more pods at once than its record admits. */
  admittedPart(object: DeepReadonly<WorkObject>, record: AdmittedPods): DeepReadonly<WorkObject>;
  /** The longest termination grace period of its pods, in seconds. */
  graceSeconds(object: DeepReadonly<WorkObject>): number;
  /** How long it may be active, in seconds, where it says so. */
  deadlineSeconds(object: DeepReadonly<WorkObject>): number | undefined;
  /** How long after its end it is deleted, in seconds; undefined: it stays. */
  ttlSeconds(object: DeepReadonly<WorkObject>): number | undefined;
  /** A digest of its pods, without their commands, arguments and environment. */
  programOf(object: DeepReadonly<WorkObject>): string;
  /** Why its pods cannot have a pod fence; undefined: they can. */
  podFenceProblem(object: DeepReadonly<Unsaved<WorkObject>>): FieldProblem | undefined;
  /** The ConfigMaps and Secrets of its namespace that its pods refer to, each once. */
  references(object: DeepReadonly<Unsaved<WorkObject>>): readonly PodReference[];
  /** The objects of its namespace that its pods need and that never travel with it, each once. */
  needs(object: DeepReadonly<Unsaved<WorkObject>>): readonly NeededObject[];
  /** The label selector of its pods, by which their logs are found; undefined where it names none. */
  podSelector(object: DeepReadonly<WorkObject>): string | undefined;

  progress(object: DeepReadonly<Pick<WorkObject, 'status'> & Named>): Progress;

  readonly cache: CachedForm<O>;
  readonly copies: CopyRules;
  readonly home: HomeStatusRules;
}

/** One kind, which also answers where there is no object to name. */
export interface SingleKind<O extends WorkObject = WorkObject> extends WorkKind<O> {
  /** Where a description says that its objects keep these fields; undefined: where a Job does. */
  readonly fields: Pick<WorkKindSpec, 'suspend' | 'managedBy'> | undefined;
  /** The description that it was made of, by which another thread can make it; absent: none. */
  readonly described?: WorkKindSpec;
  /** The fields of a patch that suspends or releases an object. */
  suspension(suspend: boolean): Record<string, unknown>;
  /** Why a value is no spec of this kind, as far as the manager reads it; empty where it is one. */
  readonly specProblems: (spec: unknown) => readonly FieldProblem[];
  podsAtOnce(object: DeepReadonly<Pick<WorkObject, 'spec'>>): number;
  progress(object: DeepReadonly<Pick<WorkObject, 'status'>>): Progress;
  readonly copies: SingleCopyRules;
  readonly home: SingleHomeRules;
  /** The label selector of the pods of a copy that may be gone, by its key; undefined: their labels are not known. */
  podsOf(copy: ObjectKey): string | undefined;
  /**
   * How copies of this kind are stopped when the manager is out of reach. Always: every worker does it. None: nothing does. Else a worker
   * that announces it, with what it has to know.
   */
  readonly fence: 'Always' | 'None' | FencedKind;
}

/** How many pods a record admits, where that is fewer than all. */
export type AdmittedPods = Pick<AdmissionRecord, 'parallelism' | 'podSets'>;

type Named = { readonly metadata: { readonly name?: string } };

/** How far an object is, by its status. */
export type Progress = {
  /** RFC 3339; undefined while its controller has not started it. */
  readonly startTime: string | undefined;
  readonly completionTime: string | undefined;
  readonly active: number;
  readonly terminating: number;
  /** Where the API server does not count ready pods: active ones. */
  readonly ready: number;
  readonly succeeded: number;
  readonly failed: number;
};

/** The form in which the manager cluster's cache keeps objects. */
export interface CachedForm<O extends WorkObject = WorkObject> {
  /** All of an object, of which its copy is created. The object may be changed. */
  whole(object: O): O;
  /** The fields that decisions read. `usersLabelsMax`: the number of users' labels that are kept. `problem`: why it is refused. */
  compact(object: O, options?: { readonly problem?: string; readonly usersLabelsMax?: number }): O;
  /** An object of another controller, of which nothing is read. */
  identity(object: O): O;
  /** Why an object is refused, as found when it was cached. */
  problem(object: DeepReadonly<WorkObject>): string | undefined;
}

/** Copies on worker clusters: what they carry, and when they rest. */
export interface CopyRules {
  /** The copy to create of an object. */
  of(local: DeepReadonly<WorkObject>, options: CopyOptions): Unsaved<WorkObject>;
  /** The fields of a copy that decisions read, each of the right type, whatever the cluster returns. */
  essentials(copy: WorkObject, besideOriginal: boolean): WorkObject;
  /** Whose copy an object is by its pod templates, as its API server returns it; undefined where they do not say. */
  readonly templateIdentity: (object: DeepReadonly<Unsaved<WorkObject>>) => TemplateIdentity | undefined;
  /** Of an object that is no copy only its existence. */
  unrelated(object: WorkObject): WorkObject;
  /** The change of `spec` by which a copy follows its original, as the body of a merge patch; undefined where there is none. */
  change(copy: DeepReadonly<WorkObject>, wanted: Unsaved<WorkObject>, suspend: boolean): Record<string, unknown> | undefined;
  /** The copy was suspended by its worker because the manager was out of reach: the worker resumes it by itself. */
  isFenced(copy: DeepReadonly<WorkObject>): boolean;
  /** A copy that is to be created suspended. */
  suspended(copy: Unsaved<WorkObject>): Unsaved<WorkObject>;
  /** The copy with other names of ConfigMaps and Secrets in its pods; a name that `nameOf` does not know stays. */
  withReferences(copy: Unsaved<WorkObject>, nameOf: (reference: PodReference) => string | undefined): Unsaved<WorkObject>;
  /** The copy was sent with a controller, and lacks it. */
  hasLostController(copy: DeepReadonly<WorkObject>): boolean;
  /** The copy has lost its controller, or has not begun and another controller runs copies there now. */
  hasOtherController(copy: DeepReadonly<WorkObject>, controller: string | undefined): boolean;
  /** The fields that an API server has dropped of what was sent, by its answer to the create, or by a copy that may have changed since. */
  droppedFields(sent: DeepReadonly<Unsaved<WorkObject>>, kept: DeepReadonly<WorkObject>): string[];
  /** No pod of the copy runs, and none will unless the copy is resumed. */
  isAtRest(copy: DeepReadonly<WorkObject>): boolean;
  /** Its controller has not reported a start. */
  isUnbegun(copy: DeepReadonly<WorkObject>): boolean;
  /** A copy was resumed and suspended again, and its controller has not noticed. */
  isResumeUnseen(copy: DeepReadonly<WorkObject>): boolean;
  /** The annotations of a resume, by which {@link isResumeUnseen} is found. */
  resumption(copy: DeepReadonly<WorkObject>): Record<string, string>;
  /** A suspended copy has its verdict, and its cluster cannot end it. */
  isJudgedAtRest(copy: DeepReadonly<WorkObject>): boolean;
  /** Pods are wanted, and by its status none of them is or was ready. */
  isWaitingToStart(copy: DeepReadonly<WorkObject>): boolean;
  /** The status of a copy as far as it is believed: less of one that is being deleted. */
  believed(copy: DeepReadonly<WorkObject>, local: DeepReadonly<WorkObject>): DeepReadonly<WorkStatus> | undefined;
}

/** {@link CopyRules} of one kind. */
export interface SingleCopyRules extends CopyRules {
  /** The type of the condition that says that a copy is suspended. */
  readonly suspendedCondition: string;
  /** A change that releases the copy. */
  resumes(change: Record<string, unknown>): boolean;
  /** A change that an API server may allow only to a copy that rests. */
  changesPods(change: Record<string, unknown> | undefined): boolean;
  /**
   * The copy has other numbers of pods, or pods for other nodes, than the wanted one of this admission, and no change of it gives it those.
   */
  hasOtherPods(copy: DeepReadonly<WorkObject>, wanted: DeepReadonly<Unsaved<WorkObject>>): boolean;
}

/** Which status comes home, and what of the finished work a new copy gets. */
export interface HomeStatusRules {
  /** The end is certain, though pods may still be terminating. */
  hasVerdict(object: DeepReadonly<Pick<WorkObject, 'status'> & Named>): boolean;
  /** The status of an object, from the status of its copy; `remote` is undefined where there is no copy. */
  of(input: HomeStatusInput): WorkStatus;
  /** The status of an object that this manager fails, while no pod of it runs. */
  failed(
    local: DeepReadonly<WorkObject>,
    told: DeepReadonly<WorkStatus> | undefined,
    why: { readonly reason: string; readonly message: string },
    own: readonly OwnCondition[],
    nowMs: number,
  ): WorkStatus;
  /** The status of an object whose verdict is known at home while its copy is gone. */
  carryOutVerdict(local: DeepReadonly<WorkObject>, nowMs: number): WorkStatus;
  /** The status of a copy at rest, with all that it has not counted yet. */
  counted(status: DeepReadonly<WorkStatus> | undefined, local: DeepReadonly<WorkObject>): DeepReadonly<WorkStatus> | undefined;
  /** An object as it is once it is suspended and nothing of it runs, with these conditions. */
  rested(object: DeepReadonly<WorkObject>, conditions: readonly DeepReadonly<JobCondition>[]): DeepReadonly<WorkObject>;
  /** The finished work that a suspended copy lacks, as a status; undefined: none. */
  seedFor(copy: DeepReadonly<WorkObject>, local: DeepReadonly<WorkObject>): WorkStatus | undefined;
  /** The object has finished work that a new copy is to get before it runs. */
  hasFinishedWork(local: DeepReadonly<WorkObject>): boolean;
}

/** {@link HomeStatusRules} of one kind. */
export interface SingleHomeRules extends HomeStatusRules {
  /** How a status is stored: where the kind has no conditions, they are in annotations. */
  stored(status: DeepReadonly<WorkStatus>): StoredStatus;
  hasVerdict(object: DeepReadonly<Pick<WorkObject, 'status'>>): boolean;
  /** A status with its verdict carried out. */
  withTerminal(status: DeepReadonly<WorkStatus> | undefined, nowMs: number): DeepReadonly<WorkStatus> | undefined;
  /** A status of which no pod runs any more, though its cluster could not report so. */
  withoutPods(status: DeepReadonly<WorkStatus> | undefined, nowMs: number): WorkStatus;
  /** The changes of a status that are not worth a write of their own. */
  isMinor(patch: Record<string, unknown>): boolean;
  /** The conditions by which kubectl shows a waiting object as suspended, where its controller never will. */
  suspendedConditions(time: string): readonly JobCondition[];
}

/** The inputs of an object's status on the manager cluster. */
export type HomeStatusInput<O extends WorkObject = WorkObject> = {
  readonly local: DeepReadonly<O>;
  /** Status of the copy; undefined when there is no copy, so that no pod runs. */
  readonly remote: DeepReadonly<O['status']> | undefined;
  /** Conditions of Switchyard to set; those that the object already has stay. */
  readonly own: readonly OwnCondition[];
  /** Epoch milliseconds. */
  readonly nowMs: number;
};

/** `annotations`: absent where the status holds all. An API server stores them by a write of their own: not with the status. */
export type StoredStatus = { readonly status: DeepReadonly<WorkStatus>; readonly annotations?: Readonly<Record<string, string>> };

export type OwnCondition = {
  readonly type: SwitchyardCondition;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
};
