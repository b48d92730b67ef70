import { cloneJson, fieldOf, isJsonObject, type JsonObject, jsonEquals, setField } from '../apimachinery/json.ts';

/** One operation of RFC 6902, as far as it could be read. */
export type JsonPatchOperation = { readonly op?: unknown; readonly path?: unknown; readonly from?: unknown; readonly value?: unknown };

/** An operation that cannot be carried out, or a `test` that fails. The API server answers 422. */
export class JsonPatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPatchError';
  }
}

/** Copies that together would be larger than the server allows: a few could otherwise fill the memory. It answers 413. */
export class JsonPatchTooLarge extends Error {
  constructor(bytes: number) {
    super(`Unable to complete the copy, the accumulated size increase of copy is ${bytes}, exceeding the limit ${COPIED_BYTES_MAX}`);
    this.name = 'JsonPatchTooLarge';
  }
}

/** kube-apiserver's JSONPatchMaxCopyBytes: as much as a request may have. */
const COPIED_BYTES_MAX = 3 * 1024 * 1024;

/**
 * RFC 6902 with the liberties that the API server's library takes: a negative index counts from the end, `replace`
 * of an absent key of an object adds it, and `test` for null holds when the key is absent.
 * Returns a new document; throws JsonPatchError and JsonPatchTooLarge.
 */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const holder: JsonObject = { document: cloneJson(document) };
  let copiedBytes = 0;
  for (const operation of operations) {
    if (operation.op === 'copy') {
      copiedBytes += JSON.stringify(read(locate(holder, operation.from)) ?? null).length;
      if (copiedBytes > COPIED_BYTES_MAX) throw new JsonPatchTooLarge(copiedBytes);
    }
    applyOperation(holder, operation);
  }
  return holder.document;
}

function applyOperation(holder: JsonObject, operation: JsonPatchOperation): void {
  switch (operation.op) {
    case 'add':
      return add(locate(holder, operation.path), valueOf(operation));
    case 'remove':
      return remove(locate(holder, operation.path));
    case 'replace':
      return replace(locate(holder, operation.path), valueOf(operation));
    case 'move': {
      const from = locate(holder, operation.from);
      const value = read(from);
      if (value === undefined) throw new JsonPatchError(`move operation does not apply: missing value at ${from.pointer}`);
      remove(from);
      return add(locate(holder, operation.path), value);
    }
    case 'copy': {
      const from = locate(holder, operation.from);
      const value = read(from);
      if (value === undefined) throw new JsonPatchError(`copy operation does not apply: missing value at ${from.pointer}`);
      return add(locate(holder, operation.path), cloneJson(value));
    }
    case 'test':
      return test(locate(holder, operation.path), operation.value ?? null);
    default:
      throw new JsonPatchError(`Unexpected kind: ${JSON.stringify(operation.op)}`);
  }
}

const valueOf = (operation: JsonPatchOperation): unknown => cloneJson(operation.value ?? null);

/** A place in the document: the container that holds it, and its key there. */
type Place = { readonly container: JsonObject | unknown[]; readonly key: string; readonly pointer: string };

function locate(holder: JsonObject, pointer: unknown): Place {
  if (typeof pointer !== 'string') throw new JsonPatchError('operation has no path');
  if (pointer !== '' && !pointer.startsWith('/')) throw new JsonPatchError(`path is not a JSON pointer: ${pointer}`);
  const segments = ['document', ...pointer.split('/').slice(1).map(unescapeSegment)];
  const key = segments.pop() ?? 'document';
  let container: unknown = holder;
  for (const segment of segments) container = child(container, segment);
  if (!isJsonObject(container) && !Array.isArray(container)) throw new JsonPatchError(`doc is missing path: ${pointer}`);
  return { container, key, pointer };
}

const unescapeSegment = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

function child(container: unknown, segment: string): unknown {
  if (Array.isArray(container)) {
    const index = indexIn(container, segment);
    return index === undefined ? undefined : container[index];
  }
  return isJsonObject(container) ? fieldOf(container, segment) : undefined;
}

/** Index of an element that is there; negative numbers count from the end. */
function indexIn(list: readonly unknown[], segment: string): number | undefined {
  const index = integerOf(segment);
  if (index === undefined || index < -list.length || index >= list.length) return undefined;
  return index < 0 ? index + list.length : index;
}

const integerOf = (segment: string): number | undefined => (/^[+-]?\d{1,9}$/.test(segment) ? Number(segment) : undefined);

const read = ({ container, key }: Place): unknown => child(container, key);

function add({ container, key, pointer }: Place, value: unknown): void {
  if (!Array.isArray(container)) return setField(container, key, value);
  if (key === '-') {
    container.push(value);
    return;
  }
  const index = integerOf(key);
  if (index === undefined || index > container.length || index < -container.length - 1) {
    throw new JsonPatchError(`add operation does not apply: index ${key} is out of range at ${pointer}`);
  }
  container.splice(index < 0 ? index + container.length + 1 : index, 0, value);
}

function remove({ container, key, pointer }: Place): void {
  if (Array.isArray(container)) {
    const index = indexIn(container, key);
    if (index === undefined) throw new JsonPatchError(`remove operation does not apply: index ${key} is out of range at ${pointer}`);
    container.splice(index, 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`remove operation does not apply: unable to remove nonexistent key ${key}`);
  delete container[key];
}

function replace({ container, key, pointer }: Place, value: unknown): void {
  if (!Array.isArray(container)) return setField(container, key, value);
  const index = indexIn(container, key);
  if (index === undefined) throw new JsonPatchError(`replace operation does not apply: index ${key} is out of range at ${pointer}`);
  container[index] = value;
}

function test(place: Place, expected: unknown): void {
  if (Array.isArray(place.container) && indexIn(place.container, place.key) === undefined) {
    throw new JsonPatchError(`test operation does not apply: index ${place.key} is out of range at ${place.pointer}`);
  }
  if (!jsonEquals(read(place) ?? null, expected)) throw new JsonPatchError(`testing value ${place.pointer} failed: test failed`);
}
