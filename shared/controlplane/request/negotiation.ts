import type { Format } from './answer.ts';
import { notAcceptable, StatusError } from '../apimachinery/status-error.ts';

/** How the client wants objects to be shown. */
export type Representation = {
  readonly format: Format;
  readonly as: 'object' | 'table' | 'metadata';
  /** Version of meta.k8s.io for tables and metadata. */
  readonly metaVersion: 'v1' | 'v1beta1';
};

export const ACCEPTED_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

type Clause = { readonly mediaType: string; readonly parameters: ReadonlyMap<string, string>; readonly quality: number };

const DEFAULT: Representation = { format: 'json', as: 'object', metaVersion: 'v1' };

/**
 * Chooses the representation of an answer by the Accept header. Protobuf is not served: who accepts nothing else gets 406.
 * `builtIn`: the route's own check comes first, as go-restful words it.
 */
export function negotiate(accept: string, builtIn: boolean): Representation {
  if (accept === '' || accept === 'application/json' || accept === '*/*') return DEFAULT;
  const clauses = parseAccept(accept);
  if (builtIn && !clauses.some(({ mediaType }) => acceptsAny(mediaType))) {
    throw new StatusError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${ACCEPTED_TYPES.join(', ')}`, {});
  }
  for (const clause of clauses) {
    const format = formatOf(clause.mediaType);
    const shape = shapeOf(clause.parameters);
    if (format !== undefined && shape !== undefined) return { format, ...shape };
  }
  throw notAcceptable(ACCEPTED_TYPES);
}

/** The format alone, for errors: what cannot be had is JSON. */
export function formatOfErrors(accept: string): Format {
  for (const { mediaType } of parseAccept(accept)) {
    const format = formatOf(mediaType);
    if (format !== undefined) return format;
  }
  return 'json';
}

function parseAccept(accept: string): Clause[] {
  const clauses = accept.split(',').map((text): Clause => {
    const [mediaType = '', ...parameters] = text.split(';').map((part) => part.trim());
    const byName = new Map(parameters.map((parameter) => [before(parameter, '='), after(parameter, '=')] as const));
    return { mediaType: mediaType.toLowerCase(), parameters: byName, quality: Number(byName.get('q') ?? '1') };
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}
const before = (text: string, separator: string): string => text.split(separator, 1)[0]?.trim() ?? '';
const after = (text: string, separator: string): string => text.slice(before(text, separator).length + 1).trim();

const acceptsAny = (mediaType: string): boolean =>
  mediaType === '*/*' || mediaType === 'application/*' || ACCEPTED_TYPES.includes(mediaType);

const formatOf = (mediaType: string): Format | undefined => {
  if (mediaType === 'application/json' || mediaType === '*/*' || mediaType === 'application/*') return 'json';
  return mediaType === 'application/yaml' ? 'yaml' : undefined;
};

/** Undefined for an `as` that does not exist. */
function shapeOf(parameters: ReadonlyMap<string, string>): Omit<Representation, 'format'> | undefined {
  const as = parameters.get('as');
  if (as === undefined) return { as: 'object', metaVersion: 'v1' };
  const version = parameters.get('v') ?? '';
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (as === 'Table') return { as: 'table', metaVersion: version };
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return { as: 'metadata', metaVersion: version };
  return undefined;
}
