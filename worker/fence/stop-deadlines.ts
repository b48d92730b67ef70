import type { KubeClient } from '../../shared/kube/client.ts';
import { type WriteCall, writesAround } from '../../shared/kube/writes-around.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import { withEither } from '../../shared/runtime/tasks.ts';

/**
 * Deadlines of the requests that stop copies. A request that a server swallows, as at a failover of its load balancer, would otherwise hold
 * up a sync for the 70 s of a client's time-out, and the manager counts on an end within 30 s (`FENCE_MARGIN_MS` of
 * manager/api/fenced-off.ts). A request without an answer counts as carried out, as any other.
 */
export interface StopDeadlines {
  /** A client whose requests end {@link STOP_ANSWER_MS} after they were sent while `isStopping` returns true. */
  of(client: KubeClient, isStopping: () => boolean): KubeClient;
  /** The results of `isStopping` may have changed: requests that were sent before end in {@link STOP_ANSWER_MS}, too. */
  look(): void;
}

/** Time for the answer to a request that stops a copy: a second attempt is made within the 10 s that docs/fencing.md has for this. */
export const STOP_ANSWER_MS = 5_000;

type InFlight = { readonly isStopping: () => boolean; readonly start: () => void };
type Signalled = Pick<WriteCall, 'signal'>;

export function createStopDeadlines(clock: Clock): StopDeadlines {
  const inFlight = new Set<InFlight>();

  /** `send` is given what to call when the request is sent: its turn in the rate limit may come late. */
  async function timed<T>(
    isStopping: () => boolean,
    given: AbortSignal | undefined,
    send: (signal: AbortSignal, sent: () => void) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const expire = (): void => controller.abort(new Error(`no answer within ${STOP_ANSWER_MS} ms, while copies are stopped`));
    let timer: Timer | undefined;
    const request: InFlight = { isStopping, start: () => (timer ??= clock.schedule(expire, STOP_ANSWER_MS)) };
    const sent = (): void => {
      inFlight.add(request);
      if (isStopping()) request.start();
    };
    try {
      return given === undefined
        ? await send(controller.signal, sent)
        : await withEither(given, controller.signal, (signal) => send(signal, sent));
    } finally {
      timer?.cancel();
      inFlight.delete(request);
    }
  }

  return {
    look() {
      for (const { isStopping, start } of inFlight) if (isStopping()) start();
    },
    of(client, isStopping) {
      const read = <O extends Signalled, T>(options: O | undefined, call: (options: O & Signalled) => Promise<T>): Promise<T> =>
        timed(isStopping, options?.signal, (signal, sent) => {
          sent();
          return call({ ...(options ?? ({} as O)), signal });
        });
      const write = <O extends WriteCall, T>(options: O | undefined, call: (options: O & WriteCall) => Promise<T>): Promise<T> =>
        timed(isStopping, options?.signal, (signal, sent) => {
          const beforeSend = async (): Promise<void> => {
            await options?.beforeSend?.();
            sent();
          };
          return call({ ...(options ?? ({} as O)), signal, beforeSend });
        });
      return {
        get: (resource, key, options) => read(options, (each) => client.get(resource, key, each)),
        list: (resource, options) => read(options, (each) => client.list(resource, each)),
        ...writesAround(client, write),
        watch: (...options) => client.watch(...options),
        raw: (request) => client.raw(request),
        close: () => client.close(),
      };
    },
  };
}
