/** Submissions as a queue hands them out, and what is on the Jobs that were made of them. */
import { sealSubmission, type MadeOf } from '../../manager/submission/submission-seal.ts';
import type { Submission } from '../../manager/submission/submission-queue.ts';
import {
  SHARED_TENANT,
  SUBMISSION_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
} from '../../shared/api/names.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';
import { TEST_RECORD_KEYS } from './jobs.ts';

/** One that has not ended before. */
export function aSubmission(parts: Pick<Submission, 'id' | 'submittedAt' | 'name' | 'data'> & Partial<Submission>): Submission {
  return { key: submissionKey(parts), attemptsMade: 0, priority: 0, ...parts };
}

/** The first attempt of a submission. */
export const FIRST_MADE: MadeOf = { payload: 'p', attempt: 1 };

type Said = { readonly id: string; readonly submittedAt?: number; readonly tenant?: string };

/** What a Job says of the submission that it was made of, without the seal that proves it. */
export const submissionAnnotations = ({ id, submittedAt = 1_000, tenant = SHARED_TENANT }: Said): Record<string, string> => ({
  [SUBMISSION_ANNOTATION]: id,
  [SUBMITTED_AT_ANNOTATION]: String(submittedAt),
  [SUBMISSION_PAYLOAD_ANNOTATION]: FIRST_MADE.payload,
  [SUBMISSION_ATTEMPT_ANNOTATION]: String(FIRST_MADE.attempt),
  ...(tenant === SHARED_TENANT ? {} : { [SUBMISSION_TENANT_ANNOTATION]: tenant }),
});

/** The seal of {@link submissionAnnotations}. */
export const testSeal = (job: { readonly namespace: string; readonly name: string }, said: Said): string =>
  sealSubmission(TEST_RECORD_KEYS, job, { submittedAt: 1_000, tenant: SHARED_TENANT, ...said, made: FIRST_MADE });

/** Both. */
export const sealedAnnotations = (job: { readonly namespace: string; readonly name: string }, said: Said): Record<string, string> => ({
  ...submissionAnnotations(said),
  [SUBMISSION_SEAL_ANNOTATION]: testSeal(job, said),
});
