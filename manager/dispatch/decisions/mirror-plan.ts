import type { DeepReadonly, Unsaved, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, FENCED_ANNOTATION } from '../../../shared/api/names.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { failureAnnotations } from '../mirror/failure-annotations.ts';
import { type Copy, isHeld, type MirrorGroup } from '../mirror/mirror-group.ts';
import { mergePatchBetween } from '../../api/json-diff.ts';
import { kubectlOperands, parseQualifiedName } from '../../work-kind/qualified-name.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';

/** What to do next for a Job. The two halves do not wait for each other: each relies on observed state alone. */
export type MirrorPlan = {
  readonly remote: readonly RemoteAction[];
  readonly home: HomeAction;
  /** Decide again after this time, even without an event. */
  readonly againAfterMs?: number;
  /** The copy of another Job has the name of this Job's copy. */
  readonly nameHeld?: boolean;
};

export type RemoteAction =
  | {
      readonly kind: 'Create';
      readonly cluster: string;
      readonly job: Unsaved<WorkObject>;
      /** The kinds of objects that the copy takes along: it is created suspended, and they are written once it has a UID. */
      readonly carry?: readonly CarriedKind[];
    }
  | {
      readonly kind: 'Update';
      readonly cluster: string;
      readonly copy: DeepReadonly<WorkObject>;
      readonly spec: Record<string, unknown>;
      /** The change lets the copy run. */
      readonly resumes: boolean;
      /** null: the annotation is removed. */
      readonly annotations?: Record<string, string | null>;
    }
  /** Writes the objects that a suspended copy takes along, where an earlier leader or attempt has not. */
  | { readonly kind: 'Carry'; readonly cluster: string; readonly copy: DeepReadonly<WorkObject>; readonly carry: readonly CarriedKind[] }
  /** Writes the finished work of the Job to a suspended copy. */
  | { readonly kind: 'Seed'; readonly cluster: string; readonly copy: DeepReadonly<WorkObject>; readonly status: WorkStatus }
  /** Resets the condition Suspended from an earlier suspension, so that the Job controller sets it again once it has seen this one. */
  | { readonly kind: 'TakeBackSuspended'; readonly cluster: string; readonly copy: DeepReadonly<WorkObject> }
  /** Reads the object under the name of the copy, because the answer to a write was lost, or the copy is missing from the list. */
  | { readonly kind: 'Look'; readonly cluster: string; readonly name: string }
  | {
      readonly kind: 'Delete';
      readonly cluster: string;
      readonly copy: DeepReadonly<WorkObject>;
      /** Foreground where pods of the copy may run: the copy then exists for as long as they do. */
      readonly propagationPolicy: 'Foreground' | 'Background';
      /**
       * What the API server must confirm before the deletion, which cannot be undone, where the cache of Jobs may be stale. Gone: the
       * original does not exist. Older: its record precedes the placement of this copy, as after a restore from a backup.
       */
      readonly confirm: 'Gone' | 'Older' | undefined;
    };

export type HomeAction =
  | { readonly kind: 'None' }
  | {
      readonly kind: 'WriteStatus';
      readonly status: WorkStatus;
      /** The field `status` of a merge patch. */
      readonly patch: Record<string, unknown>;
      /** The new `metadata.finalizers`; absent: unchanged. The API server lets a status write change the metadata of a Job. */
      readonly finalizers?: readonly string[];
      /** Annotations to set; absent: none. */
      readonly annotations?: Readonly<Record<string, string>>;
      /** Write at once: the Job has ended. Other writes may be batched. */
      readonly urgent: boolean;
    }
  /** No copy is left: removes this manager's finalizer, which frees the quota of the Job. */
  | {
      readonly kind: 'Release';
      readonly finalizers: readonly string[];
      /** The field `status` of a merge patch, for a Job that other finalizers keep: its status must not report running pods for ever. */
      readonly patch?: Record<string, unknown>;
    };

const LISTED_MAX = 5;

export const listed = (names: readonly string[]): string => {
  const named = names.slice(0, LISTED_MAX).map((name) => `"${name}"`);
  return names.length > LISTED_MAX ? `${named.join(', ')} and ${names.length - LISTED_MAX} more` : named.join(', ');
};

export function howToGiveUp({ metadata }: DeepReadonly<WorkObject>): string {
  const what = kubectlOperands(metadata);
  // Strategic patches are for the kinds of Kubernetes itself.
  return parseQualifiedName(metadata.name).qualifier === undefined
    ? `To give it up: kubectl patch ${what} --field-manager switchyard-override ` +
        `-p '{"metadata":{"$deleteFromPrimitiveList/finalizers":["${COPIES_FINALIZER}"]}}'`
    : `To give it up, remove the finalizer ${COPIES_FINALIZER}: kubectl edit ${what} --field-manager switchyard-override`;
}

/** Why copies that are to be deleted still exist. */
export const troubleOn = ({ clusters }: MirrorGroup, copies: readonly Copy[]): DispatchProblem | undefined =>
  copies.map(({ cluster }) => clusters.get(cluster)?.trouble).find((trouble) => trouble !== undefined);

export const otherFinalizers = ({ metadata }: DeepReadonly<WorkObject>): string[] =>
  (metadata.finalizers ?? []).filter((finalizer) => finalizer !== COPIES_FINALIZER);

export const release = (local: DeepReadonly<WorkObject>): HomeAction =>
  isHeld(local) ? { kind: 'Release', finalizers: otherFinalizers(local) } : NOTHING;

export const NOTHING: HomeAction = { kind: 'None' };

export const deletions = (kind: SingleKind, copies: readonly Copy[], confirm?: 'Gone' | 'Older'): RemoteAction[] =>
  copies.flatMap(({ cluster, job, deleting }) => {
    if (deleting) return [];
    const propagationPolicy = kind.copies.isAtRest(job) ? 'Background' : 'Foreground';
    return [{ kind: 'Delete', cluster, copy: job, propagationPolicy, confirm }];
  });

/** The change of annotations by which a copy stays suspended: its worker resumes what it has suspended itself. undefined: there is none. */
export const withoutFence = (kind: SingleKind, copy: DeepReadonly<WorkObject>): Record<string, null> | undefined =>
  kind.copies.isFenced(copy) ? { [FENCED_ANNOTATION]: null } : undefined;

export function writeHome(kind: SingleKind, local: DeepReadonly<WorkObject>, status: WorkStatus, copy?: Copy): HomeAction {
  const patch = mergePatchBetween(local.status ?? {}, status);
  if (typeof patch !== 'object' || patch === null) return NOTHING;
  if (kind.home.isMinor({ ...patch })) return NOTHING;
  const ends = isFinished(status);
  return {
    kind: 'WriteStatus',
    status,
    patch: { ...patch },
    urgent: ends,
    ...(ends && isHeld(local) ? { finalizers: otherFinalizers(local) } : {}),
    ...omitUndefined({ annotations: copy && failureAnnotations(kind, local.status ?? {}, status, copy) }),
  };
}
