import type { DeepReadonly, KubeObject } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import type { ReadClient, WatchClient } from '../../shared/kube/client.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';

export type Followed<T extends KubeObject> = {
  readonly resource: Resource<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** What has been seen of them before: whatever of it has gone since is told as gone, though no watch was open. */
  readonly seen?: readonly DeepReadonly<T>[];
};

/**
 * Tells of every object there is, and of every change of one, in order, until `signal` aborts; a deletion is told as the last state with a
 * deletionTimestamp. Rejects with what `changed` throws.
 */
export async function followObjects<T extends KubeObject>(
  client: ReadClient & WatchClient,
  { seen = [], ...followed }: Followed<T>,
  changed: (object: DeepReadonly<T>, isGone: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const stopping = AbortSignal.any([signal, stop.signal]);
  const informer = createInformer({ ...followed, client, clock: systemClock, random: Math.random, log: silentLogger });
  // One after the other: each writes to a pipe that may be slow.
  let telling = Promise.resolve();
  let failure: Error | undefined;
  const tell = (object: DeepReadonly<T>, isGone: boolean): void => {
    telling = telling.then(async () => {
      if (stopping.aborted) return;
      try {
        await changed(object, isGone);
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error));
        stop.abort(error);
      }
    });
  };
  informer.addHandler({
    added: (object) => tell(object, false),
    updated: (next) => tell(next, false),
    deleted: (object) => tell(object, true),
  });
  const told = informer.waitForSync(stopping).then(
    () => {
      const there = new Set(informer.list().map(({ metadata }) => metadata.uid));
      for (const object of seen) if (!there.has(object.metadata.uid)) tell(object, true);
    },
    // Whoever followed has stopped before everything was listed.
    (error: unknown) => {
      if (!stopping.aborted) throw error;
    },
  );
  await Promise.all([informer.run(stopping), told]);
  await telling;
  if (failure !== undefined) throw failure;
}
