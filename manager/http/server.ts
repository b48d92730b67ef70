import { readFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AccessGate } from '../../shared/kube/access-gate.ts';
import { createByteRoom } from '../../shared/runtime/byte-room.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { boundTo, limitConnections, parseAddress, pathOf, SERVER_LIMITS } from '../../shared/runtime/http-server.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { sendEvents } from './send-events.ts';
import { matchRoute } from './match-route.ts';
import { RequestRefused, statusOf, type ApiAnswer, type Route } from './route.ts';

export type ApiServerDeps = {
  readonly routes: readonly Route[];
  /** Served to everybody, at `/openapi.json`. */
  readonly openApi: object;
  readonly gate: AccessGate;
  /** Absent: plain HTTP. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  readonly bodyBytesMax: number;
  /** What is wrong with the text of a body, before it is parsed; undefined when nothing is. */
  readonly problemOf?: (text: string) => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Of bodies that are being read, by all clients. */
const BODIES_BYTES = 16 * 1024 * 1024;
const ROOM_WAIT_MS = 3_000;
const CONNECTIONS_MAX = 1_024;
const STREAMS_MAX = 512;

export type ApiServer = { readonly url: string; close(): Promise<void> };

/** Serves routes on `host:port`; port 0 takes any free one. Nothing of a body is read before its sender is known and may send it. */
export async function serveApi(address: string, deps: ApiServerDeps): Promise<ApiServer> {
  const { tls, log } = deps;
  const { host, port } = parseAddress(address);
  const room = createByteRoom({ bytes: BODIES_BYTES, waitMs: ROOM_WAIT_MS, clock: deps.clock });
  let streams = 0;

  const answerOf = async (request: IncomingMessage, signal: AbortSignal): Promise<ApiAnswer> => {
    const path = pathOf(request);
    const match = matchRoute(deps.routes, request.method === 'HEAD' ? 'GET' : (request.method ?? ''), path);
    if (match.kind === 'None') throw new RequestRefused(404, 'NotFound', `${path} is not served; see /openapi.json for what is`);
    if (match.kind === 'OtherMethods') {
      const allow = match.allowed.join(', ');
      throw new RequestRefused(405, 'MethodNotAllowed', `${request.method} is not served here, but ${allow}`, { allow });
    }
    const { route, parameters } = match;
    const refusal = await deps.gate(request.headers.authorization, route.access(parameters));
    if (refusal !== undefined) throw new RequestRefused(refusal.status, REASONS[refusal.status], refusal.why, HEADERS[refusal.status]);
    const body = route.body === undefined ? undefined : await readJson(request, deps, room);
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const { 'last-event-id': lastEventId } = request.headers;
    return route.handle({ parameters, query, body, lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined, signal });
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the client has left')));
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('cache-control', 'no-store');
    if (pathOf(request) === '/openapi.json' && request.method === 'GET') return sendJson(response, 200, deps.openApi);
    try {
      const answer = await answerOf(request, gone.signal);
      if (answer.kind === 'Json') return sendJson(response, answer.status, answer.body, answer.headers);
      if (streams >= STREAMS_MAX)
        throw new RequestRefused(429, 'TooManyRequests', 'too many streams are open; close some', { 'retry-after': '5' });
      streams++;
      try {
        await sendEvents(response, answer.events, { clock: deps.clock, signal: gone.signal });
      } finally {
        streams--;
      }
    } catch (error) {
      if (gone.signal.aborted || response.headersSent) return void response.destroy();
      if (error instanceof RequestRefused) {
        // What is left of a body that nobody reads must not be taken for the next request.
        if (!request.complete) response.setHeader('connection', 'close');
        return sendJson(response, error.status, statusOf(error.status, error.reason, error.message), error.headers);
      }
      log.warn('a request could not be served', { path: pathOf(request), error });
      sendJson(response, 503, statusOf(503, 'ServiceUnavailable', 'something that is needed does not answer; try again'), {
        'retry-after': '5',
      });
    }
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => void handle(request, response);
  // As in shared/runtime/http-server.ts: an import of this module would load an HTTP client of 13 MiB.
  const server: Server =
    tls === undefined
      ? process.getBuiltinModule('node:http').createServer(SERVER_LIMITS, listener)
      : createTlsServer({ ...SERVER_LIMITS, ...(await readPair(tls)) }, listener);
  limitConnections(server, CONNECTIONS_MAX);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${boundTo(server)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const REASONS = { 401: 'Unauthorized', 403: 'Forbidden', 503: 'ServiceUnavailable' } as const;
const HEADERS = { 401: { 'www-authenticate': 'Bearer' }, 403: {}, 503: { 'retry-after': '5' } } as const;

async function readPair({ certFile, keyFile }: NonNullable<ApiServerDeps['tls']>): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}

async function readJson(
  request: IncomingMessage,
  { bodyBytesMax: bytesMax, problemOf }: ApiServerDeps,
  room: ReturnType<typeof createByteRoom>,
): Promise<unknown> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(announced))
    throw new RequestRefused(411, 'BadRequest', 'the header Content-Length is missing; say how long the body is');
  if (announced > bytesMax)
    throw new RequestRefused(413, 'RequestEntityTooLarge', `the body has ${announced} bytes, and at most ${bytesMax} are taken`);
  const giveBack = await room.take(announced);
  if (giveBack === undefined)
    throw new RequestRefused(503, 'ServiceUnavailable', 'too many large bodies at once; try again', { 'retry-after': '1' });
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    const problem = problemOf?.(text);
    if (problem !== undefined) throw new RequestRefused(422, 'Invalid', problem);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new RequestRefused(400, 'BadRequest', `the body is no JSON in UTF-8: ${error.message}`);
    throw error;
  } finally {
    giveBack();
  }
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
