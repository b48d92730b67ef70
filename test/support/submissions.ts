/** Submissions as a queue hands them out. */
import type { Submission } from '../../manager/submission/submission-queue.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';

/** One that has not ended before. */
export function aSubmission(parts: Pick<Submission, 'id' | 'submittedAt' | 'name' | 'data'> & Partial<Submission>): Submission {
  return { key: submissionKey(parts), attemptsMade: 0, priority: 0, ...parts };
}
