import type { Job } from '../../shared/api/kubernetes.ts';
import type { Informer } from '../../shared/kube/informer.ts';

/** Waits until the objects of the informer are listed. False when `signal` aborted first. */
export async function synced(informer: Pick<Informer<Job>, 'waitForSync'>, signal: AbortSignal): Promise<boolean> {
  try {
    await informer.waitForSync(signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Waits until the informers have the present state of the API server. False when `signal` aborted first. */
export async function caughtUp(informers: readonly Pick<Informer<Job>, 'catchUp'>[], signal: AbortSignal): Promise<boolean> {
  try {
    await Promise.all(informers.map((informer) => informer.catchUp(signal)));
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
