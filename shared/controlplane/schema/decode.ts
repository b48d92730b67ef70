import { isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import { badRequest, StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { builtInSchema, objectMetaSchema } from './builtin.ts';
import { conformObject, conformValue, type ConformOptions, TypeMismatch } from './conform.ts';
import { type Fractions, hasDuplicateKeys, JsonSyntaxError, keysInOrder, parseJson, parseWithFractions } from './json-text.ts';
import type { FieldValidation, KindName, ObjectSchema } from './schema.ts';
import { parseYaml, repeatedYamlKeys, yamlKeysError, YamlSyntaxError } from './yaml-text.ts';

export type Decoded = { readonly object: AnyObject; readonly warnings: string[] };

/**
 * Reads the body of a create or an update of the kind that `schema` describes: checks its type, brings it to the stored form (see
 * conformObject), and reports unknown and duplicate fields as `fieldValidation` asks. A missing apiVersion and kind of a
 * built-in kind are filled in. Throws StatusError (400) in the API server's words.
 */
export function decodeObject(body: string, contentType: string, schema: ObjectSchema, fieldValidation: FieldValidation): Decoded {
  const expected = kindOf(schema);
  const { raw, fractions } = parseBody(body, contentType, expected);
  if (schema.custom !== undefined) requireKind(raw, body, expected);
  const actual = actualKind(raw, schema, expected, body);
  // Before the walk, which removes fields.
  const hasDuplicates = fieldValidation !== 'Ignore' && !isYaml(contentType) && hasDuplicateKeys(body, raw);
  const unknown: string[] = [];
  try {
    checkKind(actual, schema, expected);
    if (schema.custom !== undefined && apiVersionText(actual) !== apiVersionText(expected)) unknown.push(...untypedFields(raw));
    else conformDecoded(raw, schema, { onUnknown: (path) => unknown.push(path), fractions });
  } catch (error) {
    if (error instanceof TypeMismatch) throw cannotBeHandled(actual, expected, error.message);
    throw error;
  }
  raw.kind = actual.kind;
  raw.apiVersion = apiVersionText(actual);
  const duplicateSource = hasDuplicates ? body : undefined;
  const problems = fieldValidation === 'Ignore' ? [] : strictProblems(unknown, duplicateSource, schema.custom !== undefined);
  const repeated = fieldValidation !== 'Ignore' && isYaml(contentType) ? repeatedYamlKeys(body) : [];
  if (fieldValidation === 'Strict' && problems.length + repeated.length > 0) {
    const findings = [...(repeated.length === 0 ? [] : [yamlKeysError(repeated)]), ...problems];
    throw cannotBeHandled(actual, expected, `strict decoding error: ${findings.join(', ')}`);
  }
  const warnings = [...repeated, ...problems];
  checkVersion(actual, expected, warnings);
  return { object: asObject(raw), warnings };
}

/** Types, prunes and completes an object that has been parsed. Throws TypeMismatch. */
export function conformDecoded(raw: JsonObject, schema: ObjectSchema, options: ConformOptions): void {
  const resetsManagers = hasEmptyManagedFields(raw);
  conformAll(raw, schema, options);
  // Empty lists are dropped like absent ones, but this one has a meaning: nobody owns anything any more.
  if (resetsManagers && isJsonObject(raw.metadata)) raw.metadata.managedFields = [];
}

const hasEmptyManagedFields = ({ metadata }: JsonObject): boolean =>
  isJsonObject(metadata) && Array.isArray(metadata.managedFields) && metadata.managedFields.length === 0;

function conformAll(raw: JsonObject, schema: ObjectSchema, options: ConformOptions): void {
  if (schema.custom === undefined) return conformObject(raw, schema, options);
  if (raw.metadata !== undefined && raw.metadata !== null)
    raw.metadata = conformValue(raw.metadata, objectMetaSchema(), 'metadata', options);
  for (const path of schema.custom.prune(raw)) options.onUnknown?.(path);
}

/** conformObject leaves every object with metadata; a custom resource without any gets it here. */
function asObject(raw: JsonObject): AnyObject {
  raw.metadata ??= {};
  // The shape has just been established; TypeScript cannot follow that through the schema.
  return raw as AnyObject;
}

export function kindOf(schema: ObjectSchema): KindName {
  if (schema.type === undefined) throw new Error(`${schema.name} is not the schema of a kind`);
  return schema.type;
}

export const apiVersionText = ({ group, version }: KindName): string => (group === '' ? version : `${group}/${version}`);

export const isYaml = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?yaml\b/.test(contentType);

type ParsedBody = { readonly raw: JsonObject; readonly fractions: Fractions | undefined };

function parseBody(body: string, contentType: string, expected: KindName): ParsedBody {
  try {
    if (isYaml(contentType)) return { raw: asRoot(parseYaml(body)), fractions: undefined };
    const value = parseJson(body);
    const exact = parseWithFractions(body);
    return { raw: asRoot(exact === undefined ? value : exact.value), fractions: exact?.fractions };
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw unrecognized(body, expected, error.message);
    if (error instanceof JsonSyntaxError) {
      throw unrecognized(body, expected, `couldn't get version/kind; json parse error: ${error.message}`);
    }
    throw error;
  }
}

function asRoot(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  // Decoding null changes nothing.
  if (value === null || value === undefined) return {};
  throw new JsonSyntaxError(`json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct`);
}

const unrecognized = (body: string, expected: KindName, why: string): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summary(body)})`);

const SUMMARY_LENGTH = 30;

function summary(body: string): string {
  if (body === '') return '<empty>';
  const bytes = Buffer.from(body);
  const cut = bytes.subarray(0, SUMMARY_LENGTH);
  const text = body.startsWith('{') ? cut.toString() : cut.toString('hex');
  return bytes.length > SUMMARY_LENGTH ? `${text} ...` : text;
}

function requireKind(raw: JsonObject, body: string, expected: KindName): void {
  if (typeof raw.kind !== 'string' || raw.kind === '') {
    throw unrecognized(body, expected, `Object 'Kind' is missing in '${body}'`);
  }
}

/** What the body says it is, with the expected kind filled in where it says nothing. */
function actualKind(raw: JsonObject, schema: ObjectSchema, expected: KindName, body: string): KindName {
  for (const field of ['apiVersion', 'kind']) {
    const value = raw[field];
    if (value !== undefined && value !== null && typeof value !== 'string') {
      throw unrecognized(
        body,
        expected,
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeof value} into Go struct field .${field} of type string`,
      );
    }
  }
  const kind = typeof raw.kind === 'string' && raw.kind !== '' ? raw.kind : expected.kind;
  if (typeof raw.apiVersion !== 'string' || raw.apiVersion === '') {
    return schema.custom === undefined ? { ...expected, kind } : { group: '', version: '', kind };
  }
  const [first = '', second, ...more] = raw.apiVersion.split('/');
  if (more.length > 0) throw unrecognized(body, expected, `unexpected GroupVersion string: ${raw.apiVersion}`);
  return second === undefined ? { group: '', version: first, kind } : { group: first, version: second, kind };
}

