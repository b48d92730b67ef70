/** One HTTP request to an API server, before a connection is chosen for it. */
export type TransportRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with encoded query, such as `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** A body of more bytes is an {@link UnusableAnswer}; that of a refusal is cut off. For `send` alone: a stream is cut by who reads it. */
  readonly bodyMaxBytes?: number;
};

export type TransportResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

export type TransportStream = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it comes, cut anywhere. Ends when the server ends it; throws when the connection breaks or the signal aborts. */
  readonly chunks: AsyncIterable<string>;
};

/**
 * The way to one API server. Two exist: pooled HTTP(S) connections with the kubeconfig's authentication
 * (`http-transport.ts`), and direct calls into an embedded control plane (`controlplane/server/in-process-transport.ts`).
 * A transport neither retries nor interprets: a response of any status is a response, a broken connection is an error.
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  stream(request: TransportRequest): Promise<TransportStream>;
  close(): Promise<void>;
}
