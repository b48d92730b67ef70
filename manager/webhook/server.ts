import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createByteRoom, type ByteRoom } from '../../shared/runtime/byte-room.ts';
import { answer, boundTo, parseAddress, pathOf, SERVER_LIMITS } from '../../shared/runtime/http-server.ts';
import { keepConnections, WITHOUT_TIMERS } from '../../shared/runtime/kept-connections.ts';
import type { ConnectionLimits } from '../../shared/runtime/connection-limits.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { CertificateSource } from '../../shared/runtime/serving-certificate.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { PassedWrite } from '../audit/write-audit.ts';
import type { SingleKind, WorkKind } from '../work-kind/work-kind.ts';
import type { WebhookMetrics } from './webhook-metrics.ts';
import { recognize, type Identities } from '../policy/writer.ts';
import {
  admissionReviewOf,
  mutate,
  mutateUnlabelled,
  noteOverride,
  readAdmissionReview,
  validate,
  type AdmissionRequest,
  type AdmissionResponse,
} from './admission-review.ts';

export type WebhookDeps = {
  readonly kind: WorkKind;
  readonly certificate: CertificateSource;
  readonly identities: Identities;
  /** Called for every write by another program as the manager's user, with its field manager, '' for none. */
  readonly onSharedIdentity: (username: string, fieldManager: string) => void;
  /** Called for every write of a Job by a user that passes and is no dry run; absent: not reported. */
  readonly onPassed?: (write: PassedWrite) => void;
  /** The rules of Jobs; absent: the defaults of the flags. */
  readonly rules?: JobRules;
  /** Absent: no metrics. */
  readonly metrics?: WebhookMetrics;
  readonly clock: Clock;
  readonly log: Logger;
};

type Webhook = (request: AdmissionRequest, address: string | undefined) => AdmissionResponse;

/**
 * The admission webhooks for Jobs: `/mutate` and `/validate`, `/mutate-unlabelled` for Jobs without a queue, and `/override`, which records
 * users who bypass the policies.
 */
export interface WebhookServer {
  /** Answers one request; for tests and other servers than {@link listen}. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Serves HTTPS on `host:port`; port 0 takes any free one. Rejects when `signal` aborts before there is a certificate. */
  listen(address: string, signal?: AbortSignal): Promise<ListeningWebhook>;
}

export type ListeningWebhook = {
  readonly url: string;
  /** Continues to answer, and closes connections with their answers. */
  drain(): void;
  /** Resolves when all requests in flight are answered. */
  close(): Promise<void>;
};

/** Above the largest review of an API server: an object of at most 3 MiB, twice. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Bodies of nearly all Jobs are this small, and are read at once; larger ones share one memory bound. */
const SMALL_BODY_BYTES = 32 * 1024;
const LARGE_BODIES_BYTES = 16 * 1024 * 1024;
/** The default timeout of an API server, and the part of it that remains for the answer. */
const API_SERVER_WAIT_MS = 10_000;
const ANSWER_MS = 1_000;
/**
 * API servers keep an idle connection for 90 s, as Go does, and do not resend a create when it closes under them, so the server keeps it
 * longer. Each API server may have 200 writes in flight, and then keeps 25 connections. Only HTTP/1.1 is served: API servers use nothing
 * else where they call a Service, so that replicas share the load, and connection limits could not bound a flood over HTTP/2.
 */
const CONNECTION_LIMITS: ConnectionLimits = {
  connectionsMax: 1_024,
  idleMs: 100_000,
  headersMs: 5_000,
  requestMs: 10_000,
  answerMs: 30_000,
};
const HANDSHAKE_TIMEOUT_MS = API_SERVER_WAIT_MS;

export function createWebhookServer(deps: WebhookDeps): WebhookServer {
  return new JobWebhooks(deps);
}

class JobWebhooks implements WebhookServer {
  readonly handler: WebhookServer['handler'] = (request, response) => this.#handle(request, response);
  readonly #deps: WebhookDeps;
  readonly #webhooks: Readonly<Record<string, Webhook>>;
  readonly #room: ByteRoom;

