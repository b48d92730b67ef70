import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { AdmissionRecord } from './records.ts';

/** A Job as it was admitted: with the parallelism of its record, where that has fewer pods than it asks for. Nothing else of it is less, and it itself is left alone. */
export function admittedPart(job: DeepReadonly<Job>, { parallelism }: Pick<AdmissionRecord, 'parallelism'>): DeepReadonly<Job> {
  if (parallelism === undefined || (job.spec.parallelism ?? 1) <= parallelism) return job;
  return { ...job, spec: { ...job.spec, parallelism } };
}
