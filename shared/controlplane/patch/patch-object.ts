import { checkKind, conformDecoded, type Decoded, duplicateFields, kindOf, notRegistered } from '../schema/decode.ts';
import { TypeMismatch } from '../schema/conform.ts';
import { converterWording } from '../schema/converter-wording.ts';
import { hasDuplicateKeys, JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import type { FieldValidation, ObjectSchema } from '../schema/schema.ts';
import { badRequest, StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { goValue } from './go-value.ts';
import { cloneJson, isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import { applyJsonPatch, JsonPatchError } from './json-patch.ts';
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
          if (hasVersion(patched, live, schema)) conformDecoded(patched, schema, { onUnknown: (path) => unknown.push(path) });
          else unknown.push(...withoutFields(patched));
          Object.assign(patched, { kind: live.kind, apiVersion: live.apiVersion });
        }
      } catch (error) {
        if (error instanceof TypeMismatch) throw invalidPatch(rendered(), error.message);
        throw error;
      }
      const found =
        fieldValidation === 'Ignore' ? [] : [...problems, ...unknown.sort().map((path) => `unknown field ${JSON.stringify(path)}`)];
      if (fieldValidation === 'Strict' && found.length > 0) throw invalidPatch(rendered(), `strict decoding error: ${found.join(', ')}`);
      patched.metadata ??= {};
      // conformDecoded has established the shape.
      return { object: patched as AnyObject, warnings: found };
    },
  };
}

/** Removes all fields; returns the names of those that are not of TypeMeta. */
function withoutFields(object: JsonObject): string[] {
  const names = Object.keys(object).filter((name) => name !== 'kind' && name !== 'apiVersion');
  for (const name of names) delete object[name];
  return names;
}

type ParsedPatch = { readonly document: unknown; readonly problems: readonly string[] };

const JSON_PATCH_OPERATIONS_MAX = 10_000;
const OPERATION_FIELDS = ['op', 'path', 'from', 'value'];

function parsePatch(type: PatchType, body: string, fieldValidation: FieldValidation): ParsedPatch {
  const document = parsePatchText(type, body);
  const duplicates = fieldValidation !== 'Ignore' && hasDuplicateKeys(body, document) ? duplicateFields(body) : [];
  if (type === JSON_PATCH) return parseOperations(document, duplicates, fieldValidation);
  if (isJsonObject(document)) return { document, problems: duplicates };
  if (document === null && type === STRATEGIC_MERGE_PATCH) return { document: {}, problems: [] };
  // The library itself takes a list for a document that replaces the live one.
  if (type === MERGE_PATCH && fieldValidation === 'Ignore' && Array.isArray(document)) return { document, problems: [] };
  if (type === MERGE_PATCH && (document === null || fieldValidation === 'Ignore')) throw badRequest('Invalid JSON Patch');
  throw notAPatch(type, `json: cannot unmarshal ${typeName(document)} into Go value of type map[string]interface {}`);
}

function parseOperations(document: unknown, duplicates: readonly string[], fieldValidation: FieldValidation): ParsedPatch {
  const given: unknown = document ?? [];
  const context = fieldValidation === 'Ignore' ? '' : 'error decoding patch: ';
  if (!Array.isArray(given)) {
    throw badRequest(`${context}json: cannot unmarshal ${typeName(given)} into Go value of type jsonpatch.Patch`);
  }
  const operations = given.map((operation: unknown): JsonObject => {
    if (!isJsonObject(operation) && operation !== null) {
      throw badRequest(`${context}json: cannot unmarshal ${typeName(operation)} into Go value of type jsonpatch.Operation`);
    }
    if (fieldValidation !== 'Ignore') checkOperationTypes(operation ?? {});
    return operation ?? {};
  });
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    const why = `The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${operations.length}`;
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`);
  }
  const unknown = operations.flatMap((operation, index) =>
    Object.keys(operation)
      .filter((field) => !OPERATION_FIELDS.includes(field))
      .map((field) => `unknown field ${JSON.stringify(`[${index}].${field}`)}`),
  );
  return { document: operations, problems: [...duplicates, ...unknown].map((problem) => `json patch ${problem}`) };
}

/** Only a checked patch is decoded into a Go struct; the library finds out as it goes. */
function checkOperationTypes(operation: JsonObject): void {
  for (const field of ['op', 'path', 'from']) {
    const value = operation[field];
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${typeName(value)} into Go struct field jsonPatchOp.${field} of type string`,
    );
  }
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
    const why = `json: cannot unmarshal ${typeName(patched)} into Go value of type struct`;
    throw invalidPatch(JSON.stringify(patched), `couldn't get version/kind; json parse error: ${why}`);
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
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

/**
 * A patch may not make another kind of the object. False: what it made names no version, and is decoded as the
 * server's internal type, which has none of the fields of the API.
 */
function hasVersion(patched: JsonObject, live: AnyObject, schema: ObjectSchema): boolean {
  if (patched.kind === live.kind && patched.apiVersion === live.apiVersion) return true;
  const expected = kindOf(schema);
  for (const field of ['apiVersion', 'kind']) {
    const value = patched[field] ?? '';
    if (typeof value === 'string') continue;
    const why = `json: cannot unmarshal ${typeName(value)} into Go struct field .${field} of type string`;
    throw new TypeMismatch(`couldn't get version/kind; json parse error: ${why}`);
  }
  const apiVersion = textOf(patched.apiVersion);
  const [first = '', second] = apiVersion.split('/');
  const kind = textOf(patched.kind) === '' && schema.custom === undefined ? expected.kind : textOf(patched.kind);
  const actual = { group: second === undefined ? '' : first, version: second ?? first, kind };
  if (apiVersion === '' && kind === expected.kind && schema.custom === undefined) return false;
  if (schema.custom === undefined) checkKind(actual, schema, expected);
  else throw new TypeMismatch(notRegistered(actual, expected));
  return true;
}

/** What is no text is as good as absent. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
