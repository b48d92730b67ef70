import type { Format } from './answer.ts';
import { notAcceptable, StatusError } from '../apimachinery/status-error.ts';

/** How the client wants objects to be shown. */
export type Representation = {
  readonly format: Format;
  readonly as: 'object' | 'table' | 'metadata' | 'metadata-list';
  /** Version of meta.k8s.io for tables and metadata. */
  readonly metaVersion: 'v1' | 'v1beta1';
};

export const ACCEPTED_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
/** What the route of a list says besides that it produces: such a route also watches. */
const STREAM_TYPES = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

type Clause = { readonly mediaType: string; readonly parameters: ReadonlyMap<string, string>; readonly quality: number };

const DEFAULT: Representation = { format: 'json', as: 'object', metaVersion: 'v1' };

/** The route that answers: those of built-in kinds check the Accept header on their own, in go-restful's words. */
export type Route = {
  readonly builtIn: boolean;
  readonly ofList: boolean;
  /** False: objects are shown as they are, or not at all. */
  readonly transforms?: false;
};

/** Chooses the representation of an answer by the Accept header. Protobuf is not served: who accepts nothing else gets 406. */
export function negotiate(accept: string, { builtIn, ofList, transforms }: Route): Representation {
  if (accept === '' || accept === 'application/json' || accept === '*/*') return DEFAULT;
  if (builtIn && !routeProduces(accept)) {
    const available = ofList ? [...ACCEPTED_TYPES, ...STREAM_TYPES] : ACCEPTED_TYPES;
    throw new StatusError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`, {});
  }
  const clauses = parseAccept(accept);
  for (const clause of clauses) {
    const format = formatOf(clause.mediaType);
    const shape = shapeOf(clause.parameters);
    if (format === undefined || shape === undefined) continue;
    if (shape.as === 'object' || transforms !== false) return { format, ...shape };
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

/** Clauses by quality, and of the same quality the more specific ones first, as goautoneg sorts them. */
function parseAccept(accept: string): Clause[] {
  const clauses = accept.split(',').map((text): Clause => {
    const [mediaType = '', ...parameters] = text.split(';').map((part) => part.trim());
    const byName = new Map(parameters.map((parameter) => [before(parameter, '='), after(parameter, '=')] as const));
    return { mediaType: mediaType.toLowerCase(), parameters: byName, quality: Number(byName.get('q') ?? '1') };
  });
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a.mediaType) - wildcards(b.mediaType));
}
const wildcards = (mediaType: string): number => mediaType.split('*').length - 1;
const before = (text: string, separator: string): string => text.split(separator, 1)[0]?.trim() ?? '';
const after = (text: string, separator: string): string => text.slice(before(text, separator).length + 1).trim();

/** Whether some clause names a type that the route produces; its parameters do not count, and of wildcards only the full one. */
const routeProduces = (accept: string): boolean =>
  accept.split(',').some((clause) => {
    const mediaType = before(clause, ';');
    return mediaType === '*/*' || ACCEPTED_TYPES.includes(mediaType);
  });

const formatOf = (mediaType: string): Format | undefined => {
  if (mediaType === 'application/json' || mediaType === '*/*' || mediaType === 'application/*') return 'json';
  return mediaType === 'application/yaml' ? 'yaml' : undefined;
};

/** Undefined for a transformation that does not exist. */
function shapeOf(parameters: ReadonlyMap<string, string>): Omit<Representation, 'format'> | undefined {
  if ((parameters.get('stream') ?? 'watch') !== 'watch' || (parameters.get('sv') ?? 'v1') !== 'v1') return undefined;
  if (!['as', 'g', 'v'].some((name) => parameters.has(name))) return { as: 'object', metaVersion: 'v1' };
  const version = parameters.get('v') ?? '';
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  switch (parameters.get('as')) {
    case 'Table':
      return { as: 'table', metaVersion: version };
    case 'PartialObjectMetadata':
      return { as: 'metadata', metaVersion: version };
    case 'PartialObjectMetadataList':
      return { as: 'metadata-list', metaVersion: version };
    default:
      return undefined;
  }
}
