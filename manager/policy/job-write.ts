import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, MANAGER_CONTROLLER_NAME, ORIGIN_LABEL, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { queueNameOf } from '../api/job-annotations.ts';
import { podsAtOnce } from '../api/pod-count.ts';
import type { Writer } from './writer.ts';

/** A write of a Job, or of its status, that an API server asks about. */
export type JobWrite = {
  /** `status`, or '' for the Job itself. A write of the status may carry metadata along. */
  readonly subresource: string;
  readonly job: DeepReadonly<Job>;
  /** Undefined for a new Job. */
  readonly oldJob: DeepReadonly<Job> | undefined;
  readonly writer: Writer;
  /** His name, as the API server knows him; '' where it does not say. */
  readonly username: string;
};

/** What the rules want to know of a write. The same words are the variables of the admission policies (cel-variables.ts). */
export type WriteView = JobWrite & {
  /** Of the manager's: it is admitted, and run elsewhere. `spec.managedBy` never changes. */
  readonly managed: boolean;
  /** A copy on a cluster that is a worker cluster itself. A Job of the manager that merely wears the label is none. */
  readonly copy: boolean;
  readonly runByWorker: boolean;
  /** Admitted before this write: there was a record, and no suspension. */
  readonly admitted: boolean;
  readonly suspended: boolean;
  readonly oldSuspended: boolean;
  /** '' without one. */
  readonly queue: string;
  readonly oldQueue: string;
  readonly pods: number;
  readonly oldPods: number;
};

export function viewOf(write: JobWrite): WriteView {
  const { job, oldJob } = write;
  const managed = isManaged(job) || (oldJob !== undefined && isManaged(oldJob));
  const oldSuspended = oldJob?.spec.suspend === true;
  return {
    ...write,
    managed,
    copy: !managed && (hasOrigin(job) || (oldJob !== undefined && hasOrigin(oldJob))),
    runByWorker: job.spec.managedBy === WORKER_CONTROLLER_NAME,
    admitted: oldJob?.metadata.annotations?.[ADMISSION_ANNOTATION] !== undefined && !oldSuspended,
    suspended: job.spec.suspend === true,
    oldSuspended,
    queue: queueNameOf(job) ?? '',
    oldQueue: oldJob === undefined ? '' : (queueNameOf(oldJob) ?? ''),
    pods: podsAtOnce(job),
    oldPods: oldJob === undefined ? 0 : podsAtOnce(oldJob),
  };
}

const isManaged = ({ spec }: DeepReadonly<Job>): boolean => spec.managedBy === MANAGER_CONTROLLER_NAME;
const hasOrigin = ({ metadata }: DeepReadonly<Job>): boolean => metadata.labels?.[ORIGIN_LABEL] !== undefined;