  constructor(deps: WebhookDeps) {
    const { kind, rules, clock } = deps;
    this.#deps = deps;
    this.#webhooks = {
      '/mutate': (request) => mutate(kind, request, rules),
      '/mutate-unlabelled': (request) => mutateUnlabelled(kind, request, rules),
      '/override': (request) => noteOverride(request, clock.now()),
      '/validate': (request, address) => this.#validate(request, address),
    };
    this.#room = createByteRoom({ bytes: LARGE_BODIES_BYTES, waitMs: API_SERVER_WAIT_MS - ANSWER_MS, clock });
  }

  async listen(address: string, signal?: AbortSignal): Promise<ListeningWebhook> {
    const { certificate, clock } = this.#deps;
    const { host, port } = parseAddress(address);
    const shown = await certificate.first(signal);
    const options = { maxHeaderSize: SERVER_LIMITS.maxHeaderSize, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, ...WITHOUT_TIMERS };
    const server = createServer({ ...options, ...shown }, (request, response) => this.#serve(request, response));
    const connections = keepConnections(server, CONNECTION_LIMITS, clock);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    const stopFollowing = certificate.follow(shown, (next) => server.setSecureContext(next));
    return {
      url: `https://${boundTo(server)}`,
      drain: () => connections.drain(),
      close: () => {
        stopFollowing();
        return connections.close();
      },
    };
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { log } = this.#deps;
    this.#handle(request, response).catch((error: unknown) => {
      // Any client may begin a request and disconnect.
      if (request.destroyed && !request.complete) return log.debug('a webhook request was not finished', { error });
      log.error('a webhook call failed', { path: pathOf(request), error });
      if (response.headersSent) response.destroy();
      else answer(response, 500, 'text/plain', 'internal error\n');
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { kind, clock, metrics } = this.#deps;
    const webhook = this.#webhooks[pathOf(request)];
    if (webhook === undefined) return answer(response, 404, 'text/plain', 'not found\n');
    if (request.method !== 'POST') return answer(response, 405, 'text/plain', 'only POST is served here\n');
    // A closed connection has no address.
    const address = request.socket.remoteAddress;
    const judged = (review: AdmissionRequest): AdmissionResponse => webhook(review, address);
    const startedMs = clock.monotonic();
    const record = (outcome: 'allowed' | 'refused' | 'error'): void => {
      const name = pathOf(request).slice(1);
      metrics?.requests.inc({ webhook: name, outcome });
      metrics?.duration.observe({ webhook: name }, (clock.monotonic() - startedMs) / 1000);
    };
    const bytes = announcedBytes(request);
    if (bytes > BODY_BYTES_MAX) {
      record('error');
      return refuse(response, 413, 'the body is too large');
    }
    if (bytes <= SMALL_BODY_BYTES) return record(judge(await readBody(request, bytes), kind.others, judged, response));
    // The body is not read meanwhile: it waits on the client's side.
    const giveBack = await this.#room.take(bytes, roomWaitMs(request));
    if (giveBack === undefined) {
      record('error');
      return refuse(response, 503, 'too many large reviews at once; try again');
    }
    try {
      record(judge(await readBody(request, bytes), kind.others, judged, response));
    } finally {
      giveBack();
    }
  }

  #validate(request: AdmissionRequest, address: string | undefined): AdmissionResponse {
    const { kind, identities, rules, onSharedIdentity, onPassed } = this.#deps;
    const { userInfo, fieldManager, object: job, oldObject: oldJob } = request;
    const { username, uid, groups } = userInfo;
    const { writer, sharesIdentity } = recognize(username, fieldManager, identities);
    if (sharesIdentity) onSharedIdentity(username ?? '', fieldManager ?? '');
    const response = validate(kind, request, identities, rules);
    const isStored = response.allowed && request.dryRun !== true && request.subResource === undefined && writer !== 'Manager';
    if (isStored && request.operation === 'UPDATE' && username !== undefined && job !== undefined && oldJob !== undefined)
      onPassed?.({ user: { username, ...omitUndefined({ uid, groups }) }, job, oldJob, address });
    return response;
  }
}

/**
 * API servers send their timeout as `?timeout=5s`: a body may wait for memory until shortly before. Without an answer they refuse the
 * write.
 */
function roomWaitMs({ url = '/' }: IncomingMessage): number | undefined {
  const seconds = /[?&]timeout=(\d{1,2})s(?:&|$)/.exec(url)?.[1];
  return seconds === undefined ? undefined : Math.max(Number(seconds) * 1000, 2 * ANSWER_MS) - ANSWER_MS;
}

/** The length that the API server announces. A request without one may use the whole bound. */
function announcedBytes({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  return length === undefined ? BODY_BYTES_MAX : Number(length);
}

/** Reads at most this many bytes; undefined for more. One buffer holds all, however small the chunks are. */
async function readBody(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const body = Buffer.allocUnsafe(bytesMax);
  let bytes = 0;
  for await (const chunk of request) {
    const part = chunk as Buffer;
    if (bytes + part.length > bytesMax) return undefined;
    bytes += part.copy(body, bytes);
  }
  return body.toString('utf8', 0, bytes);
}

/** Answers a review, and returns its outcome. */
function judge(
  body: string | undefined,
  kinds: readonly SingleKind[],
  webhook: (request: AdmissionRequest) => AdmissionResponse,
  response: ServerResponse,
): 'allowed' | 'refused' | 'error' {
  if (body === undefined) {
    refuse(response, 413, 'the body is too large');
    return 'error';
  }
  const review = readAdmissionReview(body, kinds);
  if (typeof review === 'string') {
    answer(response, 400, 'text/plain', `${review}\n`);
    return 'error';
  }
  const judged = webhook(review);
  answer(response, 200, 'application/json', JSON.stringify(admissionReviewOf(judged)));
  return judged.allowed ? 'allowed' : 'refused';
}

/** Answers a request without reading its body: the connection is closed with the rest. */
function refuse(response: ServerResponse, status: number, problem: string): void {
  response.setHeader('connection', 'close');
  if (status === 503) response.setHeader('retry-after', '1');
  answer(response, status, 'text/plain', `${problem}\n`);
}
