import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../../kube/transport.ts';
import type { Answer, StreamConnection } from '../request/answer.ts';
import type { ApiServer } from './api-server.ts';
import type { UserInfo } from '../auth/user-info.ts';

/**
 * Direct calls into an API server of this process, without sockets, timers or anything else that a fake clock could
 * not rule: the same calls give the same answers in the same order.
 */
export function createInProcessTransport(api: ApiServer, user: UserInfo): Transport {
  const open = new Set<() => void>();
  let closed = false;

  const ask = async (request: TransportRequest): Promise<DeliveredAnswer> => {
    if (closed) throw new Error('the transport is closed');
    const { method, path, headers, body = '', signal } = request;
    signal?.throwIfAborted();
    const answering = api.answer({ method, path, headers, body, user });
    const answer = await (signal === undefined ? answering : unlessAborted(answering, signal));
    if (answer.kind === 'broken') throw new Error(`connection lost: ${method} ${path}`);
    return answer;
  };
  const stream = (request: TransportRequest, answer: DeliveredAnswer): TransportStream => {
    const { status, headers } = answer;
    if (answer.kind === 'whole') return { status, headers, chunks: onlyChunk(textOf(answer.body)) };
    const queue = createChunkQueue();
    const stop = answer.start(queue.sink);
    const end = (reason: unknown): void => {
      stop();
      open.delete(close);
      // A signal that outlives the stream would keep it, and all it refers to, for ever.
      request.signal?.removeEventListener('abort', abort);
      queue.fail(reason);
    };
    const abort = (): void => end(request.signal?.reason);
    const close = (): void => end(new Error('the transport is closed'));
    open.add(close);
    if (request.signal?.aborted === true) end(request.signal.reason);
    else request.signal?.addEventListener('abort', abort, { once: true });
    return { status, headers, chunks: queue.read(() => end(undefined)) };
  };

  return {
    send: async (request): Promise<TransportResponse> => {
      const answer = await ask(request);
      if (answer.kind === 'whole') return { status: answer.status, headers: answer.headers, body: textOf(answer.body) };
      let body = '';
      for await (const chunk of stream(request, answer).chunks) body += chunk;
      return { status: answer.status, headers: answer.headers, body };
    },
    stream: async (request) => stream(request, await ask(request)),
    close: async () => {
      closed = true;
      for (const close of open) close();
    },
  };
}

type DeliveredAnswer = Exclude<Answer, { kind: 'broken' }>;

/** A caller that gives up waits no longer; the server goes on, as one over the network would. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(asError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Only protobuf documents are bytes; no direct caller asks for them. */
const textOf = (body: string | Uint8Array): string => (typeof body === 'string' ? body : Buffer.from(body).toString('latin1'));

async function* onlyChunk(text: string): AsyncGenerator<string> {
  yield text;
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Joins a writer that does not wait with a reader that does. What is written between two reads is one chunk. */
function createChunkQueue(): { sink: StreamConnection; fail(reason: unknown): void; read(abandoned: () => void): AsyncGenerator<string> } {
  let pending = '';
  let ended = false;
  let failure: { readonly reason: unknown } | undefined;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };

  async function* read(abandoned: () => void): AsyncGenerator<string> {
    try {
      for (;;) {
        if (pending !== '') {
          const chunk = pending;
          pending = '';
          yield chunk;
        } else if (failure !== undefined) {
          if (failure.reason !== undefined) throw asError(failure.reason);
          return;
        } else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      abandoned();
    }
  }

  return {
    sink: {
      write: (text) => {
        pending += text;
        notify();
      },
      end: () => {
        ended = true;
        notify();
      },
      abort: () => {
        failure ??= { reason: new Error('connection lost') };
        notify();
      },
    },
    fail: (reason) => {
      failure ??= { reason };
      notify();
    },
    read,
  };
}
