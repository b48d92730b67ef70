import { createServer as createPlainServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Answer, errorAnswer, type StreamConnection } from '../request/answer.ts';
import { connectionsOf } from '../../runtime/server-connections.ts';
import type { ApiServer } from './api-server.ts';
import { PROTOBUF, protobufToJson } from '../request/protobuf/body.ts';
import type { ApiRequest } from '../request/request.ts';
import type { ServingCertificate } from './serving-certificate.ts';
import { requestTooLarge, StatusError } from '../apimachinery/status-error.ts';

export type HttpServer = { readonly url: string; close(): Promise<void> };

/** kube-apiserver's limit of a request body. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
/** A reader so slow that this much waits for it is cut off. A watch does not go that far: it waits at the second mark. */
const STREAM_BUFFER_LIMIT_BYTES = 64 * 1024 * 1024;
const STREAM_ROOM_BYTES = 4 * 1024 * 1024;

export type HttpServerOptions = {
  readonly host: string;
  readonly port: number;
  /** Absent: without TLS. */
  readonly certificate?: ServingCertificate;
  /** PEM of the authority whose client certificates authenticate. */
  readonly clientCaPem?: string;
};

/** Serves the API over HTTP/1.1 with keep-alive. */
export async function listenHttp(api: ApiServer, options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(options, (request, response) => {
    serve(api, request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });
  const connections = connectionsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return { url: urlOf(server, options), close: () => connections.close() };
}

function createServer({ certificate, clientCaPem }: HttpServerOptions, listener: RequestListener): Server {
  const limits = { keepAliveTimeout: 120_000, requestTimeout: 0, headersTimeout: 60_000 };
  if (certificate === undefined) return createPlainServer(limits, listener);
  const clients = clientCaPem === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientCaPem };
  return createTlsServer({ ...limits, cert: certificate.certPem, key: certificate.keyPem, ...clients }, listener);
}

const urlOf = (server: Server, { host, certificate }: HttpServerOptions): string => {
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${certificate === undefined ? 'http' : 'https'}://${name}:${port}`;
};

async function serve(api: ApiServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === 'aborted') return;
  const answer = body === 'too-large' ? errorAnswer(requestTooLarge(BODY_LIMIT_BYTES)) : await answerTo(api, request, body);
  // The client may have gone meanwhile.
  if (!response.destroyed) write(answer, request, response);
}

/** Typed clients may write protobuf; behind this line everything is JSON or YAML. */
async function answerTo(api: ApiServer, request: IncomingMessage, body: Buffer): Promise<Answer> {
  const arrived = {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: request.headers,
    ...clientCertificateOf(request),
  };
  const isProtobuf = (request.headers['content-type'] ?? '').startsWith(PROTOBUF) && body.length > 0;
  if (!isProtobuf) return api.answer({ ...arrived, body: body.toString() });
  let json: string;
  try {
    json = protobufToJson(body);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    // What cannot be read here goes on as it came, and is refused where bodies are read: there may be nothing to write to.
    return error.code === 415 ? api.answer({ ...arrived, body: body.toString() }) : errorAnswer(error);
  }
  return api.answer({ ...arrived, headers: { ...request.headers, 'content-type': 'application/json' }, body: json });
}

/** What a verified client certificate says about who speaks. */
function clientCertificateOf({ socket }: IncomingMessage): Pick<ApiRequest, 'clientCertificate'> {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return {};
  const { CN, O } = socket.getPeerCertificate().subject;
  const organizations: unknown = O;
  const all = Array.isArray(organizations) ? organizations.map(String) : typeof organizations === 'string' ? [organizations] : [];
  return { clientCertificate: { commonName: String(CN), organizations: all } };
}

const NO_BODY = Buffer.alloc(0);

/** An upload that breaks off is no request: half a DELETE must not become one without options. */
function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'aborted'> {
  if (request.method === 'GET' || request.method === 'HEAD') return Promise.resolve(NO_BODY);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
    });
    request.on('end', () => resolve(size > BODY_LIMIT_BYTES ? 'too-large' : Buffer.concat(chunks)));
    request.on('error', () => resolve('aborted'));
    request.on('close', () => resolve('aborted'));
  });
}

/** Header values go out as UTF-8, as Go writes them; Node wants one character for each byte. */
const asBytes = (headers: Answer['headers']): Record<string, string | string[]> => {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1');
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(bytes) : bytes(value)]));
};

function write(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer.kind === 'broken') {
    request.socket.destroy();
    return;
  }
  if (answer.kind === 'stream') {
    response.writeHead(answer.status, answer.headers);
    response.flushHeaders();
    const stop = answer.start(responseSink(response));
    response.on('close', stop);
    return;
  }
  const { status, headers } = answer;
  const body = encoded(answer.body);
  response.writeHead(status, { ...asBytes(headers), 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** From this length a text is encoded here, once: Node would measure it, and then make room for the longest that it could be. */
const LONG_TEXT = 64 * 1024;
const encoded = (text: string | Uint8Array): string | Uint8Array =>
  typeof text === 'string' && text.length >= LONG_TEXT ? Buffer.from(text) : text;

/** Writes what comes in one turn of the event loop as one chunk. */
function responseSink(response: ServerResponse): StreamConnection {
  let pending = '';
  let scheduled = false;
  let ending = false;
  let whenRoom: (() => void) | undefined;
  const offerRoom = (): void => {
    const callback = whenRoom;
    whenRoom = undefined;
    callback?.();
  };
  response.on('drain', offerRoom);
  const flush = (): void => {
    scheduled = false;
    if (pending !== '') response.write(encoded(pending));
    pending = '';
    if (ending) response.end();
    else if (response.writableLength > STREAM_BUFFER_LIMIT_BYTES) response.destroy();
    // Taken at once: nothing will drain.
    else if (!response.writableNeedDrain) offerRoom();
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };
  return {
    write: (text) => {
      pending += text;
      schedule();
    },
    end: () => {
      ending = true;
      schedule();
    },
    abort: () => response.destroy(),
    pace: {
      hasRoom: () => pending.length + response.writableLength < STREAM_ROOM_BYTES,
      onceRoom: (callback) => {
        whenRoom = callback;
        schedule();
      },
    },
  };
}
