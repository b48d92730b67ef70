import { withEither } from '../runtime/tasks.ts';
import type { KubeClient } from './client.ts';

/**
 * A client whose every call ends when `fence` aborts: those that wait for their rate limit, those under way, and all that come later. A
 * leader works through one, so that it writes nothing more once somebody else may lead.
 */
export function fencedClient(client: KubeClient, fence: AbortSignal): KubeClient {
  type Signalled = { readonly signal?: AbortSignal };
  /** The options of every call are optional, all their fields too. */
  const fenced = <O extends Signalled, T>(options: O | undefined, call: (options: O & Signalled) => Promise<T>): Promise<T> => {
    const given = options ?? ({} as O);
    return given.signal === undefined
      ? call({ ...given, signal: fence })
      : withEither(given.signal, fence, (signal) => call({ ...given, signal }));
  };
  return {
    get: (resource, key, options) => fenced(options, (each) => client.get(resource, key, each)),
    list: (resource, options) => fenced(options, (each) => client.list(resource, each)),
    create: (resource, object, options) => fenced(options, (each) => client.create(resource, object, each)),
    replace: (resource, object, options) => fenced(options, (each) => client.replace(resource, object, each)),
    patch: (resource, key, patch, options) => fenced(options, (each) => client.patch(resource, key, patch, each)),
    delete: (resource, key, options) => fenced(options, (each) => client.delete(resource, key, each)),
    replaceStatus: (resource, object, options) => fenced(options, (each) => client.replaceStatus(resource, object, each)),
    patchStatus: (resource, key, patch, options) => fenced(options, (each) => client.patchStatus(resource, key, patch, each)),
    // What it returns goes on when the call has ended.
    watch: (resource, options) =>
      client.watch(resource, { ...options, signal: options.signal === undefined ? fence : AbortSignal.any([options.signal, fence]) }),
    raw: (request) => fenced(request, (each) => client.raw(each)),
    close: () => client.close(),
  };
}
