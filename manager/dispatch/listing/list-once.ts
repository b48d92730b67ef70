import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/**
 * The objects of one complete list by this informer, which has not run yet; undefined when the list is not complete after `limitMs`, or
 * `signal` aborts first.
 */
export async function listOnce<T extends KubeObject>(
  informer: Informer<T>,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<readonly DeepReadonly<T>[] | undefined> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  const limit = clock.schedule(() => done.abort(new Error('no complete list in time')), limitMs);
  const ended = informer.run(until);
  try {
    await informer.waitForSync(until);
    return informer.list();
  } catch {
    // The time is over; the informer has logged its errors.
    return undefined;
  } finally {
    limit.cancel();
    done.abort();
    await ended;
  }
}
