import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import { ApiError, isAbsent, isForbidden } from '../../../shared/kube/api-error.ts';
import type { ListOptions, ObjectList, ReadClient, WatchClient, WatchStream } from '../../../shared/kube/client.ts';
import { sleep, type Clock } from '../../../shared/runtime/clock.ts';
import { qualifierOf } from '../../work-kind/qualified-name.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';

/**
 * Which kinds of work a worker cluster serves. A kind that it does not have, or that the manager may not list there, has no objects there
 * for the manager, and does not keep Jobs waiting; it is asked about again from time to time.
 */
export interface ServedKinds {
  /** The qualifiers of the kinds that the cluster serves, in alphabetical order; undefined while some were never listed. */
  names(): readonly string[] | undefined;
  /** Whether objects of this qualifier can be seen; Jobs always can. */
  isServed(qualifier: string | undefined): boolean;
  /** A client for the lists and watches of one resource. `byNamespace`: a namespace where it may not be listed is found elsewhere. */
  noting(resource: Resource, client: ReadClient & WatchClient, byNamespace: boolean): ReadClient & WatchClient;
}

const AGAIN_MS = 60_000;

/** `onChanged` is called when a kind is served, or is no longer. */
export function createServedKinds(kinds: readonly SingleKind[], clock: Clock, onChanged: () => void): ServedKinds {
  const isServed = new Map<string, boolean>();
  const qualifiers = kinds.map(({ resource }) => qualifierOf(resource) ?? '').toSorted();
  return {
    names: () => (isServed.size < qualifiers.length ? undefined : qualifiers.filter((each) => isServed.get(each))),
    isServed: (qualifier) => qualifier === undefined || isServed.get(qualifier) === true,
    noting(resource, client, byNamespace) {
      const qualifier = qualifierOf(resource) ?? '';
      let newest = '1';
      const note = (served: boolean): void => {
        if (isServed.get(qualifier) === served) return;
        isServed.set(qualifier, served);
        onChanged();
      };
      async function list<T extends KubeObject>(of: Resource<T>, options?: ListOptions): Promise<ObjectList<T>> {
        try {
          const listed = await client.list(of, options);
          newest = listed.resourceVersion;
          note(true);
          return listed;
        } catch (error) {
          if (!isAbsent(error) && (byNamespace || !isForbidden(error))) throw error;
          note(false);
          return { items: [], resourceVersion: newest };
        }
      }
      return {
        get: (...question) => client.get(...question),
        list,
        async watch(of, options) {
          if (isServed.get(qualifier) === true) return client.watch(of, options);
          return untilAskedAgain(clock, options.signal);
        },
      };
    },
  };
}

/** A watch without events, which ends as one whose place is gone, so that a list follows. */
const untilAskedAgain = (clock: Clock, signal: AbortSignal | undefined): WatchStream<never> => ({
  [Symbol.asyncIterator]: () => ({
    async next() {
      await sleep(clock, AGAIN_MS, signal);
      throw new ApiError(410, { reason: 'Expired', message: 'the cluster is asked again whether it serves this kind' });
    },
  }),
});
