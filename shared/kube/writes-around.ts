import type { StatusClient, WriteClient } from './client.ts';

/** The fields that the options of all writes have in common. */
export type WriteCall = { readonly signal?: AbortSignal; readonly beforeSend?: () => Promise<void> };

/** Makes one write, `call`, with options of its own in place of those that it is given. */
export type AroundWrite = <O extends WriteCall, T>(options: O | undefined, call: (options: O & WriteCall) => Promise<T>) => Promise<T>;

/** The writes of a client, each made through `write`. */
export const writesAround = (client: WriteClient & StatusClient, write: AroundWrite): WriteClient & StatusClient => ({
  create: (resource, object, options) => write(options, (each) => client.create(resource, object, each)),
  replace: (resource, object, options) => write(options, (each) => client.replace(resource, object, each)),
  patch: (resource, key, patch, options) => write(options, (each) => client.patch(resource, key, patch, each)),
  delete: (resource, key, options) => write(options, (each) => client.delete(resource, key, each)),
  replaceStatus: (resource, object, options) => write(options, (each) => client.replaceStatus(resource, object, each)),
  patchStatus: (resource, key, patch, options) => write(options, (each) => client.patchStatus(resource, key, patch, each)),
});
