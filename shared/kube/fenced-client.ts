import { withEither } from '../runtime/tasks.ts';
import type { KubeClient } from './client.ts';
import type { LeaseHold } from './lease-hold.ts';
import { type WriteCall, writesAround } from './writes-around.ts';

/**
 * A client whose every call ends when `fence` aborts: those that wait for their rate limit, those under way, and all that come later. A
 * leader works through one, so that it writes nothing more once somebody else may lead. With `hold`, writes also wait while the Lease has
 * not been renewed in time: looked at when they are sent, after their turn in the rate limit, because a program that stood still goes on
 * before its timers tell it so.
 */
export function fencedClient(client: KubeClient, fence: AbortSignal, hold?: LeaseHold): KubeClient {
  type Signalled = Pick<WriteCall, 'signal'>;
  /** The options of every call are optional, all their fields too. */
  const fenced = <O extends Signalled, T>(
    options: O | undefined,
    call: (options: O & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> => {
    const given = options ?? ({} as O);
    return given.signal === undefined
      ? call({ ...given, signal: fence })
      : withEither(given.signal, fence, (signal) => call({ ...given, signal }));
  };
  const write = <O extends WriteCall, T>(options: O | undefined, call: (options: O & WriteCall) => Promise<T>): Promise<T> =>
    fenced(options, async (each) => {
      if (hold === undefined) return call(each);
      await hold.writable(each.signal);
      return withEither(each.signal, hold.undisputed(), (signal) =>
        call({
          ...each,
          signal,
          async beforeSend() {
            await hold.writable(signal);
            await each.beforeSend?.();
          },
        }),
      );
    });
  return {
    get: (resource, key, options) => fenced(options, (each) => client.get(resource, key, each)),
    list: (resource, options) => fenced(options, (each) => client.list(resource, each)),
    ...writesAround(client, write),
    // What it returns goes on when the call has ended.
    watch: (resource, options) =>
      client.watch(resource, { ...options, signal: options.signal === undefined ? fence : AbortSignal.any([options.signal, fence]) }),
    raw: (request) => (request.method === 'GET' ? fenced : write)(request, (each) => client.raw(each)),
    close: () => client.close(),
  };
}
