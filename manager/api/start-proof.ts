import type { DeepReadonly, Job, JobStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { minReadyPodsOf } from './job-annotations.ts';
import { workLeft } from './needed-pods.ts';
import { SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';

/** The message by which dispatch reports the start of a Job: unique to this admission, so that no later one counts as started. */
export const startedMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `started on cluster "${cluster}" (placement ${epoch}, admitted ${since})`;

/** Whether the status reports that the Job has started since this admission. */
export function isStartReported(status: DeepReadonly<JobStatus> | undefined, record: AdmissionRecord): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Started);
  return told?.status === 'True' && told.message === startedMessage(record);
}

type SizedJob = DeepReadonly<Pick<Job, 'metadata' | 'spec' | 'status'>>;

/**
 * How many pods must be ready for the Job to have started. A gang needs all: a Job whose completions, if it has any, are no more than its
 * parallelism, so that no pod waits for the end of another. Any other Job needs one. The annotation min-ready-pods says otherwise. Pods
 * that a partial admission left out, and those whose work is done, are not needed: that is Kueue's `ready + succeeded >= pods`.
 */
export function readyPodsNeeded(job: SizedJob, { parallelism: admitted }: Pick<AdmissionRecord, 'parallelism'>): number {
  const { parallelism = 1, completions } = job.spec;
  const atOnce = Math.min(parallelism, admitted ?? parallelism, workLeft(job));
  const isGang = completions === undefined || completions === null || completions <= parallelism;
  const wish = minReadyPodsOf(job);
  const wanted = (wish.kind === 'MinReadyPods' ? wish.pods : undefined) ?? (isGang ? atOnce : 1);
  return Math.max(1, Math.min(wanted, atOnce));
}

/** Whether the Job has started: one that runs with all the pods that it needs has, though no condition reports it yet. */
export const hasStarted = (job: SizedJob, record: AdmissionRecord): boolean =>
  isStartReported(job.status, record) || (record.evicted !== true && podsReady(job.status) >= readyPodsNeeded(job, record));

/** The number of ready pods. Where the API server does not count them, the number of active pods. */
export const podsReady = (status: DeepReadonly<JobStatus> | undefined): number => status?.ready ?? status?.active ?? 0;

/** The message by which dispatch reports how many pods of a started Job are ready: unique to this admission, as that of its start. */
export const podsReadyMessage = (ready: number, needed: number, record: AdmissionRecord): string =>
  `${ready} of the ${needed} pods that it needs are ready ${admissionOf(record)}`;

/** Since when the Job, which had started in this admission, has had too few ready pods, in epoch milliseconds; undefined if it has not. */
export function podsLostSinceMs(status: DeepReadonly<JobStatus> | undefined, record: AdmissionRecord): number | undefined {
  const told = findCondition(status?.conditions, SwitchyardCondition.PodsReady);
  if (told?.status !== 'False' || told.message?.endsWith(admissionOf(record)) !== true || !isStartReported(status, record))
    return undefined;
  return Date.parse(told.lastTransitionTime ?? record.since);
}

const admissionOf = ({ epoch, since }: AdmissionRecord): string => `(placement ${epoch}, admitted ${since})`;
