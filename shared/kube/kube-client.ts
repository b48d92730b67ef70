import type { KubeObject, ObjectKey, Unsaved } from '../api/kubernetes.ts';
import { apiVersionOf, type Resource } from '../api/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import { sleep } from '../runtime/clock.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import { type ApiError, apiErrorOf } from './api-error.ts';
import { type AnswerLimits, GENEROUS_LIMITS } from './answer-limits.ts';
import { parseBoundedJson } from './bounded-json.ts';
import { extraHeader } from './kubeconfig/impersonation.ts';
import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectList,
  Patch,
  StreamClient,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from './client.ts';
import type { ClientMetrics } from './client-metrics.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { pathTo, queryString } from './request-path.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { UnusableAnswer } from './unusable-answer.ts';
import { readWatch } from './watch-stream.ts';

export type KubeClientOptions = {
  /** `switchyard-worker/0.1.0`: how the server's logs and managedFields name us. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly rateLimiter?: RateLimiter;
  readonly metrics?: ClientMetrics;
  /** What is taken of its answers; default: {@link GENEROUS_LIMITS}. */
  readonly limits?: AnswerLimits;
  /** Whom every request acts as; the server lets only those who may. Absent: the user whom the transport proves. */
  readonly actAs?: ActingAs;
};

/** Another user, with groups as the server gives them. */
export type ActingAs = { readonly user: string; readonly extra?: Readonly<Record<string, string>> };

/** How often one request is sent again because the server answered 429 or 503 with Retry-After (client-go: 10). */
const RETRIES_MAX = 10;
/** A longer Retry-After counts as this: who asks for a year has made a mistake. */
const RETRY_AFTER_MAX_MS = 120_000;

const CONTENT_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** A client over any transport: waits for its rate limit, waits out Retry-After, and turns refusals into {@link ApiError}. */
export function createKubeClient(transport: Transport, options: KubeClientOptions): KubeClient & StreamClient {
  return new TransportKubeClient(transport, options);
}

class TransportKubeClient implements KubeClient, StreamClient {
  readonly #transport: Transport;
  readonly #options: KubeClientOptions;
  readonly #limits: AnswerLimits;
  readonly #actingAs: Readonly<Record<string, string>>;

  constructor(transport: Transport, options: KubeClientOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#limits = options.limits ?? GENEROUS_LIMITS;
    this.#actingAs = options.actAs === undefined ? {} : impersonationHeaders(options.actAs);
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: { signal?: AbortSignal } = {}): Promise<T> {
    return this.#json<T>({ method: 'GET', path: pathTo(resource, key.namespace, key.name), ...signalOf(options) });
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const path = pathTo(resource, options.namespace) + listQuery(options);
    const { pageBytes } = this.#limits;
    const accept = options.answer === undefined ? {} : { accept: METADATA_LIST_ONLY };
    return readList<T>(await this.#json({ method: 'GET', path, bodyMaxBytes: pageBytes, ...accept, ...signalOf(options) }, 'LIST'));
  }

  create<T extends KubeObject>(resource: Resource<T>, object: Unsaved<T>, options: WriteOptions = {}): Promise<T> {
    const path = pathTo(resource, object.metadata.namespace) + writeQuery(options);
    return this.#json<T>({ method: 'POST', path, ...jsonBody(withKind(resource, object)), ...answerOf(options), ...signalOf(options) });
  }

  replace<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(resource, object, '', options);
  }

  replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(resource, object, '/status', options);
  }

  patch<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch, options: WriteOptions = {}): Promise<T> {
    return this.#patch(resource, key, '', patch, options);
  }

  patchStatus<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch, options: WriteOptions = {}): Promise<T> {
    return this.#patch(resource, key, '/status', patch, options);
  }

  async delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const path = pathTo(resource, key.namespace, key.name);
    await this.#send({ method: 'DELETE', path, ...deleteBody(options), ...signalOf(options) });
  }

  async watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): Promise<WatchStream<T>> {
    const path = pathTo(resource, options.namespace) + watchQuery(options);
    return readWatch<T>(
      await this.#chunks('WATCH', { method: 'GET', path, ...answerOf(options), ...signalOf(options) }),
      this.#limits,
      options.signal,
    );
  }

  async stream(path: string, { signal }: { readonly signal: AbortSignal }): Promise<AsyncIterable<string>> {
    return paced(await this.#chunks('STREAM', { method: 'GET', path, accept: '*/*', signal }), this.#limits.pace, signal);
  }

  async raw(request: Parameters<KubeClient['raw']>[0]): Promise<string> {
    const { method, path, body, contentType = 'application/json', accept, bodyMaxBytes } = request;
    const payload = body === undefined ? {} : { body: JSON.stringify(body), contentType };
    const response = await this.#send({ method, path, ...payload, ...signalOf(request), ...omitUndefined({ accept, bodyMaxBytes }) });
    return response.body;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #put<T extends KubeObject>(resource: Resource<T>, object: T, subresource: string, options: WriteOptions): Promise<T> {
    const path = pathTo(resource, object.metadata.namespace, object.metadata.name) + subresource + writeQuery(options);
    return this.#json<T>({ method: 'PUT', path, ...jsonBody(withKind(resource, object)), ...answerOf(options), ...signalOf(options) });
  }

  #patch<T>(resource: Resource, key: ObjectKey, subresource: string, patch: Patch, options: WriteOptions): Promise<T> {
    const force = patch.type === 'apply' && patch.force === true;
    const path = pathTo(resource, key.namespace, key.name) + subresource + writeQuery(options, force);
    const body = JSON.stringify(patch.body);
    return this.#json<T>(
      { method: 'PATCH', path, body, contentType: CONTENT_TYPES[patch.type], ...answerOf(options), ...signalOf(options) },
      patch.type === 'apply' ? 'APPLY' : 'PATCH',
    );
  }

  async #json<T>(call: Call, verb?: string): Promise<T> {
    const response = await this.#send(call, verb);
    // The shape is the server's promise for this resource; nothing is converted on the way, and no more is checked than that it is an
    // object.
    const object = parseBoundedJson(response.body, this.#limits.json);
    if (typeof object !== 'object' || object === null) throw new UnusableAnswer('NotKubernetes', 'the answer is no JSON object');
    return object as T;
  }

  /** Sends, waits out Retry-After, and throws {@link ApiError} for an answer of 300 and above: API servers do not redirect. */
  async #send(call: Call, verb: string = call.method): Promise<TransportResponse> {
    const request = this.#request(call);
    for (let retries = 0; ; retries++) {
      await this.#acquire(verb, call.signal);
      if (call.beforeSend !== undefined) await call.beforeSend();
      const response = await this.#timed(verb, request, () => this.#exchange(request));
      if (response.status < 300) return response;
      const error = toApiError(response.status, response.headers, response.body);
      if (!asksForRetry(error) || retries === RETRIES_MAX) throw error;
      this.#options.metrics?.retried(error.code, verb);
      await sleep(this.#options.clock, error.retryAfterMs ?? 0, call.signal);
      call.signal?.throwIfAborted();
    }
  }

  /** One request and its whole answer, within the limits. */
  async #exchange(request: TransportRequest): Promise<TransportResponse> {
    const { pace, answerMs } = this.#limits;
    await pace?.settled(request.signal);
    if (request.method !== 'GET') pace?.wrote(request.body?.length ?? 0);
    const deadline = new AbortController();
    const tooSlow = (): void =>
      deadline.abort(new UnusableAnswer('AnswerTooSlow', `${request.method} ${request.path}: no whole answer within ${answerMs} ms`));
    const outer = request.signal;
    const abort = (): void => deadline.abort(outer?.reason);
    outer?.throwIfAborted();
    outer?.addEventListener('abort', abort, { once: true });
    const timer = this.#options.clock.schedule(tooSlow, answerMs);
    try {
      const response = await this.#transport.send({ ...request, signal: deadline.signal });
      pace?.received(response.body.length, 0);
      return response;
    } catch (error) {
      // It may have read as much as it ever does.
      if (error instanceof UnusableAnswer) pace?.received(request.bodyMaxBytes ?? 0, 0);
      throw error;
    } finally {
      timer.cancel();
      outer?.removeEventListener('abort', abort);
    }
  }

  /** The body of an answer without an end. */
  async #chunks(verb: string, call: Call): Promise<AsyncIterable<string>> {
    await this.#acquire(verb, call.signal);
    const request = this.#request(call);
    await this.#limits.pace?.settled(call.signal);
    const { status, headers, chunks } = await this.#timed(verb, request, () => this.#transport.stream(request));
    if (status >= 300) throw toApiError(status, headers, await beginningOf(chunks));
    return chunks;
  }

  #request(call: Call): TransportRequest {
    const { accept = 'application/json' } = call;
    const headers: Record<string, string> = { accept, 'user-agent': this.#options.userAgent, ...this.#actingAs };
    if (call.contentType !== undefined) headers['content-type'] = call.contentType;
    const { method, path, body, signal, bodyMaxBytes = this.#limits.objectBytes } = call;
    return { method, path, headers, bodyMaxBytes, ...omitUndefined({ body, signal }) };
  }

  async #acquire(verb: string, signal: AbortSignal | undefined): Promise<void> {
    const { rateLimiter, metrics } = this.#options;
    if (rateLimiter === undefined) return;
    const waitedMs = await rateLimiter.acquire(signal);
    metrics?.limited(verb, waitedMs);
  }

  async #timed<R extends { readonly status: number }>(verb: string, request: TransportRequest, run: () => Promise<R>): Promise<R> {
    const { metrics, clock } = this.#options;
    if (metrics === undefined) return run();
    const startedMs = clock.now();
    try {
      const response = await run();
      metrics.answered(String(response.status), request.method, verb, clock.now() - startedMs);
      return response;
    } catch (error) {
      // client-go's code for a request that got no answer.
      metrics.answered('<error>', request.method, verb, clock.now() - startedMs);
      throw error;
    }
  }
}

