import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../shared/runtime/clock.ts';
import { eventFrame } from '../../shared/runtime/event-frame.ts';
import type { ServerEvent } from './route.ts';

/** Shorter than the idle timeout of usual proxies. */
const HEARTBEAT_MS = 15_000;

/**
 * Writes server-sent events until they end, or `signal` aborts; the client then resumes with the id of the last one. The next event is
 * requested once the last one is sent, so that events for a slow client do not pile up.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<ServerEvent>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
  response.flushHeaders();
  const beat = (): void => {
    if (!response.writableNeedDrain) response.write(': still here\n\n');
    timer = clock.schedule(beat, HEARTBEAT_MS);
  };
  let timer = clock.schedule(beat, HEARTBEAT_MS);
  try {
    for await (const each of events) {
      if (signal.aborted) break;
      const isTaken = response.write('frame' in each ? each.frame : eventFrame(each.id, each.event, JSON.stringify(each.data)));
      if (!isTaken) await once(response, 'drain', { signal });
    }
    response.end();
  } finally {
    timer.cancel();
  }
}
