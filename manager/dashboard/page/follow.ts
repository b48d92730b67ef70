import { createEventReader, type ReceivedEvent } from '../../cli/submissions/server-events.ts';
import { ApiProblem, type Api } from './api.ts';

export type Connection =
  | { readonly kind: 'Connecting' }
  | { readonly kind: 'Live' }
  /** It is tried again. */
  | { readonly kind: 'Lost'; readonly why: string }
  /** Who asks is not let in: trying again changes nothing. */
  | { readonly kind: 'Refused'; readonly status: number; readonly why: string };

export type FollowOptions = {
  readonly api: Pick<Api, 'stream'>;
  readonly onEvent: (event: ReceivedEvent) => void;
  readonly onConnection: (connection: Connection) => void;
  /** Whatever the server sends, also a sign of life. */
  readonly onHeard?: () => void;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1: so that pages that lost one server do not all come back at once. */
  readonly random: () => number;
};

const RETRY_MS = 500;
const RETRY_MAX_MS = 15_000;
/** A connection that has brought so much was one, however it ends. */
const HEARD_WELL = 3;
/** The server says something every 15 seconds; a connection that is silent for longer is none. */
const SILENCE_MS = 40_000;

/** Follows the stream of the server until `signal` aborts, and after a break goes on with what came since. */
export async function follow({ api, onEvent, onConnection, onHeard, sleep, random }: FollowOptions, signal: AbortSignal): Promise<void> {
  let lastEventId: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const connection = new AbortController();
    const both = AbortSignal.any([signal, connection.signal]);
    let heard = 0;
    const watch = async (): Promise<void> => {
      for (let before = -1; !both.aborted && before !== heard; ) {
        before = heard;
        await sleep(SILENCE_MS, both);
      }
      connection.abort();
    };
    try {
      const reader = (await api.stream(lastEventId, both))
        .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
        .getReader();
      onConnection({ kind: 'Live' });
      void watch();
      const eventsIn = createEventReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        heard++;
        onHeard?.();
        if (heard >= HEARD_WELL) failures = 0;
        for (const event of eventsIn(value)) {
          lastEventId = event.id;
          onEvent(event);
        }
      }
      // A stream ends after ten minutes, and goes on at once; one that ends when it has hardly begun does not.
      if (heard < HEARD_WELL) {
        failures++;
        onConnection({ kind: 'Lost', why: 'the connection ends as soon as it has begun' });
      }
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      const problem = error instanceof ApiProblem ? error : new ApiProblem(0, 'the connection broke');
      if (problem.status === 401 || problem.status === 403)
        return onConnection({ kind: 'Refused', status: problem.status, why: problem.message });
      onConnection({ kind: 'Lost', why: problem.message });
    } finally {
      connection.abort();
    }
    if (failures > 0) await sleep(Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** (failures - 1)) * (0.5 + random() / 2), signal);
  }
}
