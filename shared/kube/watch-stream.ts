import { apiErrorOf } from './api-error.ts';
import type { AnswerLimits, JsonLimits } from './answer-limits.ts';
import { parseBoundedJson } from './bounded-json.ts';
import type { WatchEvent, WatchStream } from './client.ts';
import { UnusableAnswer } from './unusable-answer.ts';

export type WatchLimits = Pick<AnswerLimits, 'eventLength' | 'json' | 'pace'>;

/**
 * Cuts a watch body into events: one JSON document per line, all complete lines of a network chunk as one batch. A line longer than
 * permitted is an {@link UnusableAnswer}; a server that makes too much work is not read until `signal` aborts or its pace allows it.
 */
export async function* readWatch<T>(chunks: AsyncIterable<string>, limits: WatchLimits, signal?: AbortSignal): WatchStream<T> {
  const unfinished = new UnfinishedLine(limits.eventLength);
  for await (const chunk of chunks) {
    const lastNewline = chunk.lastIndexOf('\n');
    let lines = 0;
    if (lastNewline < 0) unfinished.add(chunk);
    else {
      unfinished.add(chunk.slice(0, lastNewline));
      const complete = unfinished.take().split('\n');
      unfinished.add(chunk.slice(lastNewline + 1));
      lines = complete.length;
      yield* parseBatch<T>(complete, limits.json);
    }
    limits.pace?.received(chunk.length, lines);
    await limits.pace?.settled(signal);
  }
  // A body cut off in the middle of a line belongs to a broken connection: the event comes again on resume.
}

/** Joined when many pieces have come: those of one character each would take thirty times the memory of what they say. */
class UnfinishedLine {
  readonly #lengthMax: number;
  #joined: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  add(piece: string): void {
    this.#length += piece.length;
    // Many short lines in one chunk may be longer together, but come from one read of a socket.
    if (this.#length > this.#lengthMax && !piece.includes('\n'))
      throw new UnusableAnswer('AnswerTooLarge', `an event of the watch is longer than ${this.#lengthMax} characters`);
    this.#pieces.push(piece);
    if (this.#pieces.length < PIECES_MAX) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  take(): string {
    const text = this.#joined.join('') + this.#pieces.join('');
    this.#joined = [];
    this.#pieces = [];
    this.#length = 0;
    return text;
  }
}

const PIECES_MAX = 1024;

function* parseBatch<T>(lines: readonly string[], limits: JsonLimits | undefined): Generator<readonly WatchEvent<T>[]> {
  const batch: WatchEvent<T>[] = [];
  for (const line of lines) {
    if (line.trim() === '') continue;
    const event = parseBoundedJson(line, limits);
    if (isError(event)) {
      if (batch.length > 0) yield batch;
      throw apiErrorOf(event.object.code, event.object);
    }
    if (!isEvent<T>(event)) throw new UnusableAnswer('NotKubernetes', 'an event of the watch has no type and object of Kubernetes');
    batch.push(event);
  }
  if (batch.length > 0) yield batch;
}

type WireEvent = { readonly type?: unknown; readonly object?: unknown } | null;

const isError = (event: unknown): event is { readonly type: 'ERROR'; readonly object: { readonly code?: unknown } } =>
  (event as WireEvent)?.type === 'ERROR' && typeof (event as WireEvent)?.object === 'object' && (event as WireEvent)?.object !== null;

/** The object's own shape is looked at by who knows what it should be. */
function isEvent<T>(event: unknown): event is WatchEvent<T> {
  const { type, object } = (event ?? {}) as { readonly type?: unknown; readonly object?: unknown };
  if (typeof object !== 'object' || object === null) return false;
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
}
