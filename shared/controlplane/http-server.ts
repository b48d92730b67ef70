import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, StreamSink } from './answer.ts';
import type { ApiServer } from './api-server.ts';

export type HttpServer = { readonly url: string; close(): Promise<void> };

/** kube-apiserver's limit of a request body. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
/** A watcher that reads so slowly that this much waits for it is cut off, and resumes where it was. */
const STREAM_BUFFER_LIMIT_BYTES = 64 * 1024 * 1024;

/** Serves the API over HTTP/1.1 with keep-alive. */
export async function listenHttp(api: ApiServer, options: { host: string; port: number }): Promise<HttpServer> {
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0, headersTimeout: 60_000 }, (request, response) => {
    void serve(api, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return { url: urlOf(server, options.host), close: () => closeServer(server) };
}

const urlOf = (server: Server, host: string): string => {
  const { port } = server.address() as AddressInfo;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
};

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await closed;
}

async function serve(api: ApiServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) {
    response.writeHead(413, { 'content-type': 'text/plain' }).end(`Request entity too large: limit is ${BODY_LIMIT_BYTES}`);
    return;
  }
  const answer = await api.answer({ method: request.method ?? 'GET', path: request.url ?? '/', headers: request.headers, body });
  write(answer, request, response);
}

/** Undefined when it is too large. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (request.method === 'GET' || request.method === 'HEAD') return Promise.resolve('');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(size > BODY_LIMIT_BYTES ? undefined : chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()),
    );
    request.on('error', () => resolve(''));
  });
}

function write(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer.kind === 'stream') {
    response.writeHead(answer.status, answer.headers);
    response.flushHeaders();
    const stop = answer.start(responseSink(response));
    response.on('close', stop);
    return;
  }
  const { status, headers, body } = answer;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Writes what comes in one turn of the event loop as one chunk. */
function responseSink(response: ServerResponse): StreamSink {
  let pending = '';
  let scheduled = false;
  let ending = false;
  const flush = (): void => {
    scheduled = false;
    if (pending !== '') response.write(pending);
    pending = '';
    if (ending) response.end();
    else if (response.writableLength > STREAM_BUFFER_LIMIT_BYTES) response.destroy();
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
  };
}
