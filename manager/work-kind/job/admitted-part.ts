import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import type { AdmissionRecord } from '../../api/records.ts';

/** A Job as admitted: with the parallelism of its record, where that is lower. All other fields stay, and the Job itself is not changed. */
export function admittedPart(job: DeepReadonly<Job>, { parallelism }: Pick<AdmissionRecord, 'parallelism'>): DeepReadonly<Job> {
  if (parallelism === undefined || (job.spec.parallelism ?? 1) <= parallelism) return job;
  return { ...job, spec: { ...job.spec, parallelism } };
}
