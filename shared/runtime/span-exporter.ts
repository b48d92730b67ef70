/**
 * Sends spans to a collector of OpenTelemetry: OTLP over HTTP in JSON. Nothing ever waits for it: spans are gathered in a buffer of bounded
 * size and sent in batches; what it has no room for, and what the collector does not take within a few tries, is dropped and counted.
 */
import { createBackoff } from './backoff.ts';
import { sleep, type Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';
import { exportRequest, rejectedSpans, retryAfterMs, type Span } from './span.ts';
import type { TraceDestination } from './tracing-flags.ts';

export interface SpanExporter {
  /** Takes a span that is over; returns at once. */
  export(span: Span): void;
  /** Sends until `signal` aborts; what is gathered then is still sent, for a moment. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export type SpanExporterDeps = TraceDestination & {
  /** What the spans are of: `service.name` and the like. */
  readonly resource: Span['attributes'];
  /** Spans that the collector has taken, or that were dropped. */
  readonly count: (result: 'exported' | 'dropped', spans: number) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

/** About 2 MiB. */
const BUFFER_MAX = 4_096;
const BATCH_MAX = 512;
const GATHER_MS = 1_000;
const ANSWER_MS = 10_000;
const TRIES_MAX = 5;
/** Longest wait before the next try, whatever the collector asks for. */
const WAIT_MAX_MS = 30_000;
const LAST_MS = 2_000;
const ANSWER_BYTES_MAX = 16 * 1024;
/** By the specification: all others say that the request will never be taken. */
const RETRYABLE: readonly number[] = [429, 502, 503, 504];

type Sent =
  | { readonly kind: 'Taken'; readonly rejected: number }
  | { readonly kind: 'Again'; readonly problem: unknown; readonly afterMs?: number | undefined }
  | { readonly kind: 'Refused'; readonly problem: unknown };

export function createSpanExporter(deps: SpanExporterDeps): SpanExporter {
  return new OtlpExporter(deps);
}

class OtlpExporter implements SpanExporter {
  readonly #deps: SpanExporterDeps;
  readonly #buffer: Span[] = [];
  #wake = Promise.withResolvers<void>();
  #inTrouble = false;

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps;
  }

  export(span: Span): void {
    if (this.#buffer.length >= BUFFER_MAX) return this.#deps.count('dropped', 1);
    this.#buffer.push(span);
    this.#wake.resolve();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#buffer.length === 0) await this.#untilWoken(signal);
      if (this.#buffer.length < BATCH_MAX) await sleep(this.#deps.clock, GATHER_MS, signal);
      if (signal.aborted) break;
      await this.#deliver(this.#buffer.splice(0, BATCH_MAX), signal);
    }
    await this.#sendTheLast();
  }

  async #untilWoken(signal: AbortSignal): Promise<void> {
    this.#wake = Promise.withResolvers();
    const woken = (): void => this.#wake.resolve();
    signal.addEventListener('abort', woken, { once: true });
    await this.#wake.promise;
    signal.removeEventListener('abort', woken);
  }

  /** Ends with the batch taken or dropped. */
  async #deliver(batch: readonly Span[], signal: AbortSignal): Promise<void> {
    const { random, clock } = this.#deps;
    const backoff = createBackoff({ baseMs: 500, maxMs: WAIT_MAX_MS, random });
    for (let tries = 1; ; tries++) {
      const sent = await this.#send(batch, ANSWER_MS, signal);
      if (signal.aborted && sent.kind !== 'Taken') {
        // It is sent once more at the very end, with what came since.
        this.#buffer.unshift(...batch);
        return;
      }
      if (sent.kind !== 'Again' || tries === TRIES_MAX) return this.#settle(batch, sent);
      const waitMs = Math.min(WAIT_MAX_MS, Math.max(backoff.nextDelayMs(), sent.afterMs ?? 0));
      await sleep(clock, waitMs, signal);
    }
  }

  async #send(batch: readonly Span[], limitMs: number, signal?: AbortSignal): Promise<Sent> {
    const { clock, url, headers, resource } = this.#deps;
    const late = new AbortController();
    const timer = clock.schedule(() => late.abort(new Error(`the collector has not answered within ${limitMs} ms`)), limitMs);
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(exportRequest(batch, resource)),
        // Headers may hold a token, which is for this address only.
        redirect: 'error',
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      });
      const text = await beginning(answer);
      if (answer.ok) return { kind: 'Taken', rejected: Math.min(batch.length, rejectedSpans(text)) };
      const problem = `status ${answer.status}`;
      if (!RETRYABLE.includes(answer.status)) return { kind: 'Refused', problem };
      return { kind: 'Again', problem, afterMs: retryAfterMs(answer.headers.get('retry-after'), clock.now()) };
    } catch (error) {
      return { kind: 'Again', problem: error };
    } finally {
      timer.cancel();
    }
  }

  #settle(batch: readonly Span[], sent: Sent): void {
    const { count, log, url } = this.#deps;
    const dropped = sent.kind === 'Taken' ? sent.rejected : batch.length;
    count('exported', batch.length - dropped);
    count('dropped', dropped);
    const isTrouble = sent.kind !== 'Taken';
    if (isTrouble && !this.#inTrouble) log.warn('traces cannot be exported and are dropped', { url: addressOf(url), error: sent.problem });
    if (!isTrouble && this.#inTrouble) log.info('traces are exported again', { url: addressOf(url) });
    this.#inTrouble = isTrouble;
  }

  /** With one try, for as long as a program that is stopped can wait. */
  async #sendTheLast(): Promise<void> {
    const { clock, count } = this.#deps;
    const over = new AbortController();
    const timer = clock.schedule(() => over.abort(new Error('the program ends')), LAST_MS);
    while (this.#buffer.length > 0 && !over.signal.aborted) {
      const batch = this.#buffer.splice(0, BATCH_MAX);
      this.#settle(batch, await this.#send(batch, LAST_MS, over.signal));
    }
    timer.cancel();
    count('dropped', this.#buffer.splice(0).length);
  }
}

/** Without what may be secret in it. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The collector may say more than anybody wants to know. */
async function beginning(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
