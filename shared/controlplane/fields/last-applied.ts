import { isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { appliedFields, compareObjects } from './compare.ts';
import { difference, pathsOf } from './field-set.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** The field manager of `kubectl apply --server-side`: only it moves over from client-side apply. */
const KUBECTL = 'kubectl';

/**
 * Fields that kubectl may take from others because it has applied them client-side before: those of the
 * last-applied-configuration annotation of the live object, as far as they are still what was applied.
 */
export function allowedByLastApplied(live: AnyObject | undefined, manager: string, schema: ObjectSchema): ReadonlySet<string> | undefined {
  const annotation = live?.metadata.annotations?.[LAST_APPLIED];
  if (live === undefined || manager !== KUBECTL || annotation === undefined) return undefined;
  try {
    const lastApplied: unknown = JSON.parse(annotation);
    if (!isJsonObject(lastApplied) || lastApplied.apiVersion !== live['apiVersion']) return undefined;
    const { added, modified, removed } = compareObjects(lastApplied, live, schema);
    const kept = [modified, added, removed].reduce(difference, appliedFields(lastApplied, schema));
    return new Set(pathsOf(kept));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Keeps the annotation of client-side apply true, so that users may go back to it. */
export function refreshLastApplied(object: AnyObject, configuration: JsonObject, manager: string): void {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || annotations?.[LAST_APPLIED] === undefined) return;
  object.metadata.annotations = { ...annotations, [LAST_APPLIED]: `${JSON.stringify(configuration)}\n` };
}
