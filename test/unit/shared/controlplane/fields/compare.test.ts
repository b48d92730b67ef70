import { describe, expect, test } from 'vitest';
import { appliedFields, compareObjects, withNamedFields } from '../../../../../shared/controlplane/fields/compare.ts';
import { EMPTY_SET, pathsOf } from '../../../../../shared/controlplane/fields/field-set.ts';
import { indexItems, isEmptyContainer, itemElement, shapeOf } from '../../../../../shared/controlplane/fields/typed-value.ts';
import { mergeApplied, removeItems } from '../../../../../shared/controlplane/fields/merge.ts';
import { appliedProblem } from '../../../../../shared/controlplane/fields/validate-applied.ts';
import {
  anySchema,
  deducedSchema,
  type ListSchema,
  type ObjectSchema,
  type Schema,
  stringSchema,
} from '../../../../../shared/controlplane/schema/schema.ts';

const number: Schema = { kind: 'scalar', type: 'int32' };
const objectOf = (fields: Readonly<Record<string, Schema>>, parts: Partial<ObjectSchema> = {}): ObjectSchema => ({
  kind: 'object',
  name: 'Thing',
  fields: new Map(Object.entries(fields).map(([name, schema]) => [name, { schema, emit: 'pointer' }])),
  ...parts,
});
const keyed = (items: Schema, keys: readonly string[], keyDefaults: Record<string, unknown> = {}): ListSchema => ({
  kind: 'list',
  items,
  listType: 'map',
  keys,
  keyDefaults,
});
const set: ListSchema = { kind: 'list', items: stringSchema, listType: 'set', keys: [] };
const atomic: ListSchema = { kind: 'list', items: stringSchema, listType: 'atomic', keys: [] };
const ports = keyed(objectOf({ port: number, protocol: stringSchema, name: stringSchema }), ['port', 'protocol'], { protocol: 'TCP' });
const thing = objectOf({
  text: stringSchema,
  labels: { kind: 'map', values: stringSchema },
  nested: objectOf({ a: stringSchema, b: number }),
  items: keyed(objectOf({ name: stringSchema, value: stringSchema }), ['name']),
  ports,
  tags: set,
  args: atomic,
  raw: anySchema,
  free: deducedSchema,
});

describe('the shape of a value', () => {
  test.each<[string, Schema, unknown, 'leaf' | 'map' | 'list']>([
    ['a scalar', stringSchema, 'x', 'leaf'],
    ['an atomic list', atomic, [], 'leaf'],
    ['a set', set, [], 'list'],
    ['a map', { kind: 'map', values: stringSchema }, {}, 'map'],
    ['an atomic map', { kind: 'map', values: stringSchema, atomic: true }, {}, 'leaf'],
    ['an object', thing, {}, 'map'],
    ['an atomic object', { ...thing, atomic: true }, {}, 'leaf'],
    ['anything', anySchema, {}, 'leaf'],
    ['an object of an open schema', deducedSchema, {}, 'map'],
    ['a list of an open schema', deducedSchema, [], 'leaf'],
  ])('of %s', (_what, schema, value, kind) => {
    expect(shapeOf(schema, value).kind).toBe(kind);
  });
});

describe('an element of a list', () => {
  test('is named by its keys in order, with the defaults of those that are left out', () => {
    expect(itemElement(ports, { protocol: 'UDP', port: 80 })).toBe('k:{"port":80,"protocol":"UDP"}');
    expect(itemElement(ports, { port: 80, name: 'x' })).toBe('k:{"port":80,"protocol":"TCP"}');
  });
  test('of a set is named by its value', () => {
    expect(itemElement(set, 'a')).toBe('v:"a"');
  });
  test('without any of the keys has no name, although every object inherits one', () => {
    expect(itemElement(keyed(thing, ['name']), { value: 'x' })).toBeUndefined();
    expect(itemElement(keyed(thing, ['constructor']), {})).toBeUndefined();
    expect(itemElement(keyed(thing, ['name']), 'x')).toBeUndefined();
    expect(itemElement(keyed(thing, ['__proto__']), JSON.parse('{"__proto__": "a"}'))).toBe('k:{"__proto__":"a"}');
  });
  test('that stands there twice counts as it stands last', () => {
    const items = [{ name: 'a', value: '1' }, { value: 'no key' }, { name: 'a', value: '2' }];
    expect([...indexItems(keyed(thing, ['name']), items)]).toEqual([['k:{"name":"a"}', { name: 'a', value: '2' }]]);
  });
});

