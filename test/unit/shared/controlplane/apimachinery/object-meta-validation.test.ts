import { describe, expect, test } from 'vitest';
import type { AnyMeta } from '../../../../../shared/controlplane/apimachinery/object.ts';
import {
  ANNOTATIONS_MAX_BYTES,
  labelName,
  type NameRule,
  pathSegmentName,
  subdomainName,
  validateAnnotations,
  validateAnyObjectMeta,
  validateCommonFieldsOnCreate,
  validateCommonFieldsOnUpdate,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../../../../shared/controlplane/apimachinery/object-meta-validation.ts';
import type { FieldError } from '../../../../../shared/controlplane/apimachinery/field-error.ts';

const meta = (parts: Partial<AnyMeta> = {}): AnyMeta => ({
  name: 'x',
  namespace: 'ns',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...parts,
});
const told = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field} | ${body}`);
const found = (parts: Partial<AnyMeta>, rule: NameRule = pathSegmentName, namespaced = true): string[] =>
  told(validateObjectMeta(meta(parts), namespaced, rule));
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };

describe('a name', () => {
  test.each<[string, NameRule, string, boolean]>([
    ['a subdomain may have dots', subdomainName, 'a.b-1', true],
    ['a subdomain has no capitals', subdomainName, 'A', false],
    ['a subdomain has at most 253 characters', subdomainName, 'a'.repeat(254), false],
    ['a label has no dots', labelName, 'a.b', false],
    ['a label has at most 63 characters', labelName, 'a'.repeat(63), true],
    ['a label has no more', labelName, 'a'.repeat(64), false],
    ['a segment of a path may be almost anything', pathSegmentName, 'A b:*', true],
    ['a segment of a path has no slash', pathSegmentName, 'a/b', false],
    ['a segment of a path has no percent sign', pathSegmentName, 'a%2f', false],
    ['a segment of a path is not the folder above', pathSegmentName, '..', false],
    ['what every object inherits is a name like any other', pathSegmentName, '__proto__', true],
  ])('%s', (_what, rule, name, right) => {
    expect(found({ name }, rule).length === 0).toBe(right);
  });

  test('that will be generated may begin with what ends in a dash', () => {
    for (const rule of [subdomainName, labelName]) {
      expect(rule('job-', true)).toEqual([]);
      expect(rule('job-', false)).toHaveLength(1);
      expect(rule('-', true)).toHaveLength(1);
    }
    expect(pathSegmentName('..', true)).toEqual([]);
    expect(pathSegmentName('a/', true)).toEqual([`may not contain '/'`]);
  });

  test('is there, or is to be generated', () => {
    expect(found({ name: '' })).toEqual(['metadata.name | Required value: name or generateName is required']);
    expect(found({ generateName: 'a/' })).toEqual([`metadata.generateName | Invalid value: "a/": may not contain '/'`]);
  });
});

test('a namespace is there for what is in one, a label, and absent above', () => {
  expect(found({ namespace: '' })).toEqual(['metadata.namespace | Required value']);
  expect(found({ namespace: 'a.b' })).toEqual(['metadata.namespace | Invalid value: "a.b": must not contain dots']);
  expect(found({}, pathSegmentName, false)).toEqual(['metadata.namespace | Forbidden: not allowed on this type']);
  expect(found({ namespace: '' }, pathSegmentName, false)).toEqual([]);
});

test('a generation does not fall below 0', () => {
  expect(found({ generation: -1 })).toEqual(['metadata.generation | Invalid value: -1: must be greater than or equal to 0']);
  expect(found({ generation: 0 })).toEqual([]);
});

describe('labels and annotations', () => {
  const label = (labels: Record<string, string>) => told(validateLabels(labels, 'l'));
  const annotation = (annotations: Record<string, string>) => told(validateAnnotations(annotations, 'a'));

  test('may be absent', () => {
    expect([validateLabels(undefined, 'l'), validateAnnotations(undefined, 'a')]).toEqual([[], []]);
  });
  test('of labels both key and value are bounded', () => {
    expect(label({ 'example.com/App_1': 'v1.0', empty: '' })).toEqual([]);
    expect(label({ a: 'b'.repeat(64) })).toEqual([expect.stringMatching(/^l \| Invalid value: "b+": must be no more than 63 bytes$/)]);
    expect(label({ '/a': '' })).toEqual(['l | Invalid value: "/a": prefix part must be non-empty']);
    expect(label({ 'a b': ' ' })).toHaveLength(2);
  });
  test('of annotations the case of a key does not matter, and the value may be anything', () => {
    expect(annotation({ 'Example.COM/a': '\n{}' })).toEqual([]);
    expect(label({ 'Example.COM/a': '' })).toHaveLength(1);
  });
  test('of annotations all together have at most 256 KiB, keys included', () => {
    const size = (bytes: number) => annotation({ a: 'x'.repeat(bytes - 1) });
    expect(size(ANNOTATIONS_MAX_BYTES)).toEqual([]);
    expect(size(ANNOTATIONS_MAX_BYTES + 1)).toEqual(['a | Too long: may not be more than 262144 bytes']);
    expect(annotation({ a: 'é'.repeat(ANNOTATIONS_MAX_BYTES / 2) })).toHaveLength(1);
  });
});

describe('owners', () => {
  const owners = (...references: Partial<typeof owner & { controller: boolean }>[]) =>
    found({ ownerReferences: references as AnyMeta['ownerReferences'] & object });
  test('are named in full', () => {
    expect(owners(owner, { ...owner, apiVersion: 'batch/v1' })).toEqual([]);
    expect(owners({})).toEqual([
      'metadata.ownerReferences.apiVersion | Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind | Invalid value: "": must not be empty',
      'metadata.ownerReferences.name | Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid | Invalid value: "": must not be empty',
    ]);
    expect(owners({ ...owner, apiVersion: 'batch/' })).toEqual([
      'metadata.ownerReferences.apiVersion | Invalid value: "batch/": version must not be empty',
    ]);
  });
  test('are no events', () => {
    expect(owners({ ...owner, kind: 'Event' })).toEqual([expect.stringContaining('/v1, Kind=Event is disallowed from being an owner')]);
  });
  test('of one controller are controllers', () => {
    expect(owners({ ...owner, controller: true }, owner)).toEqual([]);
    expect(owners({ ...owner, controller: true }, { ...owner, name: 'q', controller: true })).toEqual([
      expect.stringMatching(/Only one reference can have Controller set to true\. Found "true" in references for Pod\/p and Pod\/q$/),
    ]);
  });
});

describe('finalizers', () => {
  test('are qualified or well known for the kinds of the core', () => {
    expect(found({ finalizers: ['example.com/a', 'orphan', 'kubernetes'] })).toEqual([]);
    expect(found({ finalizers: ['mine'] })).toEqual([
      'metadata.finalizers[0] | Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(told(validateAnyObjectMeta(meta({ finalizers: ['mine'] }), true, pathSegmentName))).toEqual([]);
  });
  test('do not ask for opposite things', () => {
    expect(found({ finalizers: ['orphan', 'foregroundDeletion'] })).toEqual([
      'metadata.finalizers | Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });
});

describe('an update', () => {
  const updated = (next: Partial<AnyMeta>, previous: Partial<AnyMeta> = {}) => told(validateObjectMetaUpdate(meta(next), meta(previous)));

  test('may change labels, annotations, owners and finalizers, and raise the generation', () => {
    expect(
      updated(
        { labels: { a: 'b' }, annotations: { a: 'b' }, ownerReferences: [owner], finalizers: ['a/b'], generation: 2 },
        { generation: 1 },
      ),
    ).toEqual([]);
  });

  test.each<[keyof AnyMeta & string, Partial<AnyMeta>, string]>([
    ['name', { name: 'y' }, '"y"'],
    ['namespace', { namespace: 'other' }, '"other"'],
    ['uid', { uid: 'v' }, '"v"'],
    ['creationTimestamp', { creationTimestamp: '2027-01-01T00:00:00Z' }, '"2027-01-01T00:00:00Z"'],
    ['deletionTimestamp', { deletionTimestamp: '2027-01-01T00:00:00Z' }, '"2027-01-01T00:00:00Z"'],
    ['deletionGracePeriodSeconds', { deletionGracePeriodSeconds: 5 }, '5'],
  ])('does not change the %s', (field, next, value) => {
    expect(updated(next)).toEqual([`metadata.${field} | Invalid value: ${value}: field is immutable`]);
  });

  test('does not lower the generation, nor leave it out', () => {
    expect(updated({ generation: 1 }, { generation: 2 })).toEqual(['metadata.generation | Invalid value: 1: must not be decremented']);
    expect(updated({}, { generation: 2 })).toEqual(['metadata.generation | Invalid value: 0: must not be decremented']);
  });

  test('of what is being deleted adds no finalizers, and may take them off', () => {
    const deletionTimestamp = '2027-01-01T00:00:00Z';
    const after = (...finalizers: string[]) =>
      updated({ deletionTimestamp, finalizers }, { deletionTimestamp, finalizers: ['a/1', 'a/2'] });
    expect([after('a/1', 'a/2'), after('a/2'), after()]).toEqual([[], [], []]);
    expect(after('a/1', 'b/2', 'b/1', 'b/1')).toEqual([
      'metadata.finalizers | Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"b/1", "b/2"}',
    ]);
  });
});

test('the registry checks in every write what any object must have', () => {
  const object = (parts: Partial<AnyMeta>) => ({ metadata: meta(parts) });
  expect(told(validateCommonFieldsOnCreate(object({ name: '..' }), true))).toEqual([
    `metadata.name | Invalid value: "..": may not be '..'`,
  ]);
  expect(told(validateCommonFieldsOnUpdate(object({ name: '..', uid: 'v' }), object({ name: '..' }), true))).toEqual([
    `metadata.name | Invalid value: "..": may not be '..'`,
    'metadata.uid | Invalid value: "v": field is immutable',
  ]);
});
