import type { DeepReadonly, Job, JobStatus, Unsaved } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER } from '../../../shared/api/names.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { isAtRest } from '../copy/copy-rest.ts';
import { failureAnnotations } from '../mirror/failure-annotations.ts';
import { type Copy, isHeld, type MirrorGroup } from '../mirror/mirror-group.ts';
import type { FinishedWork } from '../status-home/finished-work.ts';
import { mergePatchBetween } from '../status-home/json-diff.ts';

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

const LISTED_MAX = 5;

export const listed = (names: readonly string[]): string => {
  const named = names.slice(0, LISTED_MAX).map((name) => `"${name}"`);
  return names.length > LISTED_MAX ? `${named.join(', ')} and ${names.length - LISTED_MAX} more` : named.join(', ');
};

export const howToGiveUp = ({ metadata }: DeepReadonly<Job>): string =>
  `To give it up: kubectl patch job -n ${metadata.namespace} ${metadata.name} --field-manager switchyard-override ` +
  `-p '{"metadata":{"$deleteFromPrimitiveList/finalizers":["${COPIES_FINALIZER}"]}}'`;

/** Why copies that are to go do not. */
export const troubleOn = ({ clusters }: MirrorGroup, copies: readonly Copy[]): DispatchProblem | undefined =>
  copies.map(({ cluster }) => clusters.get(cluster)?.trouble).find((trouble) => trouble !== undefined);

export const otherFinalizers = ({ metadata }: DeepReadonly<Job>): string[] =>
  (metadata.finalizers ?? []).filter((finalizer) => finalizer !== COPIES_FINALIZER);

export const release = (local: DeepReadonly<Job>): HomeAction =>
  isHeld(local) ? { kind: 'Release', finalizers: otherFinalizers(local) } : NOTHING;

export const NOTHING: HomeAction = { kind: 'None' };

export const deletions = (copies: readonly Copy[], confirm?: 'Gone' | 'Older'): RemoteAction[] =>
  copies.flatMap(({ cluster, job, deleting }) => {
    if (deleting) return [];
    const propagationPolicy = isAtRest(job) ? 'Background' : 'Foreground';
    return [{ kind: 'Delete', cluster, copy: job, propagationPolicy, confirm }];
  });

export function writeHome(local: DeepReadonly<Job>, status: JobStatus, copy?: Copy): HomeAction {
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
    ...omitUndefined({ annotations: copy && failureAnnotations(local.status ?? {}, status, copy) }),
  };
}