test.each<[unknown, boolean]>([
  [null, true],
  [undefined, true],
  [[], true],
  [{}, true],
  ['', false],
  [0, false],
  [[null], false],
])('%j is an empty container: %s', (value, empty) => {
  expect(isEmptyContainer(value)).toBe(empty);
});

describe('the difference of two objects', () => {
  const compared = (before: object | undefined, after: object | undefined) => {
    const { added, modified, removed } = compareObjects(before, after, thing);
    return { added: pathsOf(added), modified: pathsOf(modified), removed: pathsOf(removed) };
  };
  const none = { added: [], modified: [], removed: [] };

  test('is nothing where they are equal', () => {
    expect(compared({ text: 'a', args: ['x'], raw: { a: [1] } }, { text: 'a', args: ['x'], raw: { a: [1] } })).toEqual(none);
  });

  test.each<[string, object, object, Partial<typeof none> | Record<string, string[]>]>([
    ['a leaf that changes', { text: 'a' }, { text: 'b' }, { modified: ['.text'] }],
    ['a leaf that comes and one that goes', { text: 'a' }, { nested: { b: 1 } }, { added: ['.nested', '.nested.b'], removed: ['.text'] }],
    ['a list that is one leaf', { args: ['a'] }, { args: ['b', 'a'] }, { modified: ['.args'] }],
    [
      'elements by their key, wherever they stand',
      { items: [{ name: 'a' }, { name: 'b' }] },
      { items: [{ name: 'b', value: '1' }, { name: 'a' }] },
      { added: ['.items[name="b"].value'] },
    ],
    ['elements of a set', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, { added: ['.tags[="c"]'], removed: ['.tags[="a"]'] }],
    ['keys of a map', { labels: { a: '1' } }, { labels: { a: '2', b: '1' } }, { added: ['.labels.b'], modified: ['.labels.a'] }],
    ['null, which is not absent', { text: null }, {}, { removed: ['.text'] }],
    ['empty containers of different kinds', { labels: {} }, { labels: null }, { modified: ['.labels'] }],
    ['fields that no schema knows', { free: { a: { b: 1 } } }, { free: { a: { b: 2 } } }, { modified: ['.free.a.b'] }],
  ])('tells of %s', (_what, before, after, difference) => {
    expect(compared(before, after)).toEqual({ ...none, ...difference });
  });

  test('tells of names that every object inherits like of others', () => {
    expect(compared({ labels: {} }, { labels: JSON.parse('{"__proto__": "1", "constructor": "2"}') as object }).added).toEqual([
      '.labels.__proto__',
      '.labels.constructor',
    ]);
  });

  test('is everything where there was nothing', () => {
    expect(compared(undefined, { text: 'a' }).added).toEqual(['.text']);
    expect(compared({ text: 'a' }, undefined).removed).toEqual(['.text']);
  });
});

describe('the fields that a configuration names', () => {
  const named = (value: object) => pathsOf(appliedFields(value, thing));
  test('are leaves, elements and keys, but not the structs around them', () => {
    expect(named({ text: 'a', nested: { a: 'x' }, labels: { k: 'v' } })).toEqual(['.text', '.labels.k', '.nested.a']);
    expect(named({ items: [{ name: 'a', value: '1' }] })).toEqual(['.items[name="a"]', '.items[name="a"].name', '.items[name="a"].value']);
  });
  test('are containers where these are empty or null', () => {
    expect(named({ nested: {}, labels: null })).toEqual(['.labels', '.nested']);
    expect(named({})).toEqual([]);
  });
  test('are joined by the structs on their way where these shall be members, too', () => {
    const bare = appliedFields({ nested: { a: 'x' } }, thing);
    expect(pathsOf(withNamedFields(bare, thing))).toEqual(['.nested', '.nested.a']);
    expect(withNamedFields(EMPTY_SET, thing)).toEqual({});
  });
});

