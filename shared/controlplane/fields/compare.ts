import { fieldOf, jsonEquals } from '../apimachinery/json.ts';
import type { Schema } from '../schema/schema.ts';
import { EMPTY_SET, type FieldSet, makeNode } from './field-set.ts';
import { asList, asMap, indexItems, isEmptyContainer, type Shape, shapeOf } from './typed-value.ts';

/** Paths by which two objects of one kind differ. Absent and null are different things here. */
export type Comparison = { readonly added: FieldSet; readonly modified: FieldSet; readonly removed: FieldSet };

/** Compares as structured-merge-diff does; top-level fields and metadata fields for which `isIgnored` holds are left out. */
export function compareObjects(before: unknown, after: unknown, schema: Schema): Comparison {
  const difference = compare(before, after, schema);
  return { added: difference?.added ?? EMPTY_SET, modified: difference?.modified ?? EMPTY_SET, removed: difference?.removed ?? EMPTY_SET };
}

/** Differences at one path, each as the node of that path. */
type Difference = {
  readonly added?: FieldSet | undefined;
  readonly modified?: FieldSet | undefined;
  readonly removed?: FieldSet | undefined;
};

function compare(before: unknown, after: unknown, schema: Schema): Difference | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: wholeNode(after, schema) };
  if (after === undefined) return { removed: wholeNode(before, schema) };
  const shape = shapeOf(schema, after ?? before);
  const isLeaf = shape.kind === 'leaf' || (isEmptyContainer(before) && isEmptyContainer(after));
  if (isLeaf) return jsonEquals(before, after) ? undefined : { modified: EMPTY_SET };
  return compareParts(partsOf(before, shape), partsOf(after, shape));
}

type Part = { readonly value: unknown; readonly schema: Schema };
/** The parts of a container by path element. */
type Parts = ReadonlyMap<string, Part>;

function partsOf(value: unknown, shape: Shape): Parts {
  const parts = new Map<string, Part>();
  if (shape.kind === 'map') {
    const map = asMap(value) ?? {};
    for (const name in map) parts.set(`f:${name}`, { value: fieldOf(map, name), schema: shape.fieldSchema(name) });
  } else if (shape.kind === 'list') {
    for (const [element, item] of indexItems(shape.list, asList(value) ?? []))
      parts.set(element, { value: item, schema: shape.list.items });
  }
  return parts;
}

function compareParts(before: Parts, after: Parts): Difference | undefined {
  const added: { [element: string]: FieldSet } = {};
  const modified: { [element: string]: FieldSet } = {};
  const removed: { [element: string]: FieldSet } = {};
  const note = (element: string, difference: Difference | undefined): void => {
    if (difference?.added !== undefined) added[element] = difference.added;
    if (difference?.modified !== undefined) modified[element] = difference.modified;
    if (difference?.removed !== undefined) removed[element] = difference.removed;
  };
  for (const [element, part] of after) note(element, compare(before.get(element)?.value, part.value, part.schema));
  for (const [element, part] of before) if (!after.has(element)) note(element, compare(part.value, undefined, part.schema));
  const nodes = [added, modified, removed].map((children) => makeNode(false, children));
  return nodes.every((node) => node === undefined) ? undefined : { added: nodes[0], modified: nodes[1], removed: nodes[2] };
}

/** All paths of a value that came or went as a whole: containers are members too. */
function wholeNode(value: unknown, schema: Schema): FieldSet {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf' || isEmptyContainer(value)) return EMPTY_SET;
  const children: { [element: string]: FieldSet } = {};
  if (shape.kind === 'map') {
    const map = asMap(value) ?? {};
    for (const name in map) children[`f:${name}`] = wholeNode(fieldOf(map, name), shape.fieldSchema(name));
  } else {
    for (const [element, item] of indexItems(shape.list, asList(value) ?? [])) children[element] = wholeNode(item, shape.list.items);
  }
  return makeNode(true, children) ?? EMPTY_SET;
}

/** Paths that an applied configuration names (ToFieldSet): leaves, list elements and keys of maps, but not the structs around them. */
export function appliedFields(value: unknown, schema: Schema): FieldSet {
  return appliedNode(value, schema, false) ?? EMPTY_SET;
}

function appliedNode(value: unknown, schema: Schema, member: boolean): FieldSet | undefined {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf') return EMPTY_SET;
  const children: { [element: string]: FieldSet } = {};
  const note = (element: string, node: FieldSet | undefined): void => {
    if (node !== undefined) children[element] = node;
  };
  if (shape.kind === 'map') {
    const map = asMap(value) ?? {};
    for (const name in map) {
      const part = fieldOf(map, name);
      const isOwnMember = part === null || (asMap(part) !== undefined && isEmptyContainer(part)) || !shape.isNamed(name);
      note(`f:${name}`, appliedNode(part, shape.fieldSchema(name), isOwnMember));
    }
  } else {
    for (const [element, item] of indexItems(shape.list, asList(value) ?? [])) note(element, appliedNode(item, shape.list.items, true));
  }
  return makeNode(member, children);
}

/** The set with every struct field on the way to a member added to it (EnsureNamedFieldsAreMembers). */
export function withNamedFields(set: FieldSet, schema: Schema): FieldSet {
  return namedNode(set, schema, false) ?? EMPTY_SET;
}

function namedNode(node: FieldSet, schema: Schema | undefined, member: boolean): FieldSet | undefined {
  const shape = schema === undefined ? undefined : shapeOf(schema, {});
  const children: { [element: string]: FieldSet } = {};
  for (const element in node) {
    const child = node[element];
    if (element === '.' || child === undefined) continue;
    const name = element.slice(2);
    const isField = element.startsWith('f:') && shape?.kind === 'map';
    const childSchema = isField ? shape.fieldSchema(name) : shape?.kind === 'list' ? shape.list.items : undefined;
    const isMemberNow = child['.'] !== undefined || Object.keys(child).length === 0 || (isField && shape.isNamed(name));
    const named = namedNode(child, childSchema, isMemberNow);
    if (named !== undefined) children[element] = named;
  }
  return makeNode(member, children);
}
