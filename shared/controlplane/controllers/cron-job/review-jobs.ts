import type { CronJob, CronJobStatus, DeepReadonly, Job } from '../../../api/kubernetes.ts';
import { finishedCondition } from '../../../kube/conditions.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import type { Note } from './decide-start.ts';

type JobReference = NonNullable<DeepReadonly<CronJobStatus>['active']>[number];

export type JobsReview = { readonly status: DeepReadonly<CronJobStatus>; readonly changed: boolean; readonly notes: readonly Note[] };

/** Brings the status of a CronJob up to date with its Jobs. `gone` are UIDs of active Jobs that the server does not know any more. */
export function reviewJobs(cronJob: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[], gone: ReadonlySet<string>): JobsReview {
  const notes: Note[] = [];
  const over = new Set<string>();
  let { lastSuccessfulTime } = cronJob.status ?? {};
  for (const job of jobs) {
    const { name, uid } = job.metadata;
    const end = endOf(job);
    if (end === undefined) {
      if (isListed(cronJob, uid)) continue;
      notes.push({ type: 'Warning', reason: 'UnexpectedJob', message: `Saw a job that the controller did not create or forgot: ${name}` });
      continue;
    }
    if (isListed(cronJob, uid)) {
      over.add(uid);
      notes.push({ type: 'Normal', reason: 'SawCompletedJob', message: `Saw completed job: ${name}, condition: ${end}` });
    }
    if (end === 'Complete') lastSuccessfulTime = later(lastSuccessfulTime, job.status?.completionTime);
  }
  for (const { name, uid = '' } of activeOf(cronJob)) {
    if (gone.has(uid)) notes.push({ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` });
  }
  const active = activeOf(cronJob).filter(({ uid = '' }) => !over.has(uid) && !gone.has(uid));
  const changed = active.length !== activeOf(cronJob).length || lastSuccessfulTime !== cronJob.status?.lastSuccessfulTime;
  const status = { ...cronJob.status, active, ...omitUndefined({ lastSuccessfulTime }) };
  return { status, changed, notes };
}

/** Finished Jobs beyond what the history limits keep: those that started first. */
export function surplusJobs({ spec }: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[]): DeepReadonly<Job>[] {
  const beyond = (end: 'Complete' | 'Failed', limit: number | undefined): DeepReadonly<Job>[] => {
    const finished = jobs.filter((job) => endOf(job) === end).sort(byStart);
    return limit === undefined ? [] : finished.slice(0, Math.max(0, finished.length - limit));
  };
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)];
}

export const activeOf = ({ status }: DeepReadonly<CronJob>): readonly JobReference[] => status?.active ?? [];

export const isListed = (cronJob: DeepReadonly<CronJob>, uid: string): boolean => activeOf(cronJob).some((each) => each.uid === uid);

/** How a Job has ended; undefined while it has not. */
export function endOf({ status }: DeepReadonly<Job>): 'Complete' | 'Failed' | undefined {
  const finished = finishedCondition(status);
  return finished === undefined ? undefined : finished.type === 'Complete' ? 'Complete' : 'Failed';
}

const later = (known: string | undefined, seen: string | undefined): string | undefined =>
  seen !== undefined && (known === undefined || Date.parse(seen) > Date.parse(known)) ? seen : known;

/** Those that never started come last; equals go by name. */
function byStart(a: DeepReadonly<Job>, b: DeepReadonly<Job>): number {
  const startOf = ({ status }: DeepReadonly<Job>): number => (status?.startTime === undefined ? Infinity : Date.parse(status.startTime));
  const [first, second] = [startOf(a), startOf(b)];
  if (first !== second) return first < second ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
