import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { Agent, type Dispatcher, errors, ProxyAgent } from 'undici';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import type { Logger } from '../runtime/logger.ts';
import type { AddressRanges } from './address-ranges.ts';
import type { ClusterAccess, Credentials, TlsMaterial } from './cluster-access.ts';
import { connectionFailure } from './connection-failure.ts';
import { AddressDeniedError, guardedConnector } from './guarded-connector.ts';
import { KubeconfigError } from './kubeconfig/kubeconfig-error.ts';
import type { ByteRoom } from '../runtime/byte-room.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { UnusableAnswer } from './unusable-answer.ts';
import { type BodyBounds, WholeAnswer } from './whole-answer.ts';

/** Connections for requests; each carries one request at a time. Watches have their own, one per watch. */
const CONNECTIONS_MAX = 64;
const KEEP_ALIVE_MS = 60_000;
/** An API server ends a request that takes longer than 60 s by itself. */
const REQUEST_TIMEOUT_MS = 70_000;
/** The head of a watch comes at once. */
const WATCH_HEADERS_TIMEOUT_MS = 30_000;
/** As client-go: below the idle time-outs of cloud load balancers. */
const TCP_KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** All headers of one answer together; Kubernetes sends some hundred bytes. */
const HEADERS_MAX_BYTES = 32 * 1024;
/** Of the body of a refusal this much is read: enough for a Status with many causes. */
const REFUSAL_MAX_BYTES = 64 * 1024;

/**
 * Connections to one API server, pooled as long as the TLS material stays the same. None is made to an address of `denied`, however it is
 * written or found. Large bodies share `room`, where it is given. Redirects are answers like others: they are not followed. No compression
 * is asked for, and none is undone.
 */
export function createHttpTransport(access: ClusterAccess, log: Logger, denied?: AddressRanges, room?: ByteRoom): Transport {
  return new HttpTransport(access, log, denied, room);
}

type Pools = { readonly key: string; readonly requests: Dispatcher; readonly watches: Dispatcher };
type Prepared = {
  readonly dispatcher: Dispatcher;
  readonly options: Dispatcher.DispatchOptions & { readonly origin: string };
  readonly credentials: Credentials;
};

class HttpTransport implements Transport {
  readonly #access: ClusterAccess;
  readonly #log: Logger;
  readonly #denied: AddressRanges | undefined;
  readonly #room: ByteRoom | undefined;
  readonly #origin: string;
  readonly #basePath: string;
  #pools: Pools | undefined;
  /** The credentials that `#pools` was last found to fit; spares hashing them again for every request. */
  #fitting: Credentials | undefined;

  constructor(access: ClusterAccess, log: Logger, denied: AddressRanges | undefined, room: ByteRoom | undefined) {
    this.#room = room;
    this.#access = access;
    this.#log = log;
    this.#denied = denied;
    const url = new URL(access.server);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
  }

