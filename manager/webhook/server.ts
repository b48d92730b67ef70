import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Clock } from '../../shared/runtime/clock.ts';
import { answer, boundTo, parseAddress } from '../../shared/runtime/http-server.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import {
  admissionReviewOf,
  mutate,
  readAdmissionReview,
  validate,
  type AdmissionRequest,
  type AdmissionResponse,
} from './admission-review.ts';

export type WebhookDeps = {
  /** PEM files of the serving certificate. They are read again when they change, as a renewed Secret is mounted. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Users under which the manager writes, such as `system:serviceaccount:switchyard:switchyard-manager`. */
  readonly managerUsernames: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
};

/** The admission webhooks for Jobs: `/mutate` and `/validate`. */
export interface WebhookServer {
  /** Answers one request; for serving it some other way than by {@link listen}. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Serves HTTPS on `host:port`; port 0 takes any free one. */
  listen(address: string): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const TLS_CHECK_INTERVAL_MS = 10_000;
/** Above what an API server sends: an object of at most 3 MiB, twice. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

export function createWebhookServer({ certFile, keyFile, managerUsernames, clock, log }: WebhookDeps): WebhookServer {
  const webhooks: Readonly<Record<string, (request: AdmissionRequest) => AdmissionResponse>> = {
    '/mutate': mutate,
    '/validate': (request) => validate(request, managerUsernames),
  };

  const handler = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const webhook = webhooks[new URL(request.url ?? '/', 'https://localhost').pathname];
    if (webhook === undefined) return answer(response, 404, 'text/plain', 'not found\n');
    if (request.method !== 'POST') return answer(response, 405, 'text/plain', 'only POST is served here\n');
    const body = await readBody(request);
    if (body === undefined) return answer(response, 413, 'text/plain', 'the body is too large\n');
    const review = readAdmissionReview(body);
    if (typeof review === 'string') return answer(response, 400, 'text/plain', `${review}\n`);
    answer(response, 200, 'application/json', JSON.stringify(admissionReviewOf(webhook(review))));
  };

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    handler(request, response).catch((error: unknown) => {
      log.error('a webhook call failed', { path: request.url, error });
      if (response.headersSent) response.destroy();
      else answer(response, 500, 'text/plain', 'internal error\n');
    });
  };

  return {
    handler,
    listen: async (address) => {
      const { host, port } = parseAddress(address);
      const pair = await readPair(certFile, keyFile);
      const server = createServer(pair, serve);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, resolve);
      });
      const stopWatching = watchPair({ server, pair, certFile, keyFile, clock, log });
      return {
        url: `https://${boundTo(server)}`,
        close: () => {
          stopWatching();
          return new Promise((resolve) => {
            server.close(() => resolve());
            server.closeIdleConnections();
          });
        },
      };
    },
  };
}

type Pair = { readonly cert: string; readonly key: string };

async function readPair(certFile: string, keyFile: string): Promise<Pair> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}

type WatchedPair = Pick<WebhookDeps, 'certFile' | 'keyFile' | 'clock' | 'log'> & { readonly server: Server; readonly pair: Pair };

/**
 * Reads the files every ten seconds rather than watching them: a mounted Secret is swapped by symbolic links, which file watchers miss. Half a
 * pair, or one that does not match, is refused by the TLS library, and the old one stays until the next look.
 */
function watchPair({ server, pair, certFile, keyFile, clock, log }: WatchedPair): () => void {
  let current = pair;
  let stopped = false;
  const check = async (): Promise<void> => {
    try {
      const next = await readPair(certFile, keyFile);
      if (!stopped && (next.cert !== current.cert || next.key !== current.key)) {
        server.setSecureContext(next);
        current = next;
        log.info('the webhook certificate was reloaded', { certFile });
      }
    } catch (error) {
      log.error('the webhook certificate could not be reloaded', { certFile, keyFile, error });
    }
    if (!stopped) timer = clock.schedule(() => void check(), TLS_CHECK_INTERVAL_MS);
  };
  let timer = clock.schedule(() => void check(), TLS_CHECK_INTERVAL_MS);
  return () => {
    stopped = true;
    timer.cancel();
  };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
