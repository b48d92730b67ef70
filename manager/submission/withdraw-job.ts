import { JOBS } from '../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import type { ParkedSubmission } from './submission-queue.ts';

/** Deletes the Job of a submission that nobody wants any more. One that is gone, or another of its name, is left alone. */
export async function withdrawJob(client: Pick<WriteClient, 'delete'>, { job, uid }: ParkedSubmission): Promise<void> {
  try {
    await client.delete(JOBS, job, { uid, propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
