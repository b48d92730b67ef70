import { applyJsonPatch, type JsonPatchOperation } from '../../patch/json-patch.ts';
import { internalError } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import { JsonSyntaxError, parseJson } from '../../schema/json-text.ts';

/** The operations of a webhook's patch. Throws an Error with upstream's words: a failure of the webhook, which may be ignored. */
export function readReviewPatch({ type, text }: { readonly type: string; readonly text: string }): readonly JsonPatchOperation[] {
  const operations = operationsIn(text);
  if (type !== 'JSONPatch' && operations.length > 0) throw new Error(`unsupported patch type ${JSON.stringify(type)}`);
  return operations;
}

function operationsIn(text: string): readonly JsonPatchOperation[] {
  const undecodable = (why: string): Error => new Error(`received undecodable patch in webhook response: ${why}`);
  let operations: unknown;
  try {
    operations = parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw undecodable(error.message);
    throw error;
  }
  if (operations === null) return [];
  if (!Array.isArray(operations)) throw undecodable(`json: cannot unmarshal ${typeof operations} into Go value of type jsonpatch.Patch`);
  return operations;
}

/** The object with those operations applied. Throws a StatusError, whatever the webhook's failure policy is. */
export function applyReviewPatch(webhook: string, operations: readonly JsonPatchOperation[], object: AnyObject | undefined): unknown {
  if (object === undefined) {
    throw internalError(`admission webhook "${webhook}" attempted to modify the object, which is not supported for this operation`);
  }
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    throw internalError(error instanceof Error ? error.message : String(error));
  }
}
