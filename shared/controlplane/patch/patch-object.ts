import { conformDecoded, type Decoded, duplicateFields, kindOf, notRegistered } from '../schema/decode.ts';
import { builtInSchema } from '../schema/builtin.ts';
import { goTypeName, type MismatchWording, TypeMismatch } from '../schema/conform.ts';
import { hasDuplicateKeys, JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import type { FieldValidation, KindName, ObjectSchema } from '../schema/schema.ts';
import { badRequest, StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { goValue } from './go-value.ts';
import { cloneJson, isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import { applyJsonPatch, JsonPatchError, JsonPatchTooLarge } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch, StrategicPatchError } from './strategic-merge-patch.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';
export type PatchType = typeof JSON_PATCH | typeof MERGE_PATCH | typeof STRATEGIC_MERGE_PATCH;

/** A patch that has been parsed, so that it can be applied again after a conflict. */
export type Patch = {
  /**
   * The patched object in its stored form; `live` (with kind and apiVersion) stays as it is. Warnings are those of fieldValidation.
   * Throws StatusError in the API server's words.
   */
  applyTo(live: AnyObject, schema: ObjectSchema): Decoded;
};

/** Reads a patch. Throws StatusError (400, 413) if the body is none. */
export function readPatch(type: PatchType, body: string, fieldValidation: FieldValidation): Patch {
  const { document, problems } = parsePatch(type, body, fieldValidation);
  return {
    applyTo: (live, schema) => {
      const patched = patchDocument(type, live, document, schema);
      const unknown: string[] = [];
      const rendered = (): string => (type === STRATEGIC_MERGE_PATCH ? goValue(document) : JSON.stringify(patched));
      try {
        if (type === STRATEGIC_MERGE_PATCH) {
          conformDecoded(patched, schema, { onUnknown: (path) => unknown.push(path), wording: converterWording });
          Object.assign(patched, { kind: live.kind, apiVersion: live.apiVersion });
        } else {
          checkSameKind(patched, live, kindOf(schema));
          conformDecoded(patched, schema, { onUnknown: (path) => unknown.push(path) });
        }
      } catch (error) {
        if (error instanceof TypeMismatch) throw invalidPatch(rendered(), error.message);
        throw error;
      }
      const found = fieldValidation === 'Ignore' ? [] : [...problems, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
      if (fieldValidation === 'Strict' && found.length > 0) throw invalidPatch(rendered(), `strict decoding error: ${found.join(', ')}`);
      patched.metadata ??= {};
      // conformDecoded has established the shape.
      return { object: patched as AnyObject, warnings: found };
    },
  };
}

type ParsedPatch = { readonly document: unknown; readonly problems: readonly string[] };

const JSON_PATCH_OPERATIONS_MAX = 10_000;
const OPERATION_FIELDS = ['op', 'path', 'from', 'value'];

function parsePatch(type: PatchType, body: string, fieldValidation: FieldValidation): ParsedPatch {
  const document = parsePatchText(type, body);
  const duplicates = fieldValidation !== 'Ignore' && hasDuplicateKeys(body, document) ? duplicateFields(body) : [];
  if (type !== JSON_PATCH) {
    if (!isJsonObject(document))
      throw notAPatch(type, `json: cannot unmarshal ${typeName(document)} into Go value of type map[string]interface {}`);
    return { document, problems: duplicates };
  }
  if (!Array.isArray(document)) throw notAPatch(type, `json: cannot unmarshal ${typeName(document)} into Go value of type jsonpatch.Patch`);
  if (document.length > JSON_PATCH_OPERATIONS_MAX) {
    const why = `The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${document.length}`;
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`);
  }
  const operations = document.map((operation: unknown) => {
    if (isJsonObject(operation)) return operation;
    throw notAPatch(type, `json: cannot unmarshal ${typeName(operation)} into Go value of type jsonpatch.Operation`);
  });
  const unknown = operations.flatMap((operation, index) =>
    Object.keys(operation)
      .filter((field) => !OPERATION_FIELDS.includes(field))
      .map((field) => `unknown field ${JSON.stringify(`[${index}].${field}`)}`),
  );
  return { document: operations, problems: [...duplicates, ...unknown].map((problem) => `json patch ${problem}`) };
}

function parsePatchText(type: PatchType, body: string): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw notAPatch(type, error.message);
    throw error;
  }
}

const notAPatch = (type: PatchType, why: string): StatusError =>
  badRequest(type === STRATEGIC_MERGE_PATCH ? why : `error decoding patch: ${why}`);

const typeName = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

function patchDocument(type: PatchType, live: AnyObject, document: unknown, schema: ObjectSchema): JsonObject {
  try {
    const patched = apply(type, live, document, schema);
    if (isJsonObject(patched)) return patched;
    throw invalidPatch('{}', `json: cannot unmarshal ${typeName(patched)} into Go value of type struct`);
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
    if (error instanceof JsonPatchTooLarge)
      throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${error.message}`);
    if (error instanceof StrategicPatchError) throw strategicRefusal(error);
    throw error;
  }
}

function apply(type: PatchType, live: AnyObject, document: unknown, schema: ObjectSchema): unknown {
  if (type === JSON_PATCH) return applyJsonPatch(live, Array.isArray(document) ? document : []);
  if (type === MERGE_PATCH) return applyMergePatch(cloneJson(live), document);
  return applyStrategicMergePatch(live, isJsonObject(document) ? document : {}, schema);
}

/** What the server answers when it has no better words (NewGenericServerResponse). */
const unprocessable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function strategicRefusal(error: StrategicPatchError): StatusError {
  if (error.code === 400) return badRequest(error.message);
  return error.code === 422 ? unprocessable() : new StatusError(500, '', error.message);
}

function invalidPatch(rendered: string, why: string): StatusError {
  const message = `Invalid value: ${JSON.stringify(rendered)}: ${why}`;
  return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }],
  });
}

/** A patch may not make another kind of the object. */
function checkSameKind(patched: JsonObject, live: AnyObject, expected: KindName): void {
  if (patched.kind === live.kind && patched.apiVersion === live.apiVersion) return;
  const [first = '', second] = textOf(patched.apiVersion).split('/');
  const actual = { group: second === undefined ? '' : first, version: second ?? first, kind: textOf(patched.kind) };
  const known = builtInSchema(actual.group, actual.version, actual.kind) !== undefined;
  throw new TypeMismatch(known ? `unable to decode ${actual.kind} into ${expected.kind}` : notRegistered(actual, expected));
}

/** What is no text is as good as absent. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The words of runtime.DefaultUnstructuredConverter, through which a strategic merge patch goes. */
const converterWording: MismatchWording = (value, schema) => {
  const name = converterTypeName(value);
  if (schema.kind === 'object') return `cannot restore struct from: ${name}`;
  if (schema.kind === 'list') return `cannot restore slice from ${name}`;
  return schema.kind === 'map' ? `cannot restore map from ${name}` : `unrecognized type: ${goTypeName(schema)}`;
};

function converterTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map';
}
