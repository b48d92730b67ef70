import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import {
  Conditions,
  Labels,
  LabelSelectorSchema,
  ObjectName,
  OneOf,
  QualifiedName,
  Quantity,
  ResourceList,
  StopPolicy,
  withRules,
} from '../../../../manager/api/schema-parts.ts';
import { parseQuantity } from '../../../../shared/kube/quantity.ts';

const rule = { rule: 'self != "x"', message: 'must not be x' };

describe('the pattern of quantities', () => {
  const pattern = new RegExp((Quantity('') as { readonly pattern?: string }).pattern ?? 'no pattern');
  test.each(['1', '-1', '+1.5', '.5', '5.', '500m', '1.5Gi', '1e3', '1E-3', '10u', '3n', '2k', '7Ei'])(
    'takes %s, as our parser does',
    (text) => {
      expect(text).toMatch(pattern);
      expect(() => parseQuantity(text)).not.toThrow();
    },
  );
  test.each(['', '.', 'm', '1 Gi', '1gi', '1K', '1e', '1Gi5', '--1', '0x1', '1\n'])('refuses %j', (text) => {
    expect(text).not.toMatch(pattern);
  });
});

test('a quantity may be a number or text, also in a list of resources', () => {
  expect(Quantity('how much')).toMatchObject({ 'x-kubernetes-int-or-string': true, description: 'how much' });
  expect(ResourceList('what')).toMatchObject({
    type: 'object',
    maxProperties: 64,
    additionalProperties: { 'x-kubernetes-int-or-string': true, pattern: expect.any(String) },
    description: 'what',
  });
});

describe('a name of an object', () => {
  const isName = (text: string): boolean => Value.Check(ObjectName(''), text);
  test.each(['a', '0', 'eu-1', 'a.b', 'gpu.a-1.example', 'a'.repeat(253)])('may be %s', (text) => {
    expect(isName(text)).toBe(true);
  });
  test.each(['', '-a', 'a-', 'a..b', '.a', 'a.', 'A', 'a_b', 'a b', 'a\n', 'a'.repeat(254)])('may not be %j', (text) => {
    expect(isName(text)).toBe(false);
  });
  test('carries the rules it is given, and no empty list of them', () => {
    expect(ObjectName('', rule)).toMatchObject({ 'x-kubernetes-validations': [rule] });
    expect(ObjectName('')).not.toHaveProperty('x-kubernetes-validations');
  });
});

test('a choice has its words and default, and a stop policy is None by default', () => {
  expect(OneOf(['a', 'b'], { description: 'which', default: 'b' })).toEqual({
    type: 'string',
    enum: ['a', 'b'],
    description: 'which',
    default: 'b',
  });
  expect(StopPolicy).toMatchObject({ enum: ['None', 'Hold', 'HoldAndDrain'], default: 'None' });
});

test('labels have values that are label values, and keys that are not too long', () => {
  const labels = Labels('labels', { maxProperties: 8 });
  for (const value of ['', 'a', 'A.b_c-d', 'a'.repeat(63)]) expect(Value.Check(labels, { zone: value }), value).toBe(true);
  for (const value of ['-a', 'a b', 'a/b', 'a'.repeat(64)]) expect(Value.Check(labels, { zone: value }), value).toBe(false);
  expect(labels).toMatchObject({ maxProperties: 8, 'x-kubernetes-validations': [{ message: expect.stringContaining('1 to 317') }] });
});

describe('a qualified name', () => {
  const isName = (text: string): boolean => Value.Check(QualifiedName(''), text);
  test.each(['cpu', 'nvidia.com/gpu', 'a_b.C', 'hugepages-2Mi', 'topology.kubernetes.io/zone', 'a'.repeat(63)])('may be %s', (text) => {
    expect(isName(text)).toBe(true);
  });
  test.each(['', '/cpu', 'a/', 'a/b/c', 'A.com/x', '-a', 'a-', 'a b', 'a'.repeat(64), 'a..b/c'])('may not be %j', (text) => {
    expect(isName(text)).toBe(false);
  });
});

test('rules stand under the name that the API server reads', () => {
  expect(withRules(rule, rule)).toEqual({ 'x-kubernetes-validations': [rule, rule] });
});

test('a label selector and the lists in it are replaced as a whole, never merged', () => {
  expect(LabelSelectorSchema('who')).toMatchObject({
    'x-kubernetes-map-type': 'atomic',
    description: 'who',
    properties: {
      matchExpressions: { 'x-kubernetes-list-type': 'atomic', items: { properties: { values: { 'x-kubernetes-list-type': 'atomic' } } } },
    },
  });
});

describe('conditions', () => {
  const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'Up', message: '' };
  test('are merged by type, and bounded', () => {
    expect(Conditions).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'], maxItems: 16 });
  });
  test('are metav1.Condition', () => {
    expect(Value.Check(Conditions, [condition])).toBe(true);
    for (const wrong of [{ reason: '' }, { reason: '1st' }, { reason: 'Why?' }, { observedGeneration: -1 }, { message: undefined }])
      expect(Value.Check(Conditions, [{ ...condition, ...wrong }]), JSON.stringify(wrong)).toBe(false);
  });
});
