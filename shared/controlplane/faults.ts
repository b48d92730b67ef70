import { type Clock, sleep } from '../runtime/clock.ts';
import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../kube/transport.ts';
import { StatusError, tooManyRequests } from './status-error.ts';

/** What goes wrong on the way of one request. */
export type Fault =
  /** The server answers with an error and does nothing. `retryAfterSeconds` only with 429. */
  | { readonly kind: 'refuse'; readonly code: 429 | 500 | 503 | 504; readonly retryAfterSeconds?: number }
  /** The connection breaks before the server hears of the request. */
  | { readonly kind: 'lose-request' }
  /** The server does what it was asked, and the connection breaks before the answer arrives. */
  | { readonly kind: 'lose-answer' }
  /** Everything is in order, only late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** A stream breaks after a while. */
  | { readonly kind: 'cut'; readonly afterMs: number }
  /** The request goes nowhere and nothing ever comes back, until its signal aborts. */
  | { readonly kind: 'black-hole' };

/** Decides what goes wrong with a request; undefined: nothing. */
export type FaultPlan = (request: TransportRequest) => Fault | undefined;

/** A connection to an API server on which things go wrong as planned. */
export function createFaultyTransport(transport: Transport, plan: FaultPlan, clock: Clock): Transport {
  const broken = ({ method, path }: TransportRequest): Error => new Error(`connection lost: ${method} ${path}`);

  async function send(request: TransportRequest): Promise<TransportResponse> {
    const fault = plan(request);
    switch (fault?.kind) {
      case 'refuse':
        return refusal(fault);
      case 'lose-request':
        throw broken(request);
      case 'lose-answer':
        await transport.send(request);
        throw broken(request);
      case 'delay':
        await sleep(clock, fault.ms, request.signal);
        return transport.send(request);
      case 'black-hole':
        return nothing(request);
      case 'cut':
      case undefined:
        return transport.send(request);
    }
  }

  async function stream(request: TransportRequest): Promise<TransportStream> {
    const fault = plan(request);
    switch (fault?.kind) {
      case 'refuse': {
        const { status, headers, body } = refusal(fault);
        return { status, headers, chunks: once(body) };
      }
      case 'lose-request':
      case 'lose-answer':
        throw broken(request);
      case 'delay':
        await sleep(clock, fault.ms, request.signal);
        return transport.stream(request);
      case 'black-hole':
        return nothing(request);
      case 'cut':
        return cutAfter(transport, request, fault.afterMs, clock, broken(request));
      case undefined:
        return transport.stream(request);
    }
  }

  return { send, stream, close: () => transport.close() };
}

function refusal({ code, retryAfterSeconds = 1 }: Extract<Fault, { kind: 'refuse' }>): TransportResponse {
  const error =
    code === 429
      ? tooManyRequests('too many requests, please try again later', retryAfterSeconds)
      : new StatusError(code, code === 503 ? 'ServiceUnavailable' : code === 504 ? 'Timeout' : 'InternalError', 'a planned fault');
  const headers = code === 429 ? { 'retry-after': String(retryAfterSeconds) } : {};
  return { status: code, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(error.toStatus()) };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

/** Waits for the abort of the request, however long that takes. */
const nothing = ({ signal }: TransportRequest): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });

async function cutAfter(
  transport: Transport,
  request: TransportRequest,
  afterMs: number,
  clock: Clock,
  error: Error,
): Promise<TransportStream> {
  const cutting = new AbortController();
  const forward = (): void => cutting.abort(request.signal?.reason);
  if (request.signal?.aborted === true) forward();
  request.signal?.addEventListener('abort', forward, { once: true });
  const timer = clock.schedule(() => cutting.abort(error), afterMs);
  const { status, headers, chunks } = await transport.stream({ ...request, signal: cutting.signal });
  return { status, headers, chunks: cancelling(chunks, () => timer.cancel()) };
}

/** Runs `done` when the reader has come to the end or turned away. */
async function* cancelling(chunks: AsyncIterable<string>, done: () => void): AsyncGenerator<string> {
  try {
    yield* chunks;
  } finally {
    done();
  }
}
