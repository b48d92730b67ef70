import { describe, expect, test } from 'vitest';
import {
  asCrd,
  type Crd,
  type CrdVersion,
  hasCondition,
  isShared,
  type PrinterColumn,
} from '../../../../../shared/controlplane/crd/crd.ts';
import { withCondition } from '../../../../../shared/controlplane/crd/crd-conditions.ts';
import { resourcesFromCrd } from '../../../../../shared/controlplane/crd/custom-resource.ts';
import { customTable } from '../../../../../shared/controlplane/crd/printer-columns.ts';
import { readAnew } from '../../../../../shared/controlplane/crd/read-anew.ts';
import { applyScale, scaleOf, validateScaleSpec, validateScaleStatus } from '../../../../../shared/controlplane/crd/scale.ts';
import { firstStored, versionView } from '../../../../../shared/controlplane/crd/version-view.ts';
import { anObject, aServedResource } from '../a-served-resource.ts';

const NOW = '2026-01-01T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';
const aVersion = (name: string, parts: Partial<CrdVersion> = {}): CrdVersion => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...parts,
});
const aCrd = (versions: CrdVersion[], parts: object = {}): Crd =>
  asCrd({
    ...anObject('gears.e.com', {
      spec: { group: 'e.com', scope: 'Namespaced', names: { plural: 'gears', kind: 'Gear' }, versions },
      status: { acceptedNames: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList', shortNames: ['g'] } },
    }),
    ...parts,
  });

describe('conditions of a definition', () => {
  const established = { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'm' };
  test('come last when they are new, with their time', () => {
    expect(withCondition(undefined, established, NOW)).toEqual({ conditions: [{ ...established, lastTransitionTime: NOW }] });
    const status = { storedVersions: ['v1'], conditions: [{ type: 'NamesAccepted', status: 'True' }] };
    expect(withCondition(status, established, NOW)).toMatchObject({
      storedVersions: ['v1'],
      conditions: [{ type: 'NamesAccepted' }, { type: 'Established' }],
    });
  });
  test('keep their time while their status stays', () => {
    const before = withCondition(undefined, established, NOW);
    expect(withCondition(before, { ...established, reason: 'Other' }, LATER).conditions).toEqual([
      { ...established, reason: 'Other', lastTransitionTime: NOW },
    ]);
    expect(withCondition(before, { ...established, status: 'False' }, LATER).conditions?.[0]).toMatchObject({
      status: 'False',
      lastTransitionTime: LATER,
    });
  });
  test('hold where they are true', () => {
    const having = (status: string) => hasCondition(aCrd([], { status: { conditions: [{ type: 'Established', status }] } }), 'Established');
    expect([having('True'), having('False'), hasCondition(aCrd([], { status: { conditions: null } }), 'Established')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

test('a part is shared where every version has it, and all have the same', () => {
  const columns = (name: string) => ({ additionalPrinterColumns: [{ name }] });
  const shared = (...versions: CrdVersion[]) => isShared(versions, 'additionalPrinterColumns');
  expect(shared(aVersion('v1', columns('A')), aVersion('v2', columns('A')))).toBe(true);
  expect(shared(aVersion('v1', columns('A')))).toBe(true);
  expect(shared(aVersion('v1', columns('A')), aVersion('v2', columns('B')))).toBe(false);
  expect(shared(aVersion('v1', columns('A')), aVersion('v2'))).toBe(false);
  expect([shared(aVersion('v1')), shared()]).toEqual([false, false]);
});

describe('what a definition adds to the served resources', () => {
  test('is one resource for each served version, under the accepted names', () => {
    const resources = resourcesFromCrd(aCrd([aVersion('v1'), aVersion('v2', { served: false }), aVersion('v3')]));
    expect(resources.map(({ definition }) => definition)).toMatchObject([
      {
        group: 'e.com',
        version: 'v1',
        plural: 'gears',
        singular: 'gear',
        kind: 'Gear',
        listKind: 'GearList',
        shortNames: ['g'],
        categories: [],
        namespaced: true,
      },
      { version: 'v3' },
    ]);
    expect(resources.map(({ schema }) => schema.type)).toEqual([
      { group: 'e.com', version: 'v1', kind: 'Gear' },
      { group: 'e.com', version: 'v3', kind: 'Gear' },
    ]);
  });

  test('is nothing where nothing is served', () => {
    expect(resourcesFromCrd(aCrd([]))).toEqual([]);
    expect(resourcesFromCrd(asCrd(anObject('x')))).toEqual([]);
  });

  const strategyOf = (crd: Crd) => resourcesFromCrd(crd)[0]?.definition.strategy;
  test('knows of its subresources and of its end', () => {
    expect(strategyOf(aCrd([aVersion('v1', { subresources: { status: {}, scale: {} } })]))).toMatchObject({
      hasScale: true,
      status: expect.anything(),
    });
    expect(strategyOf(aCrd([aVersion('v1')]))).not.toHaveProperty('hasScale');
    const going = aCrd([aVersion('v1')]);
    going.metadata.deletionTimestamp = NOW;
    expect(strategyOf(going)?.isTerminating).toBe(true);
  });

  test.each<[string, CrdVersion[], string | undefined]>([
    ['a version that is well', [aVersion('v1')], undefined],
    ['a deprecated version', [aVersion('v1', { deprecated: true })], 'e.com/v1 Gear is deprecated'],
    [
      'a deprecated version with newer ones',
      [aVersion('v1beta1', { deprecated: true }), aVersion('v1'), aVersion('v2'), aVersion('v3', { served: false }), aVersion('v1alpha1')],
      'e.com/v1beta1 Gear is deprecated; use e.com/v2 Gear',
    ],
    ['a deprecated version with words of its own', [aVersion('v1', { deprecated: true, deprecationWarning: 'go away' })], 'go away'],
  ])('warns who uses %s', (_what, versions, warning) => {
    expect(strategyOf(aCrd(versions))?.warningOnUse).toBe(warning);
  });
});

describe('the table of a custom resource', () => {
  const now = Date.parse(NOW) + 60_000;
  const cell = (type: string, value: unknown): unknown =>
    customTable([{ name: 'C', type, jsonPath: '.spec.c' }]).cells(anObject('a', { spec: { c: value } }), now)[1];

  test('has its age where nothing else is said', () => {
    expect(customTable().columns.map(({ name }) => name)).toEqual(['Name', 'Age']);
    expect(customTable([]).cells(anObject('a'), now)).toEqual(['a', '60s']);
  });

  test('has the columns that are said, with what is left out', () => {
    const columns: PrinterColumn[] = [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1, format: 'int32', description: 'how large' },
      { name: 'X', type: 'string', jsonPath: '.x' },
    ];
    expect(customTable(columns).columns.slice(1)).toEqual([
      { name: 'Size', type: 'integer', format: 'int32', description: 'how large', priority: 1 },
      { name: 'X', type: 'string', format: '', description: 'Custom resource definition column (in JSONPath format): .x', priority: 0 },
    ]);
  });

  test.each<[string, unknown, unknown]>([
    ['integer', 5, 5],
    ['integer', 5.9, 5],
    ['integer', '5', null],
    ['number', 5.9, 5.9],
    ['boolean', false, false],
    ['boolean', 'false', null],
    ['string', 'a', 'a'],
    ['string', { a: [1] }, '{"a":[1]}'],
    ['date', NOW, '60s'],
    ['date', 'soon', '<invalid>'],
    ['date', 5, null],
    ['string', undefined, null],
    ['color', 'red', null],
  ])('shows as %s of %j: %j', (type, value, shown) => {
    expect(cell(type, value)).toEqual(shown);
  });
});

describe('the scale of a custom resource', () => {
  const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' };

  test('has its replicas and its selector', () => {
    const gear = anObject('a', { spec: { replicas: 3 }, status: { replicas: 2, selector: 'app=a' } });
    expect(scaleOf(gear, paths)).toEqual({
      scale: {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'a', namespace: 'ns', uid: 'uid-a', resourceVersion: '1', creationTimestamp: NOW },
        spec: { replicas: 3 },
        status: { replicas: 2, selector: 'app=a' },
      },
      hasReplicas: true,
    });
    expect(scaleOf(anObject('a'), paths)).toMatchObject({ scale: { spec: {}, status: { replicas: 0 } }, hasReplicas: false });
    expect(() => scaleOf(anObject('a', { spec: 'none' }), paths)).toThrow(
      '.spec.replicas accessor error: none is of the type string, expected map[string]interface {}',
    );
  });

  test('is set, with everything on the way to it', () => {
    const gear = anObject('a', { spec: { x: 1 } });
    applyScale(gear, 5, paths);
    expect(gear['spec']).toEqual({ x: 1, replicas: 5 });
    const empty = anObject('a');
    applyScale(empty, 0, { specReplicasPath: '.a.b.c' });
    expect(empty['a']).toEqual({ b: { c: 0 } });
  });

  test('reaches no prototype', () => {
    const gear = anObject('a');
    applyScale(gear, 5, { specReplicasPath: '.__proto__.polluted' });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.hasOwn(gear, '__proto__')).toBe(true);
  });

  const spec = (replicas: unknown) =>
    validateScaleSpec(anObject('a', { spec: { replicas } }), paths).map(({ field, body }) => `${field} | ${body}`);
  test.each<[unknown, string[]]>([
    [0, []],
    [2 ** 31 - 1, []],
    ['3', ['.spec.replicas | Invalid value: 0: .spec.replicas accessor error: 3 is of the type string, expected int64']],
    [1.5, ['.spec.replicas | Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64']],
    [
      { b: 1, a: [true, null] },
      [
        '.spec.replicas | Invalid value: 0: .spec.replicas accessor error: map[a:[true <nil>] b:1] is of the type map[string]interface {}, expected int64',
      ],
    ],
    [-1, ['.spec.replicas | Invalid value: -1: should be a non-negative integer']],
    [2 ** 31, ['.spec.replicas | Invalid value: 2147483648: should be less than or equal to 2147483647']],
  ])('of %j is judged', (replicas, findings) => {
    expect(spec(replicas)).toEqual(findings);
  });
  test('is not judged where there is none, and shows a selector that is text', () => {
    expect(validateScaleSpec(anObject('a'), paths)).toEqual([]);
    expect([
      validateScaleSpec(anObject('a', { spec: 1 }), undefined),
      validateScaleStatus(anObject('a', { status: 1 }), undefined),
    ]).toEqual([[], []]);
    expect(validateScaleStatus(anObject('a', { status: { replicas: 1, selector: 'a=b' } }), paths)).toEqual([]);
    expect(validateScaleStatus(anObject('a', { status: { selector: 5 } }), paths).map(({ body }) => body)).toEqual([
      'Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string',
    ]);
  });
});

describe('objects are read anew by a new schema', () => {
  const sized = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 7 } } } } };

  test('and no version changes; those that fit stay', () => {
    const { table } = aServedResource();
    table.put(anObject('old', { spec: { gone: 1 } }));
    table.put(anObject('fits', { spec: { size: 1 } }));
    const before = table.list('').map(({ revision }) => revision);
    const untouched = table.get('ns', 'fits');
    readAnew(table, aCrd([aVersion('v1', { storage: true, schema: { openAPIV3Schema: sized } })]));
    expect(table.get('ns', 'old')?.object['spec']).toEqual({ size: 7 });
    expect(table.list('').map(({ revision }) => revision)).toEqual(before);
    expect(table.get('ns', 'fits')).toBe(untouched);
  });

  test('by that of the version in which each is stored, which it says where there are several', () => {
    const { table } = aServedResource();
    table.put(anObject('of the first', { spec: { gone: 1 } }));
    table.put(anObject('of the second', { apiVersion: 'e.com/v2', spec: { gone: 1 } }));
    const crd = aCrd([aVersion('v1', { schema: { openAPIV3Schema: sized } }), aVersion('v2', { storage: true })]);
    readAnew(table, { ...crd, status: { ...crd.status, storedVersions: ['v1', 'v2'] } });
    expect(table.get('ns', 'of the first')?.object).toMatchObject({ apiVersion: 'e.com/v1', spec: { size: 7 } });
    expect(table.get('ns', 'of the second')?.object).toMatchObject({ apiVersion: 'e.com/v2' });
    expect(table.get('ns', 'of the second')?.object).not.toHaveProperty('spec');
  });
});

