import { describe, expect, test } from 'vitest';
import {
  childOf,
  difference,
  EMPTY_SET,
  type FieldSet,
  intersection,
  isEmptySet,
  isMember,
  makeNode,
  pathsOf,
  union,
} from '../../../../../shared/controlplane/fields/field-set.ts';

const leaf = EMPTY_SET;
const member = (children: FieldSet): FieldSet => ({ '.': leaf, ...children });
const data = (...keys: string[]): FieldSet => ({ 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, leaf])) });

describe('a set of paths', () => {
  test('has a path as a member where nothing is below it, or where it says so', () => {
    expect([isMember(leaf), isMember(member({ 'f:a': leaf })), isMember({ 'f:a': leaf })]).toEqual([true, true, false]);
  });

  test('keeps no node that nothing is below and that is no member', () => {
    expect(makeNode(false, {})).toBeUndefined();
    expect(makeNode(true, {})).toEqual({});
    expect(makeNode(true, { 'f:a': leaf })).toEqual({ '.': {}, 'f:a': {} });
  });

  test('has no child that only says that it is a member itself', () => {
    expect(childOf(member({ 'f:a': leaf }), '.')).toBeUndefined();
    expect(childOf(undefined, 'f:a')).toBeUndefined();
  });
});

describe('of two sets', () => {
  test.each<[string, FieldSet, FieldSet, { union: FieldSet; difference: FieldSet; intersection: FieldSet }]>([
    ['nothing in common', data('a'), data('b'), { union: data('a', 'b'), difference: data('a'), intersection: {} }],
    ['the same', data('a', 'b'), data('a', 'b'), { union: data('a', 'b'), difference: {}, intersection: data('a', 'b') }],
    ['one within the other', data('a', 'b'), data('b'), { union: data('a', 'b'), difference: data('a'), intersection: data('b') }],
    ['nothing in the first', {}, data('a'), { union: data('a'), difference: {}, intersection: {} }],
    ['nothing in the second', data('a'), {}, { union: data('a'), difference: data('a'), intersection: {} }],
    [
      'a container in one that is a member in the other',
      { 'f:data': leaf },
      data('a'),
      { union: { 'f:data': member({ 'f:a': leaf }) }, difference: { 'f:data': leaf }, intersection: {} },
    ],
    [
      'a container that is a member in both',
      { 'f:data': member({ 'f:a': leaf }) },
      { 'f:data': member({ 'f:b': leaf }) },
      { union: { 'f:data': member({ 'f:a': leaf, 'f:b': leaf }) }, difference: data('a'), intersection: { 'f:data': leaf } },
    ],
  ])('with %s', (_what, left, right, expected) => {
    expect({ union: union(left, right), difference: difference(left, right), intersection: intersection(left, right) }).toEqual(expected);
  });

  test('none is changed', () => {
    const [left, right] = [data('a'), data('b')];
    union(left, right);
    difference(left, right);
    expect([left, right]).toEqual([data('a'), data('b')]);
  });

  test('those that take what is left and what is common make the whole again', () => {
    const left: FieldSet = { 'f:a': member({ 'f:x': leaf, 'v:"1"': leaf }), 'f:b': leaf, 'f:__proto__': leaf };
    const right: FieldSet = { 'f:a': { 'f:x': leaf }, 'f:__proto__': leaf, 'f:c': leaf };
    expect(union(difference(left, right), intersection(left, right))).toEqual(left);
    expect(isEmptySet(intersection(difference(left, right), right))).toBe(true);
  });
});

test('paths are written as messages show them, of each level the members first', () => {
  const set: FieldSet = {
    'f:spec': {
      'f:containers': { 'k:{"name":"c","port":80}': member({ 'f:image': leaf }) },
      'f:finalizers': { 'v:"a/b"': leaf },
      'f:args': { 'i:0': leaf },
      'f:replicas': leaf,
    },
  };
  expect(pathsOf(set)).toEqual([
    '.spec.replicas',
    '.spec.args[0]',
    '.spec.containers[name="c",port=80]',
    '.spec.containers[name="c",port=80].image',
    '.spec.finalizers[="a/b"]',
  ]);
  expect(pathsOf(EMPTY_SET)).toEqual([]);
});
