import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import type { AccessGate } from '../../shared/kube/access-gate.ts';
import { ownerOf } from '../../shared/kube/user-identity.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { type ByteRoom, createByteRoom } from '../../shared/runtime/byte-room.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { boundTo, limitConnections, parseAddress, pathOf, SERVER_LIMITS } from '../../shared/runtime/http-server.ts';
import { connectionsOf } from '../../shared/runtime/server-connections.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createShares } from '../../shared/runtime/shares.ts';
import type { CertificateSource } from '../../shared/runtime/serving-certificate.ts';
import type { AuditEntry, AuditOrigin } from '../audit/audit-line.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { entryOfAnswer, entryOfError, type AuditedRequest } from './audited-request.ts';
import type { ApiMetrics } from './api-metrics.ts';
import { matchRoute } from './match-route.ts';
import { discardBody, readJson } from './request-body.ts';
import { RequestRefused, statusOf, type ApiAnswer, type Parameters, type Route, type ServerEvent } from './route.ts';
import { sendEvents } from './send-events.ts';

export type ApiServerDeps = {
  readonly routes: readonly Route[];
  /** Served without authentication at `/openapi.json`; absent: not served. */
  readonly openApi?: object;
  readonly gate: AccessGate;
  /** Absent: plain HTTP. */
  readonly tls?: CertificateSource;
  readonly bodyBytesMax: number;
  /** The problem of a body's text before it is parsed; undefined when there is none. */
  readonly problemOf?: (text: string) => string | undefined;
  /** Absent: no metrics. */
  readonly metrics?: ApiMetrics;
  /** Absent: no audit log is kept. */
  readonly audit?: { readonly door: AuditOrigin['door']; readonly log: Pick<AuditLog, 'note'> } | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Memory for the bodies being read, of all clients. */
const BODIES_BYTES = 16 * 1024 * 1024;
const ROOM_WAIT_MS = 3_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Requests in flight besides streams: in all, and on one connection. */
const REQUESTS_MAX = 512;
const PIPELINED_MAX = 16;
const STREAMS_MAX = 1_024;
/** Connections besides streams: each stream takes a whole connection, and leaves these to pages. */
const PAGE_CONNECTIONS_MAX = 1_024;
/** The age at which a stream ends. The client reconnects and is authenticated again, so that revoked rights take effect. */
const STREAM_MAX_MS = 600_000;

export type ApiServer = { readonly url: string; close(): Promise<void> };

/** Serves routes on `host:port`; port 0 takes any free one. No body is read before its sender is authenticated and authorized. */
export async function serveApi(address: string, deps: ApiServerDeps): Promise<ApiServer> {
  const { tls } = deps;
  const { host, port } = parseAddress(address);
  const listener = listenerOf(deps);
  const shown = tls && (await tls.first());
  // As in shared/runtime/http-server.ts: an import of this module would load an HTTP client of 13 MiB.
  const { createServer } = process.getBuiltinModule('node:http');
  const secure = shown && createTlsServer({ ...SERVER_LIMITS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, ...shown }, listener);
  const server: Server = secure ?? createServer(SERVER_LIMITS, listener);
  // A client that expects `100 Continue` is answered before it sends its body.
  server.on('checkContinue', listener);
  limitConnections(server, STREAMS_MAX + PAGE_CONNECTIONS_MAX);
  const connections = connectionsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const stopFollowing = secure && tls?.follow(shown, (next) => secure.setSecureContext(next));
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${boundTo(server)}`,
    close: () => {
      stopFollowing?.();
      return connections.close();
    },
  };
}

function listenerOf(deps: ApiServerDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const listener = new Listener(deps);
  return (request, response) => listener.take(request, response);
}

class Listener {
  readonly #deps: ApiServerDeps;
  readonly #room: ByteRoom;
  readonly #streams = createShares(STREAMS_MAX);
  readonly #requests = createShares(REQUESTS_MAX);
  readonly #connections = createShares(PAGE_CONNECTIONS_MAX);
  readonly #leaveOf = new WeakMap<Socket, () => void>();
  /**
   * The requests of each connection. Only the end of the connection aborts all of them: a response that is queued behind another one gets
   * no event.
   */
  readonly #onConnection = new WeakMap<Socket, Set<AbortController>>();
  #inFlight = 0;

  constructor(deps: ApiServerDeps) {
    this.#deps = deps;
    this.#room = createByteRoom({ bytes: BODIES_BYTES, waitMs: ROOM_WAIT_MS, clock: deps.clock });
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const { metrics, clock } = this.#deps;
    const stop = new AbortController();
    const together = this.#onConnection.get(request.socket) ?? this.#newConnection(request.socket);
    // A client that pipelines too many requests is disconnected.
    if (together.size >= PIPELINED_MAX) return void request.socket.destroy();
    together.add(stop);
    this.#inFlight++;
    const asked: Asked = { request, response, stop, route: undefined, parameters: undefined, user: undefined, counted: undefined };
    const sinceMs = clock.monotonic();
    response.once('finish', () => {
      const labels = { route: asked.route?.path ?? 'other', method: asked.route?.method ?? 'other' };
      metrics?.requests.inc({ ...labels, code: String(response.statusCode) });
      if (response.getHeader('content-type') === 'application/json')
        metrics?.duration.observe(labels, (clock.monotonic() - sinceMs) / 1_000);
    });
    void this.#handle(asked).finally(() => {
      together.delete(stop);
      asked.counted?.release();
      this.#inFlight--;
    });
  }

  #newConnection(socket: Socket): Set<AbortController> {
    const requests = new Set<AbortController>();
    this.#onConnection.set(socket, requests);
    socket.once('close', () => {
      for (const stop of requests) stop.abort(new Error('the client has left'));
    });
    return requests;
  }

  async #handle(asked: Asked): Promise<void> {
    const { response } = asked;
    for (const [name, value] of Object.entries(EVERY_ANSWER)) response.setHeader(name, value);
    try {
      const answer = await this.#auditedAnswer(asked);
      if (answer.kind === 'Json') return sendJson(response, answer.status, answer.body, answer.headers);
      if (answer.kind === 'Events') return await this.#stream(asked, answer.events);
      const length = answer.status === 304 ? {} : { 'content-length': answer.body?.byteLength ?? 0 };
      response.writeHead(answer.status, { ...answer.headers, ...length });
      response.end(answer.body);
    } catch (error) {
      await this.#answerError(asked, error);
    }
  }

  /** Answers, and writes the audit entry before the answer is sent. */
  async #auditedAnswer(asked: Asked): Promise<ApiAnswer> {
    const { audit } = this.#deps;
    // A closed connection has no address.
    const address = asked.request.socket.remoteAddress;
    const ofAudit = (): AuditedRequest | undefined => {
      const { route, parameters = {}, user } = asked;
      if (audit === undefined || route?.audited === undefined) return undefined;
      return { audited: route.audited, parameters, user, from: { door: audit.door, address } };
    };
    const note = (entry: AuditEntry | undefined): void => entry && audit?.log.note(entry);
    try {
      const answer = await this.#answer(asked);
      const known = ofAudit();
      note(known && entryOfAnswer(known, answer));
      return answer;
    } catch (error) {
      const known = ofAudit();
      note(known && entryOfError(known, error));
      throw error;
    }
  }

  async #answer(asked: Asked): Promise<ApiAnswer> {
    const { routes, openApi, gate } = this.#deps;
    const { request, response, stop } = asked;
    const path = pathOf(request);
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    const match = matchRoute(routes, method, path);
    if (match.kind === 'Route') [asked.route, asked.parameters] = [match.route, match.parameters];
    if (this.#inFlight > REQUESTS_MAX)
      throw new RequestRefused(503, 'ServiceUnavailable', 'too many requests at once; try again', { 'retry-after': '1' });
    if (openApi !== undefined && path === '/openapi.json' && method === 'GET') return { kind: 'Json', status: 200, body: openApi };
    if (match.kind === 'None')
      throw new RequestRefused(404, 'NotFound', `this path is not served${openApi === undefined ? '' : '; see /openapi.json for what is'}`);
    if (match.kind === 'OtherMethods') {
      const allow = match.allowed.join(', ');
      throw new RequestRefused(405, 'MethodNotAllowed', `${request.method} is not served here, but ${allow}`, { allow });
    }
    const { route, parameters } = match;
    const header = (name: string): string | undefined => onlyHeader(request, name);
    const authorization = header('authorization');
    const address = request.socket.remoteAddress;
    const countFor = (user: KubeUser): void => {
      asked.user = user;
      this.#countFor(ownerOf(user), asked);
    };
    for (const attributes of route.access === 'Own' ? [] : [route.access(parameters)].flat()) {
      const answer = await gate(authorization, attributes, address);
      if (answer.kind === 'Refused') {
        asked.user = answer.user;
        throw new RequestRefused(answer.status, REASONS[answer.status], answer.why, HEADERS[answer.status]);
      }
      countFor(answer.user);
    }
    const traceparent = header('traceparent');
    const asking = {
      parameters,
      query: new URLSearchParams(/\?(.*)$/s.exec(request.url ?? '')?.[1]),
      lastEventId: header('last-event-id'),
      ...omitUndefined({ traceparent, user: asked.user }),
      caller: { authorization, address, header },
      countFor,
      signal: stop.signal,
    };
    await route.admit?.(asking);
    return route.handle({
      ...asking,
      body: route.body === undefined ? undefined : await readJson(request, response, this.#deps, this.#room),
    });
  }

  /** Counts a request for its owner, and the connection of the request. */
  #countFor(owner: string, asked: Asked): void {
    asked.counted?.release();
    const release = this.#requests.take(owner);
    if (release === undefined)
      throw new RequestRefused(429, 'TooManyRequests', 'too many requests of this user are under way; wait for their answers', {
        'retry-after': '1',
      });
    asked.counted = { owner, release };
    const { socket } = asked.request;
    if (this.#leaveOf.has(socket)) return;
    const leave = this.#connections.take(owner);
    // A connection beyond an owner's share closes with its answer.
    if (leave === undefined) return void asked.response.setHeader('connection', 'close');
    this.#leaveOf.set(socket, leave);
    socket.once('close', leave);
  }

  async #stream(asked: Asked, events: AsyncIterable<ServerEvent>): Promise<void> {
    const { metrics, clock } = this.#deps;
    const { request, response, stop } = asked;
    const streams = this.#streams;
    if (asked.counted === undefined) throw new Error(`the route ${asked.route?.path} has not said whose stream it opens`);
    const closeStream = streams.take(asked.counted.owner);
    if (closeStream === undefined)
      throw new RequestRefused(429, 'TooManyRequests', 'too many streams are open; close some', { 'retry-after': '5' });
    asked.counted.release();
    this.#leaveOf.get(request.socket)?.();
    this.#inFlight--;
    metrics?.streams.set(streams.size);
    const timer = clock.schedule(() => stop.abort(new Error('the stream is old enough')), STREAM_MAX_MS);
    try {
      await sendEvents(response, events, { clock, signal: stop.signal });
    } finally {
      timer.cancel();
      closeStream();
      this.#inFlight++;
      metrics?.streams.set(streams.size);
    }
  }

  async #answerError({ request, response, stop }: Asked, error: unknown): Promise<void> {
    const { clock, log } = this.#deps;
    if (error instanceof RequestRefused && !response.headersSent) {
      // The unread rest of a body must not be parsed as the next request.
      if (!request.complete) response.setHeader('connection', 'close');
      if (error.status === 413) await discardBody(request, clock);
      return sendJson(response, error.status, statusOf(error.status, error.reason, error.message), error.headers);
    }
    if (!stop.signal.aborted) log.warn('a request could not be served', { path: pathOf(request), error });
    if (stop.signal.aborted || response.headersSent) return void response.destroy();
    sendJson(response, 503, statusOf(503, 'ServiceUnavailable', 'something that is needed does not answer; try again'), HEADERS[503]);
  }
}

/**
 * The value of one header. Node joins the values of a repeated header or takes the first (`headers`), and a proxy may differ: a value that
 * a sender adds to a proxy's header must not count.
 */
function onlyHeader(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name] ?? [];
  if (values.length > 1)
    throw new RequestRefused(
      400,
      'BadRequest',
      `the header ${name} comes ${values.length} times; send it once, and have proxies replace it`,
    );
  return values[0];
}

/** A request with its response, and the known facts of it so far. */
type Asked = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly stop: AbortController;
  route: Route | undefined;
  parameters: Parameters | undefined;
  user: KubeUser | undefined;
  counted: { readonly owner: string; readonly release: () => void } | undefined;
};

/** Browsers must not render, store or frame an answer. */
const EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;
const REASONS = { 401: 'Unauthorized', 403: 'Forbidden', 503: 'ServiceUnavailable' } as const;
/** An unauthenticated sender keeps no connection. */
const HEADERS = { 401: { 'www-authenticate': 'Bearer', connection: 'close' }, 403: {}, 503: { 'retry-after': '5' } } as const;

function sendJson(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string | string[]>> = {}): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
