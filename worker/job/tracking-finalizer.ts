import type { DeepReadonly, Pod } from '../../shared/api/kubernetes.ts';
import { JOB_TRACKING_FINALIZER } from '../../shared/api/names.ts';
import { PODS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';

/** Takes the finalizer off one pod and adds `annotations`. Returns the pod's metadata as they are then; undefined if it is gone. */
export async function removeTrackingFinalizer(
  client: Pick<WriteClient, 'patch'>,
  pod: DeepReadonly<Pod>,
  annotations?: Readonly<Record<string, string>>,
): Promise<Pick<Pod, 'metadata'> | undefined> {
  const { namespace, name } = pod.metadata;
  try {
    const patch = {
      type: 'strategic',
      body: { metadata: { ...WITHOUT_TRACKING_FINALIZER, ...(annotations && { annotations }) } },
    } as const;
    return await client.patch(PODS, { namespace, name }, patch, { answer: 'metadata' });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new Error(`remove the tracking finalizer of pod ${namespace}/${name}`, { cause: error });
  }
}

/** The part of a strategic merge patch that takes the finalizer off, whatever others there are. */
export const WITHOUT_TRACKING_FINALIZER = { '$deleteFromPrimitiveList/finalizers': [JOB_TRACKING_FINALIZER] };

/**
 * Requests under way at once for the pods of one Job. All Jobs queue at one rate limiter, first come first served: a Job that put 500
 * requests there would make every other one wait until they are through.
 */
export const REQUESTS_MAX = 16;