  async send(request: TransportRequest): ReturnType<Transport['send']> {
    try {
      const { dispatcher, options, credentials } = await this.#prepared(request, 'requests');
      const answer = new WholeAnswer((status) => this.#boundsOf(status, request), request.signal);
      dispatcher.dispatch(options, answer);
      const response = await answer.received;
      if (response.status === 401) this.#access.invalidate(credentials);
      return response;
    } catch (error) {
      throw this.#described(request, error);
    }
  }

  async stream(request: TransportRequest): ReturnType<Transport['stream']> {
    try {
      const { dispatcher, options, credentials } = await this.#prepared(request, 'watches');
      const { statusCode, headers, body } = await dispatcher.request({ ...options, ...omitUndefined({ signal: request.signal }) });
      if (statusCode === 401) this.#access.invalidate(credentials);
      body.setEncoding('utf8');
      return { status: statusCode, headers, chunks: this.#access.alias === undefined ? body : this.#discreet(request, body) };
    } catch (error) {
      throw this.#described(request, error);
    }
  }

  async *#discreet(request: TransportRequest, chunks: AsyncIterable<string>): AsyncGenerator<string> {
    try {
      yield* chunks;
    } catch (error) {
      throw this.#described(request, error);
    }
  }

  async close(): Promise<void> {
    const pools = this.#pools;
    this.#pools = undefined;
    this.#fitting = undefined;
    await Promise.all([pools?.requests.destroy(), pools?.watches.destroy()]);
  }

  #boundsOf(status: number, { bodyMaxBytes: maxBytes = Number.POSITIVE_INFINITY }: TransportRequest): BodyBounds {
    if (status < 300) return { maxBytes, beyond: 'fail', room: this.#room };
    return { maxBytes: Math.min(maxBytes, REFUSAL_MAX_BYTES), beyond: 'cut', room: undefined };
  }

  async #prepared(request: TransportRequest, kind: 'requests' | 'watches'): Promise<Prepared> {
    const credentials = await this.#access.credentials();
    const { method, path, headers, body, signal } = request;
    signal?.throwIfAborted();
    if ('impersonate-user' in headers && 'impersonate-user' in credentials.headers) {
      // The request would be somebody's whom nobody has asked for.
      throw new Error(
        'the kubeconfig impersonates a user already, and a request can act as one only; give the program an identity of its own',
      );
    }
    const options = {
      origin: this.#origin,
      path: this.#basePath + path,
      method,
      headers: { ...headers, ...credentials.headers },
      headersTimeout: kind === 'watches' ? WATCH_HEADERS_TIMEOUT_MS : REQUEST_TIMEOUT_MS,
      bodyTimeout: kind === 'watches' ? 0 : REQUEST_TIMEOUT_MS,
      // By default undici ends the connection of each DELETE with a body, in which a Kubernetes client says how to delete.
      reset: false,
      ...omitUndefined({ body }),
    };
    return { dispatcher: this.#poolsFor(credentials)[kind], options, credentials };
  }

  /** The pools of these credentials; those of earlier TLS material finish what they carry and are closed. */
  #poolsFor(credentials: Credentials): Pools {
    if (this.#pools !== undefined && this.#fitting === credentials) return this.#pools;
    const key = fingerprint(credentials.tls);
    if (this.#pools?.key !== key) {
      const outdated = this.#pools;
      this.#pools = { key, requests: this.#dispatcher(credentials.tls, CONNECTIONS_MAX), watches: this.#dispatcher(credentials.tls, null) };
      for (const dispatcher of [outdated?.requests, outdated?.watches]) {
        dispatcher
          ?.close()
          .catch((error: unknown) =>
            this.#log.warn('closing connections with outdated credentials failed', { error: connectionFailure(error) }),
          );
      }
    }
    this.#fitting = credentials;
    return this.#pools;
  }

  #dispatcher(tls: TlsMaterial, connections: number | null): Dispatcher {
    // Certificates and keys are read once, and not for every connection.
    const secureContext = createSecureContext(tls);
    // HTTP/2, which API servers offer, costs about a third more processor time a request here, and one stalled connection would stall them
    // all.
    const connect = {
      ...tls,
      secureContext,
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      allowH2: false,
    };
    const pool = {
      connections,
      keepAliveTimeout: KEEP_ALIVE_MS,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: HEADERS_MAX_BYTES,
    };
    const { proxyUrl } = this.#access;
    if (proxyUrl === undefined)
      return new Agent({ ...pool, connect: this.#denied === undefined ? connect : guardedConnector(connect, this.#denied) });
    return new ProxyAgent({ ...pool, uri: proxyUrl, requestTls: connect });
  }

  #described(request: TransportRequest, error: unknown): unknown {
    if (request.signal?.aborted === true || error instanceof UnusableAnswer) return error;
    if (isHeadersOverflow(error))
      return new UnusableAnswer('AnswerTooLarge', `the headers of the answer have more than ${HEADERS_MAX_BYTES} bytes`);
    const { alias } = this.#access;
    if (alias !== undefined) {
      const cause = error instanceof AddressDeniedError ? error : new Error(connectionFailure(error));
      return new Error(`${request.method} ${request.path} at ${alias}: no answer`, { cause });
    }
    // Nothing was asked when there were no credentials to ask with.
    const what = error instanceof KubeconfigError ? error.message : 'no answer';
    return new Error(`${request.method} ${this.#access.server}${request.path}: ${what}`, { cause: error });
  }
}

const isHeadersOverflow = (error: unknown): boolean => error instanceof errors.HeadersOverflowError;

function fingerprint(tls: TlsMaterial): string {
  const hash = createHash('sha256');
  for (const [name, value] of Object.entries(tls)) hash.update(`${name}\0${String(value)}\0`);
  return hash.digest('base64');
}
