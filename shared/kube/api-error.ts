import { isJsonObject } from '../api/json-value.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';

/** Body of a failed answer: `kind: Status` (metav1.Status). */
export type Status = {
  kind?: string;
  apiVersion?: string;
  status?: string;
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
};

/** An API server's refusal. `message` is the server's own sentence. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly status: Status;
  /** What the server asked for with Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: number, status: Status, retryAfterMs?: number) {
    super(status.message ?? `the server answered ${code}`);
    this.name = 'ApiError';
    this.code = code;
    this.reason = status.reason ?? '';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const hasReason =
  (reason: string) =>
  (error: unknown): error is ApiError =>
    error instanceof ApiError && error.reason === reason;
const hasCode =
  (code: number) =>
  (error: unknown): error is ApiError =>
    error instanceof ApiError && error.code === code;

export const isNotFound = hasReason('NotFound');
/** An object that does not exist, or a resource that the server does not serve, for which it gives no reason. */
export const isAbsent = hasCode(404);
export const isAlreadyExists = hasReason('AlreadyExists');
export const isConflict = hasReason('Conflict');
export const isForbidden = hasReason('Forbidden');
export const isInvalid = hasReason('Invalid');
/** 410: the resourceVersion or continue token is older than what the server remembers. */
export const isGone = hasCode(410);
export const isTooManyRequests = hasCode(429);

/** True when the refusal lists a cause of this reason, such as `NamespaceTerminating`. */
export const hasStatusCause = (error: unknown, reason: string): boolean =>
  error instanceof ApiError && (error.status.details?.causes ?? []).some((cause) => cause.reason === reason);

/** The error for a Status as it came over the wire, of whoever: what is of the wrong type counts as not said. */
export function apiErrorOf(code: unknown, said: object, retryAfterMs?: number): ApiError {
  const { message, reason, details, ...rest } = said as Readonly<Record<string, unknown>>;
  const status: Status = {
    ...rest,
    ...omitUndefined({
      message: typeof message === 'string' ? message.slice(0, MESSAGE_LENGTH_MAX) : undefined,
      reason: typeof reason === 'string' ? reason : undefined,
      details: isDetails(details) ? details : undefined,
    }),
  };
  return new ApiError(typeof code === 'number' && Number.isInteger(code) ? code : 500, status, retryAfterMs);
}

/** A server may say more than anybody wants to read, or log. */
const MESSAGE_LENGTH_MAX = 16 * 1024;

function isDetails(details: unknown): details is NonNullable<Status['details']> {
  if (!isJsonObject(details)) return false;
  const { causes } = details;
  return causes === undefined || causes === null || (Array.isArray(causes) && causes.every(isJsonObject));
}
