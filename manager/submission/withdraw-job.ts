import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import { objectKey } from '../../shared/kube/keys.ts';

/** Deletes a Job of a submission, as it was read from the cluster. One that is gone, or another of its name, is left alone. */
export async function withdrawJob(client: Pick<WriteClient, 'delete'>, job: DeepReadonly<Job>): Promise<void> {
  const { uid } = job.metadata;
  // Without a UID the API server deletes whatever has the name.
  if (typeof uid !== 'string' || uid === '') throw new Error('a Job without a UID is not withdrawn');
  try {
    await client.delete(JOBS, objectKey(job), { uid, propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
