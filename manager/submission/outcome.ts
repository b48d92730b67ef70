import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import {
  SHARED_TENANT,
  SUBMISSION_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
} from '../../shared/api/names.ts';
import { FinalCode } from '../../shared/api/submission-codes.ts';
import type { JobResult } from '../../shared/api/submission-outcome.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';
import { findTrueCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { writtenRecordOf } from '../api/records.ts';
import { formatWork, parseQualifiedName } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { Outcome } from './submission-queue.ts';
import { isSealedSubmission, type SealedSubmission } from './submission-seal.ts';

/** How a Job ended; undefined while it has not. */
export function outcomeOf(kind: WorkKind, job: DeepReadonly<Job>): Outcome | undefined {
  if (hasTrueCondition(job.status?.conditions, 'Complete')) return { kind: 'Completed', result: resultOf(kind, job) };
  const failed = findTrueCondition(job.status?.conditions, 'Failed');
  if (failed === undefined) return undefined;
  return {
    kind: 'Failed',
    failure: { reason: failed.reason ?? 'Failed', message: `${failed.message ?? 'the Job failed'} (${described(kind, job)})` },
  };
}

/** The outcome of a Job that was deleted: how it had ended, or that it never will. */
export function outcomeOfDeleted(kind: WorkKind, job: DeepReadonly<Job>): Outcome {
  return outcomeOf(kind, job) ?? deletedOutcome(described(kind, job));
}

/** `job`: its kind and name. */
export const deletedOutcome = (job: string): Outcome => ({
  kind: 'Failed',
  failure: { reason: 'JobDeleted', message: `the ${job.split(' ')[0]} was deleted before it had finished (${job})` },
});

/** The submission that a Job says it came from; undefined when it did not come through a queue. */
export function submissionOf({ metadata: { annotations = {} } }: DeepReadonly<Pick<Job, 'metadata'>>): SealedSubmission | undefined {
  const id = annotations[SUBMISSION_ANNOTATION];
  const submittedAt = Number(annotations[SUBMITTED_AT_ANNOTATION]);
  const tenant = annotations[SUBMISSION_TENANT_ANNOTATION] ?? SHARED_TENANT;
  const [payload, attempt] = [annotations[SUBMISSION_PAYLOAD_ANNOTATION], Number(annotations[SUBMISSION_ATTEMPT_ANNOTATION])];
  if (id === undefined || payload === undefined || ![submittedAt, attempt].every(Number.isSafeInteger)) return undefined;
  return { key: submissionKey({ id, submittedAt }), id, submittedAt, tenant, made: { payload, attempt } };
}

/**
 * Whether the manager made this Job of the submission of this tenant and key. Redis may name a Job, but only the seal on that Job says
 * whose it is.
 */
export function isJobOf(keys: RecordKeys, job: DeepReadonly<Job>, { tenant, key }: Pick<SealedSubmission, 'tenant' | 'key'>): boolean {
  const of = submissionOf(job);
  return of?.key === key && of.tenant === tenant && isSealedSubmission(keys, job, of);
}

/** Whether a submission ended because somebody cancelled or removed it: its Job then goes. */
export const isCancelled = (outcome: Outcome): boolean => outcome.kind === 'Failed' && outcome.failure.reason === FinalCode.Cancelled;

function resultOf(kind: WorkKind, job: DeepReadonly<Job>): JobResult {
  const { namespace, name: qualified, uid } = job.metadata;
  const { qualifier, name } = parseQualifiedName(qualified);
  const { succeeded, failed, startTime, completionTime } = kind.progress(job);
  const { completedIndexes, failedIndexes } = job.status ?? {};
  const optional = { cluster: clusterOf(job), startTime, completionTime, completedIndexes, failedIndexes };
  const present = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined && value !== null));
  const named = qualifier === undefined ? {} : { kind: kind.of(qualified).resource.kind };
  return { ...named, namespace, name, uid, succeeded, failed, ...present };
}

function clusterOf(job: DeepReadonly<Job>): string | undefined {
  const parsed = writtenRecordOf(job);
  return parsed.kind === 'Record' ? parsed.record.cluster : undefined;
}

function described(kind: WorkKind, job: DeepReadonly<Job>): string {
  const cluster = clusterOf(job);
  return `${formatWork(kind, job.metadata)}${cluster === undefined ? '' : ` on cluster "${cluster}"`}`;
}
