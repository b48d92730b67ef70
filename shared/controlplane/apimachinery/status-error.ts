import type { Status } from '../../kube/api-error.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { FieldError } from './field-error.ts';

/** A refusal on its way to the client: becomes the `kind: Status` body and the HTTP status of the answer. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Status['details'];
  /** Sent as Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** Values of Warning headers that accompany the refusal. */
  readonly warnings: readonly string[];
  /** `metadata` of the body: a continue token, as a rule nothing. */
  readonly listMeta: { readonly continue?: string };

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: Status['details'],
    warnings: readonly string[] = [],
    listMeta: { readonly continue?: string } = {},
  ) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.retryAfterSeconds = details?.retryAfterSeconds;
    this.warnings = warnings;
    this.listMeta = listMeta;
  }

  /** The body, with its fields in the order in which Go writes them. */
  toStatus(): Status & { metadata: object } {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.listMeta,
      status: 'Failure',
      ...(this.message === '' ? {} : { message: this.message }),
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...omitUndefined({ details: this.details }),
      code: this.code,
    };
  }
}

/** The plural name and API group by which messages call a resource: `jobs.batch`, `pods`. */
export type GroupResource = { readonly group: string; readonly resource: string };
/** The kind and API group by which a 422 calls an object: `Job.batch`, `Pod`. */
export type GroupKind = { readonly group: string; readonly kind: string };

export const qualifiedResource = ({ group, resource }: GroupResource): string => (group === '' ? resource : `${resource}.${group}`);
export const qualifiedKind = ({ group, kind }: GroupKind): string => (group === '' ? kind : `${kind}.${group}`);

const resourceDetails = ({ group, resource }: GroupResource, name: string): NonNullable<Status['details']> => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  ...(resource === '' ? {} : { kind: resource }),
});

export const notFound = (of: GroupResource, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${qualifiedResource(of)} "${name}" not found`, resourceDetails(of, name));

export const alreadyExists = (of: GroupResource, name: string): StatusError =>
  new StatusError(409, 'AlreadyExists', `${qualifiedResource(of)} "${name}" already exists`, resourceDetails(of, name));

export const conflict = (of: GroupResource, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(of)} "${name}": ${why}`,
    resourceDetails(of, name),
  );

/** The conflict of a stale resourceVersion. */
export const modifiedConflict = (of: GroupResource, name: string): StatusError =>
  conflict(of, name, 'the object has been modified; please apply your changes to the latest version and try again');

/** `causes` distinguishes refusals of one reason, such as NamespaceTerminating. */
export const forbidden = (of: GroupResource, name: string, why: string, causes?: NonNullable<Status['details']>['causes']): StatusError =>
  new StatusError(403, 'Forbidden', forbiddenMessage(of, name, why), {
    ...resourceDetails(of, name),
    ...omitUndefined({ causes }),
  });

const forbiddenMessage = (of: GroupResource, name: string, why: string): string => {
  if (of.resource === '') return `forbidden: ${why}`;
  return name === '' ? `${qualifiedResource(of)} is forbidden: ${why}` : `${qualifiedResource(of)} "${name}" is forbidden: ${why}`;
};

/** 422: every finding becomes a cause; the message joins them as Go's aggregate error does, without repetitions. */
export const invalid = (of: GroupKind, name: string, errors: readonly FieldError[]): StatusError => {
  const sentences = [...new Set(errors.map(({ field, body }) => `${field === '' ? '<nil>' : field}: ${body}`))];
  const tail = sentences.length === 1 ? `: ${sentences[0]}` : sentences.length > 1 ? `: [${sentences.join(', ')}]` : '';
  const causes = errors.map(({ type, field, body }) => ({ reason: type, message: body, ...(field === '' ? {} : { field }) }));
  return new StatusError(422, 'Invalid', `${qualifiedKind(of)} "${name}" is invalid${tail}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.kind,
    ...(causes.length === 0 ? {} : { causes }),
  });
};

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const unauthorized = (message = 'Unauthorized'): StatusError => new StatusError(401, 'Unauthorized', message);

/** `action` is the verb's word in the sentence: create, update, delete, patch, list, get. */
export const methodNotAllowed = (of: GroupResource, action: string): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind "${qualifiedResource(of)}"`,
    resourceDetails(of, ''),
  );

/** A path that exists with a method that it does not have. */
export const methodNotAllowedOnPath = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** A path below a served group and version that names no resource. */
export const pathNotFound = (): StatusError => new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** 410 with reason Expired: a resourceVersion or continue token older than the server's memory. */
export const expired = (message: string, listMeta: { readonly continue?: string } = {}): StatusError =>
  new StatusError(410, 'Expired', message, undefined, [], listMeta);

export const gone = (message: string): StatusError => new StatusError(410, 'Gone', message);

export const tooManyRequests = (message: string, retryAfterSeconds: number, details: Status['details'] = {}): StatusError =>
  new StatusError(429, 'TooManyRequests', message, { ...details, ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }) });

export const timeout = (message: string, retryAfterSeconds: number, details: Status['details'] = {}): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: ${message}`, { ...details, ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }) });

export const requestTooLarge = (limitBytes: number): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);

export const internalError = (message: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

/** An error that upstream returns without a metav1.Status of its own: 500 and the bare sentence. */
export const unknownError = (message: string): StatusError => new StatusError(500, '', message);
