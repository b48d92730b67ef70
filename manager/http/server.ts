import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { AccessGate } from '../../shared/kube/access-gate.ts';
import { createByteRoom } from '../../shared/runtime/byte-room.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { boundTo, limitConnections, parseAddress, pathOf, SERVER_LIMITS } from '../../shared/runtime/http-server.ts';
import { connectionsOf } from '../../shared/runtime/server-connections.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { CertificateSource } from '../../shared/runtime/serving-certificate.ts';
import type { ApiMetrics } from '../metrics.ts';
import { matchRoute } from './match-route.ts';
import { createOpenStreams } from './open-streams.ts';
import { readJson } from './request-body.ts';
import { RequestRefused, statusOf, type ApiAnswer, type Route } from './route.ts';
import { sendEvents } from './send-events.ts';

export type ApiServerDeps = {
  readonly routes: readonly Route[];
  /** Served to everybody, at `/openapi.json`; absent: nothing is. */
  readonly openApi?: object;
  readonly gate: AccessGate;
  /** Absent: plain HTTP. */
  readonly tls?: CertificateSource;
  readonly bodyBytesMax: number;
  /** What is wrong with the text of a body, before it is parsed; undefined when nothing is. */
  readonly problemOf?: (text: string) => string | undefined;
  /** Streams that may be open at once, of all and of one token; absent: as below. */
  readonly streamLimits?: { readonly all: number; readonly perToken: number };
  /** Absent: nothing is counted. */
  readonly metrics?: ApiMetrics;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Of bodies that are being read, by all clients. */
const BODIES_BYTES = 16 * 1024 * 1024;
const ROOM_WAIT_MS = 3_000;
const CONNECTIONS_MAX = 1_024;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Under way at once, beside streams: of all, and on one connection. */
const REQUESTS_MAX = 512;
const PIPELINED_MAX = 16;
const STREAM_LIMITS = { all: 512, perToken: 128 };
/** Then a client comes back for the rest, and is asked who it is: what was taken from it ends here. */
const STREAM_MAX_MS = 600_000;

export type ApiServer = { readonly url: string; close(): Promise<void> };

/** Serves routes on `host:port`; port 0 takes any free one. Nothing of a body is read before its sender is known and may send it. */
export async function serveApi(address: string, deps: ApiServerDeps): Promise<ApiServer> {
  const { tls } = deps;
  const { host, port } = parseAddress(address);
  const listener = listenerOf(deps);
  const shown = tls && (await tls.first());
  // As in shared/runtime/http-server.ts: an import of this module would load an HTTP client of 13 MiB.
  const { createServer } = process.getBuiltinModule('node:http');
  const secure = shown && createTlsServer({ ...SERVER_LIMITS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, ...shown }, listener);
  const server: Server = secure ?? createServer(SERVER_LIMITS, listener);
  // Who asks before sending a body is answered before it.
  server.on('checkContinue', listener);
  limitConnections(server, CONNECTIONS_MAX);
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
  const { routes, openApi, gate, metrics, clock, log } = deps;
  const nothingThere = `this path is not served${openApi === undefined ? '' : '; see /openapi.json for what is'}`;
  const room = createByteRoom({ bytes: BODIES_BYTES, waitMs: ROOM_WAIT_MS, clock });
  const streams = createOpenStreams(deps.streamLimits ?? STREAM_LIMITS);
  /** Of each connection. Only its own end tells all of them: a response that waits behind another one hears nothing. */
  const onConnection = new WeakMap<Socket, Set<AbortController>>();
  let underWay = 0;

  async function answerOf(request: IncomingMessage, response: ServerResponse, asked: Asked, signal: AbortSignal): Promise<ApiAnswer> {
    const path = pathOf(request);
    if (underWay > REQUESTS_MAX)
      throw new RequestRefused(503, 'ServiceUnavailable', 'too many requests at once; try again', { 'retry-after': '1' });
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    if (openApi !== undefined && path === '/openapi.json' && method === 'GET') return { kind: 'Json', status: 200, body: openApi };
    const match = matchRoute(routes, method, path);
    if (match.kind === 'None') throw new RequestRefused(404, 'NotFound', nothingThere);
    if (match.kind === 'OtherMethods') {
      const allow = match.allowed.join(', ');
      throw new RequestRefused(405, 'MethodNotAllowed', `${request.method} is not served here, but ${allow}`, { allow });
    }
    const { route, parameters } = match;
    asked.route = route;
    const { authorization } = request.headers;
    const refusal = route.access === 'Own' ? undefined : await gate(authorization, route.access(parameters));
    if (refusal !== undefined) throw new RequestRefused(refusal.status, REASONS[refusal.status], refusal.why, HEADERS[refusal.status]);
    const body = route.body === undefined ? undefined : await readJson(request, response, deps, room);
    const query = new URLSearchParams(/\?(.*)$/s.exec(request.url ?? '')?.[1]);
    const header = (name: string): string | undefined => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    const caller = { authorization, address: request.socket.remoteAddress, header };
    const traceparent = header('traceparent');
    return route.handle({
      parameters,
      query,
      body,
      lastEventId: header('last-event-id'),
      ...(traceparent === undefined ? {} : { traceparent }),
      caller,
      signal,
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse, asked: Asked, stop: AbortController): Promise<void> {
    for (const [name, value] of Object.entries(EVERY_ANSWER)) response.setHeader(name, value);
    try {
      const answer = await answerOf(request, response, asked, stop.signal);
      if (answer.kind === 'Json') return sendJson(response, answer.status, answer.body, answer.headers);
      if (answer.kind === 'Bytes') {
        const length = answer.status === 304 ? {} : { 'content-length': answer.body?.byteLength ?? 0 };
        response.writeHead(answer.status, { ...answer.headers, ...length });
        return void response.end(answer.body);
      }
      const closeStream = streams.open(request.headers.authorization);
      if (closeStream === undefined)
        throw new RequestRefused(429, 'TooManyRequests', 'too many streams are open; close some', { 'retry-after': '5' });
      underWay--;
      metrics?.streams.set(streams.size);
      const timer = clock.schedule(() => stop.abort(new Error('the stream is old enough')), STREAM_MAX_MS);
      try {
        await sendEvents(response, answer.events, { clock, signal: stop.signal });
      } finally {
        timer.cancel();
        closeStream();
        underWay++;
        metrics?.streams.set(streams.size);
      }
    } catch (error) {
      if (error instanceof RequestRefused && !response.headersSent) {
        // What is left of a body that nobody reads must not be taken for the next request.
        if (!request.complete) response.setHeader('connection', 'close');
        return sendJson(response, error.status, statusOf(error.status, error.reason, error.message), error.headers);
      }
      if (!stop.signal.aborted) log.warn('a request could not be served', { path: pathOf(request), error });
      if (stop.signal.aborted || response.headersSent) return void response.destroy();
      sendJson(response, 503, statusOf(503, 'ServiceUnavailable', 'something that is needed does not answer; try again'), HEADERS[503]);
    }
  }

  return (request, response) => {
    const stop = new AbortController();
    const together = onConnection.get(request.socket) ?? newConnection(request.socket);
    // Whoever does not wait for answers is not waited for.
    if (together.size >= PIPELINED_MAX) return void request.socket.destroy();
    together.add(stop);
    underWay++;
    const asked: Asked = { route: undefined };
    const sinceMs = clock.monotonic();
    response.once('finish', () => {
      const labels = { route: asked.route?.path ?? 'other', method: asked.route?.method ?? 'other' };
      metrics?.requests.inc({ ...labels, code: String(response.statusCode) });
      if (response.getHeader('content-type') === 'application/json')
        metrics?.duration.observe(labels, (clock.monotonic() - sinceMs) / 1_000);
    });
    void handle(request, response, asked, stop).finally(() => {
      together.delete(stop);
      underWay--;
    });
  };

  function newConnection(socket: Socket): Set<AbortController> {
    const requests = new Set<AbortController>();
    onConnection.set(socket, requests);
    socket.once('close', () => {
      for (const stop of requests) stop.abort(new Error('the client has left'));
    });
    return requests;
  }
}

/** What is known of a request so far. */
type Asked = { route: Route | undefined };

/** No browser is to take an answer for a page, keep it, or frame it. */
const EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;
const REASONS = { 401: 'Unauthorized', 403: 'Forbidden', 503: 'ServiceUnavailable' } as const;
const HEADERS = { 401: { 'www-authenticate': 'Bearer' }, 403: {}, 503: { 'retry-after': '5' } } as const;

function sendJson(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
