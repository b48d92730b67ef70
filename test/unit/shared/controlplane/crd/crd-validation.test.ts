import { describe, expect, test } from 'vitest';
import type { Crd, CrdSpec } from '../../../../../shared/controlplane/crd/crd.ts';
import { establish } from '../../../../../shared/controlplane/crd/crd-lifecycle.ts';
import { CRD_RESOURCE } from '../../../../../shared/controlplane/crd/crd-strategy.ts';
import type { JsonSchema } from '../../../../../shared/controlplane/crd/json-schema.ts';
import { compileJsonPath } from '../../../../../shared/controlplane/crd/json-path.ts';

const NOW = '2026-01-01T00:00:00Z';
const { strategy } = CRD_RESOURCE;

/** A CRD as it reaches validation; `change` spoils it. */
function aCrd(
  change: (spec: Required<Pick<CrdSpec, 'names' | 'versions'>> & CrdSpec, root: Record<string, JsonSchema>) => void = () => undefined,
): Crd {
  const properties: Record<string, JsonSchema> = { spec: { type: 'object', properties: { a: { type: 'string' } } } };
  const schema: JsonSchema = { type: 'object', properties };
  const spec = {
    group: 'e.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  };
  const crd: Crd = { metadata: { name: 'widgets.e.com', uid: 'u', resourceVersion: '', creationTimestamp: NOW }, spec };
  change(spec, properties);
  strategy.applyDefaults?.(crd);
  strategy.prepareForCreate?.(crd);
  return crd;
}
const problems = (crd: Crd): string[] => (strategy.validateCreate?.(crd) ?? []).map(({ field, body }) => `${field}: ${body}`);

describe('a CustomResourceDefinition', () => {
  test('gets its singular name, its list kind and the conversion None', () => {
    const crd = aCrd();
    expect(crd.spec?.names).toEqual({ plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' });
    expect(crd.spec?.conversion).toEqual({ strategy: 'None' });
    expect(crd.status?.storedVersions).toEqual(['v1']);
    expect(problems(crd)).toEqual([]);
  });

  const SCHEMA = 'spec.validation.openAPIV3Schema';
  test.each<[string, Parameters<typeof aCrd>[0], string]>([
    [
      'a name that is not made of plural and group',
      (spec) => (spec.group = 'f.com'),
      'metadata.name: Invalid value: "widgets.e.com": must be spec.names.plural+"."+spec.group',
    ],
    [
      'a property without type',
      (_spec, root) => (root['x'] = {}),
      `${SCHEMA}.properties[x].type: Required value: must not be empty for specified object fields`,
    ],
    [
      'an array without items',
      (_spec, root) => (root['x'] = { type: 'array' }),
      `${SCHEMA}.properties[x].items: Required value: must be specified`,
    ],
    [
      'a type inside a combination',
      (_spec, root) => (root['x'] = { type: 'object', anyOf: [{ type: 'object' }] }),
      `${SCHEMA}.properties[x].anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
    [
      'a combination about what is not there',
      (_spec, root) => (root['x'] = { type: 'object', not: { properties: { y: { minimum: 1 } } } }),
      `${SCHEMA}.properties[x].properties[y]: Required value: because it is defined in ${SCHEMA}.properties[x].not.properties[y]`,
    ],
    [
      'a default of the wrong type',
      (_spec, root) => (root['x'] = { type: 'string', default: 5 }),
      `${SCHEMA}.properties[x].default: Invalid value: "integer":  in body must be of type string: "integer"`,
    ],
    [
      'a list of type map without keys',
      (_spec, root) => (root['x'] = { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
      `${SCHEMA}.properties[x].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    ],
    [
      'metadata that is more than a name',
      (_spec, root) => (root['metadata'] = { type: 'object', properties: { labels: { type: 'object' } } }),
      `${SCHEMA}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
    [
      'a rule about change where nothing can be told apart',
      (_spec, root) =>
        (root['x'] = {
          type: 'array',
          maxItems: 4,
          items: { type: 'string', maxLength: 63, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
        }),
      `${SCHEMA}.properties[x].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${SCHEMA}.properties[x]`,
    ],
    [
      'a path of a rule that leads nowhere',
      (_spec, root) =>
        (root['x'] = {
          type: 'object',
          properties: { a: { type: 'string' } },
          'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
        }),
      `${SCHEMA}.properties[x].x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path`,
    ],
    [
      'a pattern that does not compile',
      (_spec, root) => (root['x'] = { type: 'string', pattern: '(a' }),
      `${SCHEMA}.properties[x].pattern: Invalid value: "(a": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(a\``,
    ],
    [
      'a default with fields that would be pruned',
      (_spec, root) => (root['x'] = { type: 'object', default: { b: 1 } }),
      `${SCHEMA}.properties[x].default: Invalid value: {"b":1}: must not have unknown fields`,
    ],
    [
      'a message of a rule in several lines',
      (_spec, root) => (root['x'] = { type: 'string', 'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }] }),
      `${SCHEMA}.properties[x].x-kubernetes-validations[0].message: Invalid value: "a\\nb": must not contain line breaks`,
    ],
    [
      'a default that breaks a rule',
      (_spec, root) =>
        (root['x'] = { type: 'integer', default: 5, 'x-kubernetes-validations': [{ rule: 'self < 3', message: 'too many' }] }),
      `${SCHEMA}.properties[x].default: Invalid value: 5: too many`,
    ],
  ])('is refused for %s', (_what, change, expected) => {
    expect(problems(aCrd(change))).toEqual([expected]);
  });

  test.each([
    ['.spec.a[0]', 'is an invalid path: array notation is not allowed'],
    ['.spec.z', 'is an invalid path: does not refer to a valid field'],
    ['.metadata.name', 'must not point to fields in metadata'],
    ['spec', 'is an invalid path: expected [ or . but got: spec'],
  ])('is refused for the selectable field %s: %s', (jsonPath, words) => {
    const crd = aCrd((spec, root) => {
      root['metadata'] = { type: 'object', properties: { name: { type: 'string' } } };
      for (const version of spec.versions) version.selectableFields = [{ jsonPath }];
    });
    expect(problems(crd)).toEqual([`spec.selectableFields[0].jsonPath: Invalid value: "${jsonPath}": ${words}`]);
  });

  test('speaks of its versions one by one where they differ', () => {
    const crd = aCrd((spec) =>
      spec.versions.push({
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object', properties: { x: {} } } },
      }),
    );
    expect(problems(crd)).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.properties[x].type: Required value: must not be empty for specified object fields',
    ]);
  });

  test('keeps a version that objects may still be stored in', () => {
    const previous = aCrd();
    const next = aCrd((spec) => {
      spec.versions[0] = { ...spec.versions[0], name: 'v2' };
    });
    strategy.prepareForUpdate?.(next, previous);
    expect(next.status?.storedVersions).toEqual(['v1', 'v2']);
    expect(strategy.validateUpdate?.(next, previous).map(({ field }) => field)).toEqual(['status.storedVersions[0]']);
  });
});

describe('establishing', () => {
  test('accepts names that are free', () => {
    const status = establish(aCrd(), [], NOW);
    expect(status?.acceptedNames).toEqual({ plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' });
    expect(status?.conditions?.map(({ type, status: each }) => `${type}=${each}`)).toEqual(['NamesAccepted=True', 'Established=True']);
  });

  test('says nothing twice', () => {
    const crd = aCrd();
    const status = establish(crd, [], NOW);
    expect(establish({ ...crd, status: { ...status } }, [], '2027-01-01T00:00:00Z')).toBeUndefined();
  });

  test('refuses a kind that another definition of the group has', () => {
    const crd = aCrd();
    const rival: Crd = { ...aCrd(), metadata: { ...crd.metadata, uid: 'other' } };
    rival.status = { acceptedNames: { plural: 'others', kind: 'Widget' } };
    const conditions = establish(crd, [rival], NOW)?.conditions ?? [];
    expect(conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'NamesAccepted=False KindConflict',
      'Established=False NotAccepted',
    ]);
  });
});

test.each<[string, unknown[]]>([
  ['.spec.size', [3]],
  ['.spec.none', []],
  ['.conditions[?(@.type=="B")].status', ['no']],
  ['.conditions[1].type', ['B']],
  ['.conditions[*].type', ['A', 'B']],
  [".labels['a.b/c']", ['x']],
  ['.labels.a\\.b/c', ['x']],
])('the path %s finds %j', (path, expected) => {
  const object = {
    spec: { size: 3 },
    conditions: [
      { type: 'A', status: 'yes' },
      { type: 'B', status: 'no' },
    ],
    labels: { 'a.b/c': 'x' },
  };
  expect(compileJsonPath(path)?.find(object)).toEqual(expected);
});
