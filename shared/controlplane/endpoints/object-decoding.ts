import { invalid as invalidField } from '../apimachinery/field-error.ts';
import type { WriteOptions } from '../registry/request-options.ts';
import { type Decoded, decodeObject } from '../schema/decode.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { invalid } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/** A body as an object of the resource, defaulted, with kind and apiVersion. Throws 400 or 415. */
export const decodeBody = (
  resource: ServedResource,
  body: string,
  contentType: string,
  options: WriteOptions,
  warn: (text: string) => void,
): AnyObject => completed(resource, decodeObject(body, contentType, resource.schema, options.fieldValidation), warn);

/** Built-in kinds are checked while decoding; a custom resource of another kind is an invalid one. */
function refuseOtherKind({ definition }: ServedResource, object: AnyObject): void {
  const { kind = definition.kind } = object;
  if (kind === definition.kind) return;
  throw invalid({ group: definition.group, kind }, object.metadata.name ?? '', [invalidField('kind', kind, `must be ${definition.kind}`)]);
}

/** What every decoded or patched object gets: its defaults, and the kind and version of the path. */
export function completed(resource: ServedResource, { object, warnings }: Decoded, warn: (text: string) => void): AnyObject {
  for (const warning of warnings) warn(warning);
  if (resource.custom) refuseOtherKind(resource, object);
  if (resource.definition.view?.worksOn !== 'stored') resource.definition.strategy.applyDefaults?.(object);
  object.kind = resource.definition.kind;
  object.apiVersion = resource.apiVersion;
  return object;
}