describe('what is applied', () => {
  const merged = (live: unknown, applied: unknown): unknown => mergeApplied(live, applied, thing);

  test('wins where it is a leaf, and merges where it is a container', () => {
    expect(merged({ text: 'a', args: ['x'], labels: { a: '1', b: '1' } }, { text: 'b', args: ['y'], labels: { b: '2', c: '2' } })).toEqual({
      text: 'b',
      args: ['y'],
      labels: { a: '1', b: '2', c: '2' },
    });
  });
  test('is a copy, also of what was there', () => {
    const live = { nested: { a: 'x' } };
    const applied = { labels: { a: '1' } };
    const result = merged(live, applied) as { nested: { a: string }; labels: { a: string } };
    result.nested.a = 'changed';
    result.labels.a = 'changed';
    expect([live, applied]).toEqual([{ nested: { a: 'x' } }, { labels: { a: '1' } }]);
    expect(merged(undefined, applied)).toEqual(applied);
    expect(merged(live, undefined)).toEqual(live);
  });
  test.each<[live: string, applied: string, expected: string]>([
    ['ab', 'ab', 'ab'],
    ['ab', 'ba', 'ba'],
    ['ab', 'c', 'abc'],
    ['abc', 'cx', 'abcx'],
    ['axb', 'ba', 'xba'],
    ['', 'ab', 'ab'],
    ['ab', '', 'ab'],
  ])('to a list of %s as %s makes it %s', (live, applied, expected) => {
    const items = (names: string) => ({ items: names.split('').map((name) => ({ name })) });
    expect(merged(items(live), items(applied))).toEqual(items(expected));
  });
  test('under a name that every object inherits is a field like others', () => {
    const result = merged({ labels: { a: '1' } }, { labels: JSON.parse('{"__proto__": "2"}') as object }) as { labels: object };
    expect(Object.entries(result.labels)).toEqual([
      ['a', '1'],
      ['__proto__', '2'],
    ]);
  });
});

describe('what is taken out', () => {
  const without = (value: object, gone: object): unknown => removeItems(value, appliedFields(gone, thing), thing);
  test('are fields, keys and elements; the rest stays', () => {
    expect(without({ text: 'a', labels: { a: '1', b: '2' } }, { labels: { a: '' } })).toEqual({ text: 'a', labels: { b: '2' } });
    expect(without({ items: [{ name: 'a' }, { name: 'b' }] }, { items: [{ name: 'a' }] })).toEqual({ items: [{ name: 'b' }] });
    expect(without({ tags: ['a', 'b'] }, { tags: ['b'] })).toEqual({ tags: ['a'] });
  });
  test('does not take its container with it', () => {
    expect(without({ labels: { a: '1' } }, { labels: { a: '' } })).toEqual({ labels: {} });
    expect(without({ tags: ['a'] }, { tags: ['a'] })).toEqual({ tags: [] });
  });
  test('is nothing where nothing is named', () => {
    const value = { text: 'a' };
    expect(removeItems(value, EMPTY_SET, thing)).toBe(value);
  });
});

describe('a configuration can be applied', () => {
  test('where everything in it fits, null and anything included', () => {
    expect(
      appliedProblem(
        { text: null, raw: 5, free: [], items: [{ name: 'a' }], args: ['x', 'x'], ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }] },
        thing,
      ),
    ).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ txt: 'a' }, '.txt: field not declared in schema'],
    [{ constructor: 'a' }, '.constructor: field not declared in schema'],
    [{ text: 5 }, '.text: expected string, got &value.valueUnstructured{Value:5}'],
    [{ nested: { b: '1' } }, '.nested.b: expected numeric (int or float), got string'],
    [{ labels: [] }, '.labels: expected map, got &value.valueUnstructured{Value:[]interface {}{}}'],
    [{ items: {} }, '.items: expected list, got &{map[]}'],
    [{ items: ['x'] }, '.items: element 0: associative list with keys may not have non-map elements'],
    [{ items: [null] }, '.items: element 0: associative list with keys may not have a null element'],
    [
      { items: [{ value: 'x' }] },
      `.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
    ],
    [{ items: [{ name: 'a' }, { name: 'a' }] }, '.items: duplicate entries for key [name="a"]'],
    [{ tags: ['a', 'a'] }, '.tags: duplicate entries for key [="a"]'],
    [{ tags: [{}] }, ".tags: element 0: associative list without keys has an element that's a map type"],
    [{ tags: [[]] }, '.tags: element 0: not supported: associative list with lists as elements'],
    [{ ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] }, '.ports: duplicate entries for key [port=80,protocol="TCP"]'],
  ])('but not %j', (configuration, problem) => {
    expect(appliedProblem(configuration, thing)).toBe(problem);
  });

  test('and several problems are told together', () => {
    expect(appliedProblem({ x: 1, y: 2 }, thing)).toBe('errors:\n  .x: field not declared in schema\n  .y: field not declared in schema');
  });
});
