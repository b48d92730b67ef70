import { stringify as toYaml } from 'yaml';
import type { StatusError } from '../apimachinery/status-error.ts';

/** Receives a streamed answer. */
export interface StreamSink {
  write(text: string): void;
  end(): void;
  /** How fast the reader is; absent where nothing is kept for a slow one. Whoever heeds it writes while there is room. */
  readonly pace?: Pace | undefined;
}

export interface Pace {
  hasRoom(): boolean;
  /** Calls back when there is room again. One at a time. */
  onceRoom(callback: () => void): void;
}

/** Where a streamed answer goes. */
export interface StreamConnection extends StreamSink {
  /** Breaks it, so that the reader meets an error and not an end. */
  abort(): void;
}

/** One answer, before it takes the shape of HTTP or of a direct call. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
} & (
  | { readonly kind: 'whole'; readonly body: string | Uint8Array }
  /** `start` begins to write and returns what stops it. */
  | { readonly kind: 'stream'; readonly start: (connection: StreamConnection) => () => void }
  /** None: the connection breaks. */
  | { readonly kind: 'broken' }
);

export const BROKEN: Answer = { kind: 'broken', status: 0, headers: {} };

export type Format = 'json' | 'yaml';

/** An answer whose body is JSON text already. */
export function jsonAnswer(status: number, text: string, format: Format = 'json', contentType?: string): Answer {
  // Go's encoder ends every document with a line feed.
  if (format === 'json')
    return { kind: 'whole', status, headers: { 'content-type': contentType ?? 'application/json' }, body: `${text}\n` };
  const body = toYaml(JSON.parse(text), { sortMapEntries: true, lineWidth: 0 });
  return { kind: 'whole', status, headers: { 'content-type': 'application/yaml' }, body };
}

export const textAnswer = (status: number, body: string): Answer => ({
  kind: 'whole',
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

/** A body without anything in it. */
export const NO_CONTENT: Answer = { kind: 'whole', status: 204, headers: {}, body: '' };

/** What an unknown path outside the API gets. */
export const pageNotFound = (): Answer => textAnswer(404, '404 page not found\n');

export function errorAnswer(error: StatusError, format: Format = 'json'): Answer {
  const answer = jsonAnswer(error.code, JSON.stringify(error.toStatus()), format);
  return error.retryAfterSeconds === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, 'retry-after': String(error.retryAfterSeconds) } };
}

export function withWarnings(answer: Answer, warnings: readonly string[]): Answer {
  if (warnings.length === 0) return answer;
  const values = shortened([...new Set(warnings)].filter((text) => text !== ''))
    // A text with control characters cannot stand in a header; upstream drops it too (NewWarningHeader).
    .filter((text) => !/\p{Cc}/u.test(text))
    .map((text) => `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return { ...answer, headers: { ...answer.headers, warning: values } };
}

const WARNINGS_MAX_CHARACTERS = 4096;
const SHORTENED_TO_CHARACTERS = 256;

/** Warnings that are too much together are cut off, and those that are too much even then are left out (warning.Recorder of apiserver). */
function shortened(warnings: readonly string[]): readonly string[] {
  const lengths = warnings.map((text) => Array.from(text).length);
  if (lengths.reduce((sum, length) => sum + length, 0) <= WARNINGS_MAX_CHARACTERS) return warnings;
  let written = 0;
  return warnings.flatMap((text, i) => {
    if (written >= WARNINGS_MAX_CHARACTERS) return [];
    written += Math.min(lengths[i] ?? 0, SHORTENED_TO_CHARACTERS);
    return [Array.from(text).slice(0, SHORTENED_TO_CHARACTERS).join('')];
  });
}
