import { ApiError, type Status } from './api-error.ts';
import type { WatchEvent, WatchStream } from './client.ts';

/** Cuts a watch body into events: one JSON document per line, all complete lines of a network chunk as one batch. */
export async function* readWatch<T>(chunks: AsyncIterable<string>): WatchStream<T> {
  let unfinished: string[] = [];
  for await (const chunk of chunks) {
    const lastNewline = chunk.lastIndexOf('\n');
    if (lastNewline < 0) {
      unfinished.push(chunk);
      continue;
    }
    const complete = unfinished.join('') + chunk.slice(0, lastNewline);
    unfinished = [chunk.slice(lastNewline + 1)];
    yield* parseBatch<T>(complete);
  }
  // A body cut off in the middle of a line belongs to a broken connection: the event comes again on resume.
}

function* parseBatch<T>(lines: string): Generator<readonly WatchEvent<T>[]> {
  const batch: WatchEvent<T>[] = [];
  for (const line of lines.split('\n')) {
    if (line.trim() === '') continue;
    const event = JSON.parse(line) as WireEvent<T>;
    if (event.type !== 'ERROR') {
      batch.push(event);
      continue;
    }
    if (batch.length > 0) yield batch;
    throw new ApiError(event.object.code ?? 500, event.object);
  }
  if (batch.length > 0) yield batch;
}

type WireEvent<T> = WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status };
