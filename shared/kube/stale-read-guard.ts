import type { ObjectKey } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import { isConflict } from './api-error.ts';
import type { KubeClient } from './client.ts';
import { objectKey } from './keys.ts';

export type StaleReadGuardOptions = {
  readonly clock: Clock;
  /** The resourceVersion that the cache shows of an object; undefined where it shows none, or where nobody keeps such objects. */
  readonly cached: (resource: Resource, key: ObjectKey) => string | undefined;
  /** Which refusals of a write raise doubt; default: conflicts. */
  readonly isSign?: (error: unknown, resource: Resource) => boolean;
  /** The cache goes on showing what the server does not have. */
  readonly onDoubt: (resource: Resource, key: ObjectKey, resourceVersion: string) => void;
};

/** Longer than a watch that is only slow takes to bring what there is. */
const PATIENCE_MS = 15_000;

/**
 * A client that notices when a cache has lost its way. A write of an old version is answered with a conflict, and whoever made it waits for
 * the newer one to come through the watch. Where it does not come, the server was restored from a backup, and has made as many writes since
 * as it had before, so that the watch goes on from a place of another course of things.
 */
export function guardStaleReads(client: KubeClient, { clock, cached, isSign = isConflict, onDoubt }: StaleReadGuardOptions): KubeClient {
  /** What is looked at again. */
  const awaited = new Set<string>();

  function doubted(resource: Resource, key: ObjectKey): void {
    const shown = cached(resource, key);
    const name = `${resource.plural}/${key.namespace}/${key.name}`;
    if (shown === undefined || awaited.has(name)) return;
    awaited.add(name);
    clock.schedule(() => {
      awaited.delete(name);
      if (cached(resource, key) === shown) onDoubt(resource, key, shown);
    }, PATIENCE_MS);
  }

  const watched = async <T>(resource: Resource, key: ObjectKey, written: Promise<T>): Promise<T> => {
    try {
      return await written;
    } catch (error) {
      if (isSign(error, resource)) doubted(resource, key);
      throw error;
    }
  };

  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    create: (...given) => client.create(...given),
    replace: (resource, object, ...given) => watched(resource, objectKey(object), client.replace(resource, object, ...given)),
    patch: (resource, key, ...given) => watched(resource, key, client.patch(resource, key, ...given)),
    delete: (...given) => client.delete(...given),
    replaceStatus: (resource, object, ...given) => watched(resource, objectKey(object), client.replaceStatus(resource, object, ...given)),
    patchStatus: (resource, key, ...given) => watched(resource, key, client.patchStatus(resource, key, ...given)),
    watch: (...given) => client.watch(...given),
    raw: (request) => client.raw(request),
    close: () => client.close(),
  };
}