function impersonationHeaders({ user, extra = {} }: ActingAs): Record<string, string> {
  const extras = Object.entries(extra).map(([key, value]) => [extraHeader(key), value]);
  return { 'impersonate-user': user, ...Object.fromEntries(extras) };
}

type Call = {
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly beforeSend?: () => Promise<void>;
  readonly signal?: AbortSignal;
  readonly bodyMaxBytes?: number;
};

/** An answer that is no list is not Kubernetes': taken for an empty one it would say that everything is gone. */
function readList<T>(answer: object): ObjectList<T> {
  const { metadata, items } = answer as { readonly metadata?: unknown; readonly items?: unknown };
  const { resourceVersion = '', continue: continueToken = '' } = (metadata ?? {}) as Record<string, unknown>;
  if (typeof resourceVersion !== 'string' || typeof continueToken !== 'string' || !(Array.isArray(items) || items === null))
    throw new UnusableAnswer('NotKubernetes', 'the answer is no list of Kubernetes');
  return { items: (items ?? []) as T[], resourceVersion, ...(continueToken === '' ? {} : { continueToken }) };
}

const signalOf = ({ signal, beforeSend }: Pick<Call, 'signal' | 'beforeSend'>): Pick<Call, 'signal' | 'beforeSend'> =>
  omitUndefined({ signal, beforeSend });

/** The full object is the second choice: a server that has no other form of it answers nevertheless. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const METADATA_LIST_ONLY = METADATA_ONLY.replace('PartialObjectMetadata', 'PartialObjectMetadataList');

const answerOf = ({ answer }: Pick<WriteOptions, 'answer'>): { accept?: string } => (answer === undefined ? {} : { accept: METADATA_ONLY });

const jsonBody = (value: object): { body: string; contentType: string } => ({
  body: JSON.stringify(value),
  contentType: 'application/json',
});

/** Items of a list carry no kind; a body that is written must. */
const withKind = (resource: Resource, object: { readonly apiVersion?: string | undefined; readonly kind?: string | undefined }): object =>
  object.apiVersion !== undefined && object.kind !== undefined
    ? object
    : { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };

function deleteBody(options: DeleteOptions): { body?: string; contentType?: string } {
  const { propagationPolicy, gracePeriodSeconds, uid, resourceVersion } = options;
  const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  if (propagationPolicy === undefined && gracePeriodSeconds === undefined && preconditions === undefined) return {};
  return jsonBody({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, gracePeriodSeconds, preconditions });
}

const listQuery = (options: ListOptions): string =>
  queryString({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continueToken,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
const watchQuery = (options: WatchOptions): string =>
  queryString({
    watch: 'true',
    allowWatchBookmarks: 'true',
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    timeoutSeconds: options.timeoutSeconds,
  });
const writeQuery = (options: WriteOptions, force = false): string =>
  queryString({
    fieldManager: options.fieldManager,
    dryRun: options.dryRun === true ? 'All' : undefined,
    fieldValidation: options.fieldValidation,
    force: force ? 'true' : undefined,
  });

/** 429 and 5xx are waited out only when the server says how long (client-go's rest.Request). */
const asksForRetry = (error: ApiError): boolean => error.retryAfterMs !== undefined && (error.code === 429 || error.code >= 500);

function toApiError(code: number, headers: TransportResponse['headers'], body: string): ApiError {
  const retryAfterMs = Number(headers['retry-after']) * 1000;
  const waitMs = headers['retry-after'] === undefined || !(retryAfterMs >= 0) ? undefined : Math.min(retryAfterMs, RETRY_AFTER_MAX_MS);
  return apiErrorOf(code, parseStatus(code, body), waitMs);
}

/** A proxy or a crashing server answers in plain text; its beginning then stands in for the message. */
function parseStatus(code: number, body: string): object {
  try {
    const parsed = parseBoundedJson(body, STATUS_LIMITS);
    if (typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'Status') return parsed;
  } catch (error) {
    if (!(error instanceof UnusableAnswer)) throw error;
  }
  const excerpt = body.slice(0, 2_000).trim().slice(0, 500);
  return { code, message: excerpt === '' ? `the server answered ${code} without a body` : `the server answered ${code}: ${excerpt}` };
}

/** Of the refusal of a watch. */
const REFUSAL_LENGTH_MAX = 64 * 1024;
const STATUS_LIMITS = { depth: 32, values: 10_000 };

/** Not read on while more is owed than a server may send. */
async function* paced(chunks: AsyncIterable<string>, pace: AnswerLimits['pace'], signal: AbortSignal): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    yield chunk;
    pace?.received(chunk.length, 0);
    await pace?.settled(signal);
  }
}

async function beginningOf(chunks: AsyncIterable<string>): Promise<string> {
  const pieces: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length >= REFUSAL_LENGTH_MAX) break;
  }
  return pieces.join('').slice(0, REFUSAL_LENGTH_MAX);
}