describe('a version among several', () => {
  const property = (name: string) => ({ openAPIV3Schema: { type: 'object', properties: { [name]: { type: 'string' } } } });
  const crd = aCrd([aVersion('v1', { schema: property('one') }), aVersion('v2', { storage: true, schema: property('two') })], {
    status: { storedVersions: ['v1', 'v2'] },
  });
  const [first, second] = (crd.spec?.versions ?? []).map((version) => versionView(crd, version));

  test('is stored in the storage version, without what that does not know', () => {
    expect(first?.toStored(anObject('a', { one: '1', two: '2' }))).toMatchObject({ apiVersion: 'e.com/v2', two: '2' });
    expect(first?.toStored(anObject('a', { one: '1' }))).not.toHaveProperty('one');
    expect(second?.toStored(anObject('a', { two: '2' }))).toMatchObject({ apiVersion: 'e.com/v2', two: '2' });
  });
  test('is shown as it was stored where it was stored in it, and else without what it does not know', () => {
    const stored = anObject('a', { apiVersion: 'e.com/v1', one: '1', extra: 'x' });
    expect(first?.fromStored(stored)).toMatchObject({ one: '1', extra: 'x' });
    expect(first?.fromStored(stored)).not.toHaveProperty('apiVersion');
    expect(Object.keys(second?.fromStored(stored) ?? {})).toEqual(['metadata']);
  });
  test('without a word of its version was stored in the first', () => {
    expect([firstStored(crd.status), firstStored(undefined), firstStored({ storedVersions: null })]).toEqual(['v1', '', '']);
    expect(first?.fromStored(anObject('a', { extra: 'x' }))).toMatchObject({ extra: 'x' });
    expect(second?.fromStored(anObject('a', { extra: 'x' }))).not.toHaveProperty('extra');
  });
});
