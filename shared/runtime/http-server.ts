import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InvariantReport } from './invariant-report.ts';
import type { CertificateSource } from './serving-certificate.ts';
import { connectionsOf } from './server-connections.ts';

/** Where and whether a program is well; `undefined` means yes, a string says what is wrong. */
export type HealthCheck = () => string | undefined;

export type ProgramHttpOptions = {
  /** The text of /metrics; absent: that path is not served. */
  readonly metrics?: { metrics(): Promise<string>; readonly contentType: string };
  /** /readyz: by name, each must be content. /healthz only says that the program answers. */
  readonly readiness: Readonly<Record<string, HealthCheck>>;
  /**
   * Answers /debug/invariants, JSON: whether what is promised holds; undefined: that is not looked at now. What was seen names Jobs of all
   * tenants: without a gate it is left out.
   */
  readonly invariants?: () => InvariantReport | undefined;
  /** Who may read /metrics and /debug/invariants; absent: everybody. Health is for everybody. */
  readonly metricsGate?: MetricsGate;
  /** What somebody should look at although the program works: lines of /readyz that change nothing else. */
  readonly warnings?: () => readonly string[];
};

/** Judges the header `Authorization` of who wants to read this path; undefined lets in. Never rejects. */
export type MetricsGate = (authorization: string | undefined, path?: string) => Promise<HttpRefusal | undefined>;
export type HttpRefusal = { readonly status: 401 | 403 | 503; readonly why: string };

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** /metrics, /debug/invariants, /healthz (also /livez) and /readyz, without a socket. */
export function createProgramHttp({ metrics, readiness, invariants, metricsGate, warnings = () => [] }: ProgramHttpOptions): HttpHandler {
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'text/plain', 'only GET is served here\n');
    switch (pathOf(request)) {
      case '/metrics': {
        if (metrics === undefined) return answer(response, 404, 'text/plain', 'not found\n');
        const refusal = await metricsGate?.(request.headers.authorization, pathOf(request));
        if (refusal !== undefined) return refuse(response, refusal);
        return answer(response, 200, metrics.contentType, await metrics.metrics());
      }
      case '/debug/invariants': {
        const refusal = await metricsGate?.(request.headers.authorization, pathOf(request));
        if (refusal !== undefined) return refuse(response, refusal);
        const report = invariants?.();
        if (report === undefined) return answer(response, 404, 'text/plain', 'invariants are not looked at here: ask the leader\n');
        const told = metricsGate === undefined ? { violations: report.violations, dumps: DUMPS_WITHHELD } : report;
        return answer(response, 200, 'application/json', `${JSON.stringify(told, null, 2)}\n`);
      }
      case '/healthz':
      case '/livez':
        return answer(response, 200, 'text/plain', 'ok');
      case '/readyz': {
        const problems = Object.entries(readiness).flatMap(([name, check]) => problemOf(name, check()));
        const said = warnings().map((warning) => `warning: ${warning}`);
        if (problems.length === 0 && said.length === 0) return answer(response, 200, 'text/plain', 'ok');
        const lines = [...(problems.length === 0 ? ['ok'] : problems), ...said];
        return answer(response, problems.length === 0 ? 200 : 503, 'text/plain', `${lines.join('\n')}\n`);
      }
      default:
        return answer(response, 404, 'text/plain', 'not found\n');
    }
  };
}

const DUMPS_WITHHELD = 'in the log, and here with --metrics-authentication';

/** Without the query. It may be anything that a client sends, also what is no URL. */
export const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

const problemOf = (name: string, problem: string | undefined): string[] => (problem === undefined ? [] : [`${name}: ${problem}`]);

function refuse(response: ServerResponse, { status, why }: HttpRefusal): void {
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (status === 503) response.setHeader('retry-after', '5');
  answer(response, status, 'text/plain', `${why}\n`);
}

/** Answers with a body and its length. */
export function answer(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/**
 * What one server gives to clients that it does not know: so much per connection, for so long. A connection that sends nothing, or sends
 * slowly, is closed; times are looked at once a second.
 */
export const SERVER_LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const;
/** A client that does not take its answer. */
const SILENCE_MS = 30_000;

/** The limits that a server is told after it has been made. Connections above the number are closed at once. */
export function limitConnections(server: Server, connections: number): void {
  server.maxConnections = connections;
  server.setTimeout(SILENCE_MS);
}

/** Scrapers and probes are few. */
const CONNECTIONS_MAX = 64;
const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * Serves a handler, over TLS where there is a certificate, which `signal` ends the waiting for. `address` is `host:port` or `:port`; port 0
 * takes any free one.
 */
export async function listen(
  handler: HttpHandler,
  address: string,
  { certificate, signal }: { readonly certificate?: CertificateSource; readonly signal?: AbortSignal } = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port } = parseAddress(address);
  // An import of this module would read all that it exports, and with that load an HTTP client of 13 MiB that nobody uses.
  const { createServer } = process.getBuiltinModule('node:http');
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    handler(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(error instanceof Error ? `${error.message}\n` : 'internal error\n');
    });
  };
  const shown = await certificate?.first(signal);
  const secure =
    shown &&
    process.getBuiltinModule('node:https').createServer({ ...SERVER_LIMITS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, ...shown }, listener);
  const server = secure ?? createServer(SERVER_LIMITS, listener);
  limitConnections(server, CONNECTIONS_MAX);
  const connections = connectionsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const stopFollowing = shown && certificate?.follow(shown, (next) => secure?.setSecureContext(next));
  return {
    url: `${secure === undefined ? 'http' : 'https'}://${boundTo(server)}`,
    close: () => {
      stopFollowing?.();
      return connections.close();
    },
  };
}

/** Where a server listens, as it stands in a URL: `127.0.0.1:8080` or `[::1]:8080`. */
export function boundTo(server: Pick<Server, 'address'>): string {
  // Listening on a port, address() is never null and never a path.
  const { family, address, port } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Splits `127.0.0.1:8080`, `[::1]:8080` or `:8080` (all addresses). Throws on anything else. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw new Error(`${JSON.stringify(address)} is no address: write host:port, such as 127.0.0.1:8080`);
  const host = match[1] ?? match[2] ?? '';
  return { host: host === '' ? '::' : host, port };
}