/** Throws TypeMismatch when a built-in kind is not the one that the path serves. */
export function checkKind(actual: KindName, schema: ObjectSchema, expected: KindName): void {
  if (schema.custom !== undefined || isSameKind(actual, expected)) return;
  // Every kind has its list.
  const single = actual.kind.replace(/List$/, '');
  if ([actual.kind, single].every((kind) => builtInSchema(actual.group, actual.version, kind) === undefined)) {
    throw new TypeMismatch(notRegistered(actual, expected));
  }
  if (internalType(actual) !== internalType(expected)) {
    throw new TypeMismatch(`converting (${actual.version}.${actual.kind}) to (${internalType(expected)}): unknown conversion`);
  }
}

const isSameKind = (left: KindName, right: KindName): boolean =>
  left.group === right.group && left.version === right.version && left.kind === right.kind;

export const notRegistered = (actual: KindName, expected: KindName): string =>
  `no kind "${actual.kind}" is registered for version "${apiVersionText(actual)}" in scheme "${schemeOf(expected)}"`;

const schemeOf = ({ group }: KindName): string =>
  group === 'apiextensions.k8s.io' ? 'pkg/apiserver/apiserver.go:57' : 'pkg/api/legacyscheme/scheme.go:30';

/** The hub type of a kind: both Events are core.Event. */
export function internalType({ group, kind }: KindName): string {
  if (kind === 'Event') return 'core.Event';
  const pkg = group === '' ? 'core' : (group.split('.')[0] ?? '');
  return `${pkg}.${kind}`;
}

function checkVersion(actual: KindName, expected: KindName, warnings: readonly string[]): void {
  if (actual.group === expected.group && actual.version === expected.version) return;
  throw new StatusError(
    400,
    'BadRequest',
    `the API version in the data (${apiVersionText(actual)}) does not match the expected API version (${apiVersionText(expected)})`,
    undefined,
    warnings,
  );
}

const cannotBeHandled = (actual: KindName, expected: KindName, why: string): StatusError =>
  badRequest(`${actual.kind} in version ${JSON.stringify(actual.version)} cannot be handled as a ${expected.kind}: ${why}`);

/** Of a custom resource in a version that has no schema nothing is known but its metadata. */
const untypedFields = (raw: JsonObject): string[] =>
  Object.keys(raw)
    .filter((field) => !['apiVersion', 'kind', 'metadata'].includes(field))
    .sort();

/** The findings of strict decoding: of a built-in kind in the order of the text, of a custom resource duplicates first. */
function strictProblems(unknown: readonly string[], duplicateSource: string | undefined, custom: boolean): string[] {
  const unknownFields = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (duplicateSource === undefined) return unknownFields;
  if (custom) return [...duplicateFields(duplicateSource), ...unknownFields];
  const known = new Set(unknown);
  const inOrder = keysInOrder(duplicateSource).flatMap(({ path, duplicate }) => {
    if (duplicate) return [`duplicate field ${JSON.stringify(path)}`];
    return known.has(path) ? [`unknown field ${JSON.stringify(path)}`] : [];
  });
  return [...new Set(inOrder)];
}

/** `duplicate field "data.a"` for every key that its object has had before. */
export const duplicateFields = (text: string): string[] => [
  ...new Set(
    keysInOrder(text)
      .filter(({ duplicate }) => duplicate)
      .map(({ path }) => `duplicate field ${JSON.stringify(path)}`),
  ),
];
