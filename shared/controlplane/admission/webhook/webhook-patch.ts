import { applyJsonPatch } from '../../patch/json-patch.ts';
import { internalError } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';

/** The object with a webhook's JSON patch applied; undefined for a patch without operations. Throws a StatusError. */
export function applyReviewPatch(webhook: string, patch: string, object: AnyObject | undefined): unknown {
  try {
    const operations: unknown = JSON.parse(patch);
    if (!Array.isArray(operations)) throw new Error('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
    if (operations.length === 0) return undefined;
    if (object === undefined) {
      throw new Error(`admission webhook "${webhook}" attempted to modify the object, which is not supported for this operation`);
    }
    return applyJsonPatch(object, operations);
  } catch (error) {
    throw internalError(error instanceof Error ? error.message : String(error));
  }
}
