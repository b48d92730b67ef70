import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { submissionOf } from './outcome.ts';
import { isSealedSubmission } from './submission-seal.ts';

/**
 * How many Jobs of each tenant there are that have not ended, as the cache of Jobs has them. What merely says that it is of a tenant does
 * not count.
 */
export interface UnendedJobs {
  readonly handler: EventHandler<Job>;
  /** Of a tenant, by id. */
  of(tenant: string): number;
}

/** `onEnded` is called when there is one less. */
export function countUnendedJobs(keys: RecordKeys, onEnded: () => void): UnendedJobs {
  /** By UID of the Job: which tenant's it is does not change, whatever somebody writes on it later. */
  const tenants = new Map<string, string>();
  const counts = new Map<string, number>();
  const ended = ({ metadata: { uid } }: DeepReadonly<Job>): void => {
    const tenant = tenants.get(uid);
    if (tenant === undefined) return;
    tenants.delete(uid);
    counts.set(tenant, (counts.get(tenant) ?? 1) - 1);
    onEnded();
  };
  const seen = (job: DeepReadonly<Job>): void => {
    if (isFinished(job.status)) return ended(job);
    if (tenants.has(job.metadata.uid)) return;
    const submission = submissionOf(job);
    if (submission === undefined || !isSealedSubmission(keys, job, submission)) return;
    tenants.set(job.metadata.uid, submission.tenant);
    counts.set(submission.tenant, (counts.get(submission.tenant) ?? 0) + 1);
  };
  return { handler: { added: seen, updated: seen, deleted: ended }, of: (tenant) => counts.get(tenant) ?? 0 };
}
