import type { KubeObject, ObjectKey, Unsaved } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';

export type ListOptions = {
  /** '' or absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continueToken?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** As of {@link WriteOptions}. */
  readonly answer?: 'metadata';
  readonly signal?: AbortSignal;
};

export type ObjectList<T> = {
  readonly items: T[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
};

export type WriteOptions = {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  /**
   * Strict: unknown and repeated fields are refused by name (API servers from v1.25 on; older ones ignore this). Default: they are dropped.
   */
  readonly fieldValidation?: 'Strict';
  /**
   * With 'metadata' the server answers with the object's metadata alone (PartialObjectMetadata), for callers that read nothing else of it.
   */
  readonly answer?: 'metadata';
  /** Awaited right before it is sent, after its turn in the rate limit. When it rejects, nothing has been sent. */
  readonly beforeSend?: () => Promise<void>;
  readonly signal?: AbortSignal;
};

export type DeleteOptions = {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Preconditions: when the object is another one by now, or another version, the answer is 409 and nothing is deleted. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** As of {@link WriteOptions}. */
  readonly beforeSend?: () => Promise<void>;
  readonly signal?: AbortSignal;
};

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] }
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

export type WatchOptions = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Start after this version. */
  readonly resourceVersion: string;
  readonly timeoutSeconds?: number;
  /** As of {@link WriteOptions}. */
  readonly answer?: 'metadata';
  readonly signal?: AbortSignal;
};

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: { readonly resourceVersion: string } } };

/**
 * Events as they arrive, batched by network chunk; ends when the server closes the watch. Throws ApiError (also for an ERROR event, e.g.
 * 410).
 */
export type WatchStream<T> = AsyncIterable<readonly WatchEvent<T>[]>;

/** Reading. Every method throws {@link ApiError} for an answer of 400 and above. */
export interface ReadClient {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: { signal?: AbortSignal }): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ObjectList<T>>;
}

/** Writing. The namespace of a created or replaced object is that of its metadata. */
export interface WriteClient {
  create<T extends KubeObject>(resource: Resource<T>, object: Unsaved<T>, options?: WriteOptions): Promise<T>;
  /** With a resourceVersion in the metadata the write is conditional: 409 when the object has changed since. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void>;
}

/** Writing the status subresource. */
export interface StatusClient {
  replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  patchStatus<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
}

export interface WatchClient {
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): Promise<WatchStream<T>>;
}

/** Whatever has no method of its own: subresources (`binding`, `eviction`, `log`), discovery, `/version`. */
export interface RawClient {
  raw(request: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: string;
    body?: unknown;
    contentType?: string;
    /** Forms of the answer, as the header has them; default: JSON. */
    accept?: string;
    /** As of {@link WriteOptions}. */
    beforeSend?: () => Promise<void>;
    signal?: AbortSignal;
    /** Of the answer, where it is to be shorter than the client takes. */
    bodyMaxBytes?: number;
  }): Promise<string>;
}

/** What has no end and is no JSON: the log of a pod that is followed. */
export interface StreamClient {
  /**
   * The body as it comes, cut anywhere: it is read as fast as it is asked for, and the connection is closed when nobody reads on. Throws
   * {@link ApiError}.
   */
  stream(path: string, options: { readonly signal: AbortSignal }): Promise<AsyncIterable<string>>;
}

/**
 * One API server, spoken to in raw JSON. Consumers ask for the smallest interface that serves them
 * (`ReadClient & StatusClient`), so that tests and fault injection wrap only what is used.
 */
export interface KubeClient extends ReadClient, WriteClient, StatusClient, WatchClient, RawClient {
  close(): Promise<void>;
}
