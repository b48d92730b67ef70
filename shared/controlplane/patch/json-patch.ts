import { cloneJson, fieldOf, isJsonObject, type JsonObject, jsonEquals, setField } from '../apimachinery/json.ts';

/** One operation of RFC 6902, as far as it could be read. */
export type JsonPatchOperation = { readonly op?: unknown; readonly path?: unknown; readonly from?: unknown; readonly value?: unknown };

/** An operation that cannot be carried out, or a `test` that fails. The API server answers 422, and does not say why. */
export class JsonPatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPatchError';
  }
}

/** kube-apiserver's JSONPatchMaxCopyBytes: as much as a request may have. */
const COPIED_BYTES_MAX = 3 * 1024 * 1024;

/**
 * RFC 6902 with the liberties that the API server's library (evanphx/json-patch) takes: a negative index counts from the
 * end, `replace` of an absent key of an object adds it, `copy` of one adds null, `test` for null holds when the key is
 * absent, a missing value is null, and what stands before the first slash of a path does not count.
 * Returns a new document; throws JsonPatchError.
 */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root: Root = { document: cloneJson(document), copiedBytes: 0 };
  for (const operation of operations) applyOperation(root, operation);
  return root.document;
}

type Root = { document: unknown; copiedBytes: number };

function applyOperation(root: Root, operation: JsonPatchOperation): void {
  const kind = typeof operation.op === 'string' ? operation.op : 'unknown';
  const apply = OPERATIONS[kind];
  if (apply === undefined || !Object.hasOwn(OPERATIONS, kind)) throw new JsonPatchError(`Unexpected kind: ${kind}`);
  apply(root, operation);
}

/** What each operation does, in the order in which the library finds out that it cannot. */
const OPERATIONS: Readonly<Record<string, (root: Root, operation: JsonPatchOperation) => void>> = {
  add: (root, operation) => {
    const path = pointerOf(operation.path, 'add operation failed to decode path');
    const place = locate(root, path, `add operation does not apply: doc is missing path: "${path}"`);
    explained(`error in add for path: '${path}'`, () => add(place, valueOf(operation)));
  },
  remove: (root, operation) => {
    const path = pointerOf(operation.path, 'remove operation failed to decode path');
    const place = locate(root, path, `remove operation does not apply: doc is missing path: "${path}"`);
    explained(`error in remove for path: '${path}'`, () => remove(place));
  },
  replace: (root, operation) => {
    const path = pointerOf(operation.path, 'replace operation failed to decode path: operation missing path field');
    if (path === '') return replaceRoot(root, valueOf(operation));
    const place = locate(root, path, `replace operation does not apply: doc is missing path: ${path}`);
    replace(place, valueOf(operation), path);
  },
  move: (root, operation) => {
    const from = pointerOf(operation.from, 'move operation failed to decode from: operation, missing from field');
    const source = locate(root, from, `move operation does not apply: doc is missing from path: ${from}`);
    const value = explained(`error in move for path: '${source.key}'`, () => {
      const moved = read(source) ?? null;
      remove(source);
      return moved;
    });
    const path = pointerOf(operation.path, 'move operation failed to decode path: operation missing path field');
    const target = locate(root, path, `move operation does not apply: doc is missing destination path: ${path}`);
    explained(`error in move for path: '${path}'`, () => add(target, value));
  },
  copy: (root, operation) => {
    const from = pointerOf(operation.from, 'copy operation failed to decode from: operation, missing from field');
    const source = locate(root, from, `copy operation does not apply: doc is missing from path: ${from}`);
    const value = explained(`error in copy for from: '${from}'`, () => read(source) ?? null);
    const path = pointerOf(operation.path, 'copy operation failed to decode path');
    const target = locate(root, path, `copy operation does not apply: doc is missing destination path: ${path}`);
    countCopy(root, value);
    explained('error while adding value during copy', () => add(target, cloneJson(value)));
  },
  test: (root, operation) => {
    const path = pointerOf(operation.path, 'test operation failed to decode path: operation missing path field');
    const found = path === '' ? root.document : tested(root, path);
    if (!jsonEquals(found ?? null, operation.value ?? null)) throw new JsonPatchError(`testing value ${path} failed: test failed`);
  },
};

