import { describe, expect, test } from 'vitest';
import {
  ENTRIES_MAX,
  entriesAt,
  parsePath,
  patchOperations,
  pathText,
  valueAt,
  withoutField,
  withValueAt,
} from '../../../../shared/api/field-path.ts';

describe('a path', () => {
  test.each(['spec.suspend', 'spec.components[0].podSets[12].path', 'spec.a_b-c'])('%s is read and written alike', (text) => {
    expect(pathText(parsePath(text) ?? [])).toBe(text);
  });

  test.each(['', '.spec', 'spec.', 'spec..a', 'spec[*]', 'spec[-1]', "spec['a']", 'spec.a b', `spec.${'a'.repeat(600)}`])(
    'refuses %j',
    (text) => {
      expect(parsePath(text)).toBeUndefined();
    },
  );

  test('finds nothing in what an object inherits', () => {
    expect(valueAt({}, ['constructor'])).toBeUndefined();
    expect(valueAt({ a: [] }, ['a', 'length'])).toBeUndefined();
  });
});

describe('a changed object', () => {
  const object = { spec: { runPolicy: { ttl: 3 }, list: [{ a: 1 }, { a: 2 }] } };

  test('has missing parents, and shares all else with the original', () => {
    const changed = withValueAt(object, ['spec', 'policy', 'suspend'], true);
    expect(changed.spec).toEqual({ ...object.spec, policy: { suspend: true } });
    expect(changed.spec.list).toBe(object.spec.list);
    expect(object.spec).not.toHaveProperty('policy');
  });

  test('changes the entry of a list, and makes none', () => {
    expect(valueAt(withValueAt(object, ['spec', 'list', 1, 'a'], 9), ['spec', 'list'])).toEqual([{ a: 1 }, { a: 9 }]);
    expect(withValueAt(object, ['spec', 'list', 2, 'a'], 9)).toEqual(object);
  });

  test('has a parent where null stood', () => {
    expect(withValueAt({ spec: { policy: null } }, ['spec', 'policy', 'suspend'], true)).toEqual({ spec: { policy: { suspend: true } } });
  });

  test('lacks one field, and keeps what is around it', () => {
    expect(withoutField(object, ['spec', 'runPolicy', 'ttl'])).toEqual({ spec: { ...object.spec, runPolicy: {} } });
    expect(withoutField(object, ['spec', 'other', 'ttl'])).toEqual(object);
  });
});

test('a JSON patch makes the parents that are missing or null, each once', () => {
  expect(patchOperations({ spec: { a: null } }, ['spec', 'a', 'b/c', 'd'], true)).toEqual([
    { op: 'add', path: '/spec/a', value: {} },
    { op: 'add', path: '/spec/a/b~1c', value: {} },
    { op: 'add', path: '/spec/a/b~1c/d', value: true },
  ]);
});

describe('the entries of a pattern', () => {
  test('are those of a list, or of a map, each with its path', () => {
    expect(entriesAt({ spec: { list: ['x', 'y'] } }, 'spec.list').map(({ key, path }) => [key, pathText(path)])).toEqual([
      [0, 'spec.list[0]'],
      [1, 'spec.list[1]'],
    ]);
    expect(entriesAt({ spec: { map: { Worker: 1 } } }, 'spec.map').map(({ key, value }) => [key, value])).toEqual([['Worker', 1]]);
  });

  test('of a list in each entry of a list know the entry around them', () => {
    const object = { spec: { components: [{ podSets: [{ path: 'a' }] }, {}, { podSets: [{ path: 'b' }, { path: 'c' }] }] } };
    expect(entriesAt(object, 'spec.components[*].podSets').map(({ path, parentPath }) => [pathText(path), pathText(parentPath)])).toEqual([
      ['spec.components[0].podSets[0]', 'spec.components[0]'],
      ['spec.components[2].podSets[0]', 'spec.components[2]'],
      ['spec.components[2].podSets[1]', 'spec.components[2]'],
    ]);
  });

  test('are none where nothing of that form stands, and no more than can be counted', () => {
    expect(entriesAt({ spec: { list: 'text' } }, 'spec.list')).toEqual([]);
    expect(entriesAt({ spec: { list: Array.from({ length: 5000 }, () => 1) } }, 'spec.list')).toHaveLength(ENTRIES_MAX);
  });
});
