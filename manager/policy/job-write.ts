import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  COPIES_FINALIZER,
  MANAGER_CONTROLLER_NAME,
  ORIGIN_LABEL,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import { queueNameOf } from '../api/job-annotations.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { Writer } from './writer.ts';

/** A write of a Job, or of its status, under review. */
export type JobWrite = {
  /** `status`, or '' for the Job itself. A write of the status may contain metadata. */
  readonly subresource: string;
  readonly job: DeepReadonly<WorkObject>;
  /** Undefined for a new Job. */
  readonly oldJob: DeepReadonly<WorkObject> | undefined;
  readonly writer: Writer;
  /** The name of the writing user, by the API server; '' where it is absent. */
  readonly username: string;
};

/** The facts about a write that rules use. The variables of the admission policies have the same names (cel-variables.ts). */
export type WriteView = JobWrite & {
  /** The Job is managed by the manager: admitted, and run elsewhere. */
  readonly managed: boolean;
  /** Its field `managedBy` has the value of objects of this manager. */
  readonly namesManager: boolean;
  readonly oldNamesManager: boolean;
  /** A copy on a cluster that is its own worker cluster. A Job of the manager with the origin label is no copy. */
  readonly copy: boolean;
  readonly runByWorker: boolean;
  /** Admitted before this write: with a record, and not suspended. */
  readonly admitted: boolean;
  readonly suspended: boolean;
  readonly oldSuspended: boolean;
  /** '' without a queue. */
  readonly queue: string;
  readonly oldQueue: string;
  readonly pods: number;
  readonly oldPods: number;
};

export function viewOf(kind: WorkKind, write: JobWrite): WriteView {
  const { job, oldJob } = write;
  const isManaged = (each: DeepReadonly<WorkObject>): boolean => kind.controllerOf(each) === MANAGER_CONTROLLER_NAME;
  // Some kinds need a mark beside the name: with one the name decides.
  const namesManager = (each: DeepReadonly<WorkObject>): boolean =>
    isManaged({ ...each, metadata: { ...each.metadata, finalizers: [COPIES_FINALIZER] } });
  const managed = isManaged(job) || (oldJob !== undefined && isManaged(oldJob));
  const oldSuspended = oldJob !== undefined && kind.isSuspended(oldJob);
  return {
    ...write,
    managed,
    namesManager: namesManager(job),
    oldNamesManager: oldJob !== undefined && namesManager(oldJob),
    copy: !managed && (hasOrigin(job) || (oldJob !== undefined && hasOrigin(oldJob))),
    runByWorker: kind.controllerOf(job) === WORKER_CONTROLLER_NAME,
    admitted: oldJob?.metadata.annotations?.[ADMISSION_ANNOTATION] !== undefined && !oldSuspended,
    suspended: kind.isSuspended(job),
    oldSuspended,
    queue: queueNameOf(job) ?? '',
    oldQueue: oldJob === undefined ? '' : (queueNameOf(oldJob) ?? ''),
    pods: kind.podsAtOnce(job),
    oldPods: oldJob === undefined ? 0 : kind.podsAtOnce(oldJob),
  };
}

/** Only a manager gives an object this label. */
export const hasOrigin = ({ metadata }: DeepReadonly<WorkObject>): boolean => metadata.labels?.[ORIGIN_LABEL] !== undefined;
