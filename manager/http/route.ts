import type { AccessAttributes, KubeUser } from '../../shared/kube/access-reviews.ts';
import type { AuditEntry, AuditedObject } from '../audit/audit-line.ts';

export type Parameters = Readonly<Record<string, string>>;

/** What is served under one method and path, and who may ask for it. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments in braces are parameters: `/apis/x/namespaces/{namespace}/things/{name}`. */
  readonly path: string;
  /** In a few words, for people. */
  readonly summary: string;
  /** What the user must be allowed to do, all of it; asked of the API server. `Own`: the route judges by itself whom it serves what. */
  readonly access: ((parameters: Parameters) => AccessAttributes | readonly AccessAttributes[]) | 'Own';
  /** Names of schemas in the OpenAPI document: of the body, and of answers by status. */
  readonly body?: string;
  readonly answers: Readonly<Record<number, { readonly about: string; readonly schema?: string; readonly contentType?: string }>>;
  /** What the audit log says of each request; absent: nothing, because it changes nothing. */
  readonly audited?: Audited;
  readonly handle: (request: ApiRequest) => Promise<ApiAnswer>;
};

/** `Refusals`: the route notes by itself what it does, and the server what was refused before. */
export type Audited = {
  readonly what: string;
  readonly on: (parameters: Parameters) => AuditedObject;
  readonly lines: 'All' | 'Refusals';
};

export type ApiRequest = {
  readonly parameters: Parameters;
  readonly query: URLSearchParams;
  /** Of requests with a body: parsed JSON. */
  readonly body: unknown;
  /** The last event that the client has seen, where it goes on with a stream. */
  readonly lastEventId: string | undefined;
  /** The trace that the client has begun, if it says so: as it was sent. */
  readonly traceparent?: string;
  readonly caller: Caller;
  /** User whom the gate let in; absent in routes of access `Own`. */
  readonly user?: KubeUser;
  /**
   * Counts the request, and the stream that it becomes, for the owner of this user. Called by routes of access `Own` once they know who
   * asks; the gate has done it for others. Throws {@link RequestRefused} where the owner has too many requests under way.
   */
  readonly countFor: (user: KubeUser) => void;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
};

/** Who asks, as far as the request tells. */
export type Caller = {
  /** The header of that name. */
  readonly authorization: string | undefined;
  /** From which the connection comes. */
  readonly address: string | undefined;
  /** One header, by its name in small letters. Throws {@link RequestRefused} where it is repeated. */
  readonly header: (name: string) => string | undefined;
};

export type ApiAnswer =
  | {
      readonly kind: 'Json';
      readonly status: number;
      readonly body: object;
      readonly headers?: Readonly<Record<string, string>>;
      /** For the audit log, where the request does not say it. */
      readonly audited?: Partial<Pick<AuditEntry, 'outcome' | 'reason'>> & { readonly name?: string };
    }
  /** As it is; nothing for an answer without a body. */
  | { readonly kind: 'Bytes'; readonly status: number; readonly body?: Uint8Array; readonly headers: Readonly<Record<string, string>> }
  /** Server-sent events, until they end. */
  | { readonly kind: 'Events'; readonly events: AsyncIterable<ServerEvent> };

/** `frame` is an event that was made for many clients at once: as it goes over the line. */
export type ServerEvent = { readonly id: string; readonly event: string; readonly data: object } | { readonly frame: Uint8Array };

/** A request that cannot be served: told as a Kubernetes `Status`. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly status: number;
  /** A word for programs, as Kubernetes has them: `NotFound`, `Conflict`, `Invalid`, ... */
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, reason: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.headers = headers;
  }
}

export const statusOf = (code: number, reason: string, message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});
