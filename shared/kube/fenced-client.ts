import type { KubeClient } from './client.ts';

/**
 * A client whose every call ends when `fence` aborts: those that wait for their rate limit, those under way, and all that come later. A
 * leader works through one, so that it writes nothing more once somebody else may lead.
 */
export function fencedClient(client: KubeClient, fence: AbortSignal): KubeClient {
  const fenced = <O extends { readonly signal?: AbortSignal }>(options: O | undefined): O & { readonly signal: AbortSignal } => ({
    // The options of every call are optional, all their fields too.
    ...(options ?? ({} as O)),
    signal: options?.signal === undefined ? fence : AbortSignal.any([options.signal, fence]),
  });
  return {
    get: (resource, key, options) => client.get(resource, key, fenced(options)),
    list: (resource, options) => client.list(resource, fenced(options)),
    create: (resource, object, options) => client.create(resource, object, fenced(options)),
    replace: (resource, object, options) => client.replace(resource, object, fenced(options)),
    patch: (resource, key, patch, options) => client.patch(resource, key, patch, fenced(options)),
    delete: (resource, key, options) => client.delete(resource, key, fenced(options)),
    replaceStatus: (resource, object, options) => client.replaceStatus(resource, object, fenced(options)),
    patchStatus: (resource, key, patch, options) => client.patchStatus(resource, key, patch, fenced(options)),
    watch: (resource, options) => client.watch(resource, fenced(options)),
    raw: (request) => client.raw(fenced(request)),
    close: () => client.close(),
  };
}