function tested(root: Root, path: string): unknown {
  const place = locate(root, path, `test operation does not apply: is missing path: ${path}`);
  return explained(`error in test for path: '${path}'`, () => read(place));
}

const valueOf = (operation: JsonPatchOperation): unknown => cloneJson(operation.value ?? null);

function pointerOf(pointer: unknown, why: string): string {
  if (typeof pointer === 'string') return pointer;
  throw new JsonPatchError(`${why}: missing value`);
}

/** Runs a part of an operation; its refusal gets the context in front. */
function explained<T>(context: string, part: () => T): T {
  try {
    return part();
  } catch (error) {
    if (error instanceof JsonPatchError) throw new JsonPatchError(`${context}: ${error.message}`);
    throw error;
  }
}

function countCopy(root: Root, value: unknown): void {
  root.copiedBytes += JSON.stringify(value).length;
  if (root.copiedBytes <= COPIED_BYTES_MAX) return;
  throw new JsonPatchError(
    `Unable to complete the copy, the accumulated size increase of copy is ${root.copiedBytes}, exceeding the limit ${COPIED_BYTES_MAX}`,
  );
}

/** A place in the document: the container that holds it, and its key there. */
type Place = { readonly container: JsonObject | unknown[]; readonly key: string };

/** Throws with `missing` when nothing could hold the place. */
function locate({ document }: Root, pointer: string, missing: string): Place {
  const segments = pointer.split('/').slice(1).map(unescapeSegment);
  const key = segments.pop();
  let container: unknown = key === undefined ? undefined : document;
  for (const segment of segments) container = child(container, segment);
  if (key === undefined || (!isJsonObject(container) && !Array.isArray(container))) throw new JsonPatchError(`${missing}: missing value`);
  return { container, key };
}

const unescapeSegment = (segment: string): string => segment.replaceAll(/~[01]/g, (escape) => (escape === '~1' ? '/' : '~'));

/** Undefined for what is not there. */
function child(container: unknown, segment: string): unknown {
  if (isJsonObject(container)) return fieldOf(container, segment);
  if (!Array.isArray(container) || !INDEX.test(segment)) return undefined;
  const index = Number(segment);
  return container[index < 0 ? index + container.length : index];
}

const INDEX = /^[+-]?\d{1,9}$/;

function integerOf(segment: string): number {
  if (INDEX.test(segment)) return Number(segment);
  throw new JsonPatchError(`strconv.Atoi: parsing ${JSON.stringify(segment)}: invalid syntax`);
}

const invalidIndex = (index: number): JsonPatchError =>
  new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);

/** Index of an element that is there; negative numbers count from the end. */
function indexIn(list: readonly unknown[], segment: string): number {
  const index = integerOf(segment);
  if (index < -list.length || index >= list.length) throw invalidIndex(index);
  return index < 0 ? index + list.length : index;
}

const read = ({ container, key }: Place): unknown =>
  Array.isArray(container) ? container[indexIn(container, key)] : fieldOf(container, key);

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) return setField(container, key, value);
  if (key === '-') {
    container.push(value);
    return;
  }
  const index = explained(`value was not a proper array index: '${key}'`, () => integerOf(key));
  if (index > container.length || index < -container.length - 1) throw invalidIndex(index);
  container.splice(index < 0 ? index + container.length + 1 : index, 0, value);
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(indexIn(container, key), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: missing value`);
  delete container[key];
}

function replaceRoot(root: Root, value: unknown): void {
  // The library gives a value of another type no error, but keeps the document.
  if (isJsonObject(value) || Array.isArray(value)) root.document = value;
}

function replace(place: Place, value: unknown, path: string): void {
  const { container, key } = place;
  if (!Array.isArray(container)) return setField(container, key, value);
  const index = INDEX.test(key) ? Number(key) : container.length;
  if (index < -container.length || index >= container.length) {
    throw new JsonPatchError(`replace operation does not apply: doc is missing key: ${path}: missing value`);
  }
  container[index < 0 ? index + container.length : index] = value;
}
