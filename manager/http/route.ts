import type { AccessAttributes, KubeUser } from '../../shared/kube/access-reviews.ts';
import type { Session } from '../sign-in/sign-in.ts';
import type { AuditEntry, AuditedObject } from '../audit/audit-line.ts';

export type Parameters = Readonly<Record<string, string>>;

/** One method and path, with its access check and its handler. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments in braces are parameters: `/apis/x/namespaces/{namespace}/things/{name}`. */
  readonly path: string;
  /** A short description, for people. */
  readonly summary: string;
  /** The parameters of the query, by name, each with what it says. */
  readonly query?: Readonly<Record<string, string>>;
  /** The rights that the user needs, all of them, checked by the API server. `Own`: the route checks rights by itself. */
  readonly access: ((parameters: Parameters) => AccessAttributes | readonly AccessAttributes[]) | 'Own';
  /** Names of schemas in the OpenAPI document: of the body, and of answers by status. */
  readonly body?: string;
  readonly answers: Readonly<Record<number, { readonly about: string; readonly schema?: string; readonly contentType?: string }>>;
  /** The audit entry of each request; absent: the request changes nothing, and has none. */
  readonly audited?: Audited;
  /** Runs before the body is read, in routes of access `Own` with a body. Throws {@link RequestRefused} for a caller who is not known. */
  readonly admit?: (request: Omit<ApiRequest, 'body'>) => Promise<void>;
  readonly handle: (request: ApiRequest) => Promise<ApiAnswer>;
};

/** `Refusals`: the route audits its actions by itself, and the server audits requests refused before. */
export type Audited = {
  readonly what: string;
  readonly on: (parameters: Parameters) => AuditedObject;
  readonly lines: 'All' | 'Refusals';
};

export type ApiRequest = {
  readonly parameters: Parameters;
  readonly query: URLSearchParams;
  /** The parsed JSON of a request with a body. */
  readonly body: unknown;
  /** The id of the last event that the client has received, where it resumes a stream. */
  readonly lastEventId: string | undefined;
  /** The traceparent header as sent. */
  readonly traceparent?: string;
  readonly caller: Caller;
  /** The authenticated user; absent in routes of access `Own`. */
  readonly user?: KubeUser;
  /**
   * Counts the request, and the stream that it becomes, for the owner of this user. Routes of access `Own` call it once they know the user;
   * for others the server has done so. Throws {@link RequestRefused} where the owner has too many requests in flight.
   */
  readonly countFor: (user: KubeUser) => void;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/** The caller by its request, not yet authenticated. */
export type Caller = {
  /** The header of that name. */
  readonly authorization: string | undefined;
  /** The source address of the connection. */
  readonly address: string | undefined;
  /** One header, by its name in lower case. Throws {@link RequestRefused} where it is repeated. */
  readonly header: (name: string) => string | undefined;
  /** The session of the browser at the dashboard; absent where there is none, and on other servers. */
  readonly session?: Session;
};

/** A header with several values is sent several times. */
type AnswerHeaders = Readonly<Record<string, string | string[]>>;

export type ApiAnswer =
  | {
      readonly kind: 'Json';
      readonly status: number;
      readonly body: object;
      readonly headers?: AnswerHeaders;
      /** Details for the audit log that the request does not have. */
      readonly audited?: Partial<Pick<AuditEntry, 'outcome' | 'reason'>> & { readonly name?: string };
    }
  /** Bytes as they are; none for an answer without a body. */
  | { readonly kind: 'Bytes'; readonly status: number; readonly body?: Uint8Array; readonly headers: AnswerHeaders }
  /** Server-sent events, until they end. */
  | { readonly kind: 'Events'; readonly events: AsyncIterable<ServerEvent> };

/** `frame` is an event in its bytes, encoded for many clients at once. */
export type ServerEvent = { readonly id: string; readonly event: string; readonly data: object } | { readonly frame: Uint8Array };

/** A request that cannot be served, answered with a Kubernetes `Status`. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly status: number;
  /** The reason for programs, as in Kubernetes: `NotFound`, `Conflict`, `Invalid`, ... */
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
