import { describe, expect, test } from 'vitest';
import { applyConfiguration } from '../../../../../shared/controlplane/fields/apply.ts';
import { trackUpdate } from '../../../../../shared/controlplane/fields/managed-fields.ts';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';
import { decodeObject } from '../../../../../shared/controlplane/schema/decode.ts';
import type { ObjectSchema } from '../../../../../shared/controlplane/schema/schema.ts';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';

const schemaOf = (kind: string): ObjectSchema => {
  const schema = builtInSchema('', 'v1', kind);
  if (schema === undefined) throw new Error(`no schema of ${kind}`);
  return schema;
};
const [configMap, pod] = [schemaOf('ConfigMap'), schemaOf('Pod')];
const now = '2026-01-01T00:00:00Z';

type Options = { live?: AnyObject; manager?: string; force?: boolean; schema?: ObjectSchema; now?: string };
const apply = (
  configuration: object,
  { live, manager = 'one', force = false, schema = configMap, now: at = now }: Options = {},
): AnyObject =>
  applyConfiguration({
    body: JSON.stringify({ apiVersion: 'v1', kind: schema.name, metadata: { name: 'x' }, ...configuration }),
    live,
    schema,
    manager,
    force,
    subresource: '',
    fieldValidation: 'Warn',
    now: at,
  }).object;
const update = (body: object, live?: AnyObject, manager = 'hand', schema = configMap, at = now): AnyObject => {
  const { object } = decodeObject(JSON.stringify({ metadata: { name: 'x' }, ...body }), 'application/json', schema, 'Warn');
  trackUpdate({ live, next: object, manager, apiVersion: 'v1', subresource: '', schema, now: at });
  return object;
};
const owners = (object: AnyObject): unknown =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [Reflect.get(Object(entry), 'manager'), Reflect.get(Object(entry), 'fieldsV1')]),
  );
const refusalOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
};

describe('applying', () => {
  test('owns exactly what the configuration names', () => {
    expect(owners(apply({ data: { a: '1' } }))).toEqual({ one: { 'f:data': { 'f:a': {} } } });
  });

  test('removes what the manager no longer applies, unless somebody else owns it', () => {
    const first = apply({ data: { a: '1', b: '2' } });
    const second = apply({ data: { b: '2' } }, { live: first, manager: 'two' });
    const third = apply({}, { live: second });
    expect(third.data).toEqual({ b: '2' });
    expect(owners(third)).toEqual({ two: { 'f:data': { 'f:b': {} } } });
  });

  test('a value of somebody else is a conflict, and force takes it', () => {
    const live = apply({ data: { a: '1' } });
    const conflicting = { data: { a: '2' } };
    expect(refusalOf(() => apply(conflicting, { live, manager: 'two' }))).toBe(
      '409 Apply failed with 1 conflict: conflict with "one": .data.a',
    );
    expect(owners(apply(conflicting, { live, manager: 'two', force: true }))).toEqual({ two: { 'f:data': { 'f:a': {} } } });
  });

  test('several conflicts are listed by manager', () => {
    const live = update({ data: { a: '1', b: '1' } });
    expect(refusalOf(() => apply({ data: { a: '2', b: '2' } }, { live }))).toBe(
      '409 Apply failed with 2 conflicts: conflicts with "hand" using v1:\n- .data.a\n- .data.b',
    );
  });

  test('what nobody has owned belongs to before-first-apply', () => {
    const live = update({ data: { a: '1' } });
    delete live.metadata.managedFields;
    expect(refusalOf(() => apply({ data: { a: '2' } }, { live }))).toContain('conflict with "before-first-apply" using v1: .data.a');
  });

  test('the same again changes nothing, not even the time', () => {
    const live = apply({ data: { a: '1' } });
    expect(apply({ data: { a: '1' } }, { live, now: '2026-01-01T01:00:00Z' })).toEqual(live);
  });

  test('containers merge by name, and their order follows the configuration', () => {
    const live = update(
      {
        spec: {
          containers: [
            { name: 'a', image: 'i' },
            { name: 'b', image: 'i' },
          ],
        },
      },
      undefined,
      'hand',
      pod,
    );
    const object = apply({ spec: { containers: [{ name: 'b', tty: true }, { name: 'a' }] } }, { live, schema: pod });
    expect(object.spec).toEqual({
      containers: [
        { name: 'b', image: 'i', resources: {}, tty: true },
        { name: 'a', image: 'i', resources: {} },
      ],
    });
  });

  test('a manager that gives up all its labels does not take the name with them', () => {
    const first = apply({ metadata: { name: 'x', labels: { a: '1' } } });
    const second = apply({ metadata: { name: 'x' }, data: { k: 'v' } }, { live: first });
    expect([second.metadata.name, second.metadata.labels]).toEqual(['x', undefined]);
  });

  test('a map from which an element is given up stays where somebody else named the map', () => {
    const first = update({ data: { b: '1' } });
    const second = apply({ data: { a: '1' } }, { live: first });
    expect(apply({}, { live: second }).data).toEqual({ b: '1' });
  });

  test('an element without a key that has a default is another element', () => {
    const first = apply({ spec: { containers: [{ name: 'a', image: 'i' }] } }, { schema: pod });
    const second = apply({ spec: { containers: [{ image: 'x' }] } }, { live: first, schema: pod, manager: 'two' });
    expect(second.spec).toMatchObject({ containers: [{ name: 'a' }, { name: '', image: 'x' }] });
    expect(owners(second)).toMatchObject({ two: { 'f:spec': { 'f:containers': { 'k:{"name":""}': {} } } } });
  });

  test('what cannot be converted is refused after conflicts are', () => {
    const first = apply({ spec: { nodeName: 'n' } }, { schema: pod });
    const broken = { spec: { nodeName: 'm', activeDeadlineSeconds: 1.5 } };
    const applied = (force: boolean): string => refusalOf(() => apply(broken, { live: first, schema: pod, manager: 'two', force }));
    expect(applied(false)).toContain('409 Apply failed with 1 conflict');
    expect(applied(true)).toBe(
      '500 failed to convert new object (/x; /v1, Kind=Pod) to proper version: unable to convert unstructured object to /v1, Kind=Pod: ' +
        'cannot convert float64 to int64',
    );
  });

  test('kubectl takes over what it has applied client-side, as long as it is still the same', () => {
    const lastApplied = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { k: 'old' } });
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied };
    const untouched = update({ metadata: { name: 'x', annotations }, data: { k: 'old' } });
    expect(apply({ data: { k: 'new' } }, { live: untouched, manager: 'kubectl' }).data).toEqual({ k: 'new' });
    const changed = update({ metadata: { name: 'x', annotations }, data: { k: 'other' } });
    expect(refusalOf(() => apply({ data: { k: 'new' } }, { live: changed, manager: 'kubectl' }))).toContain('409');
  });

  test('a container that is given up goes, but one that another manager names stays', () => {
    const first = apply(
      {
        spec: {
          containers: [
            { name: 'a', image: 'i' },
            { name: 'b', image: 'i' },
          ],
        },
      },
      { schema: pod },
    );
    const second = apply({ spec: { containers: [{ name: 'b', tty: true }] } }, { live: first, manager: 'two', schema: pod });
    const third = apply({ spec: { containers: [] } }, { live: second, schema: pod });
    expect(third.spec).toEqual({ containers: [{ name: 'b', resources: {}, tty: true }] });
  });
});

describe('configurations that cannot be applied', () => {
  const typed = (problem: string): string => `500 failed to create typed patch object (/x; /v1, Kind=Pod): ${problem}`;
  const cases: readonly (readonly [string, object, string])[] = [
    ['an unknown field', { spec: { bogus: 1 } }, typed('.spec.bogus: field not declared in schema')],
    ['a wrong type', { spec: { nodeName: 1 } }, typed('.spec.nodeName: expected string, got &value.valueUnstructured{Value:1}')],
    [
      'an element with none of its keys',
      { spec: { imagePullSecrets: [{}] } },
      typed(
        '.spec.imagePullSecrets: element 0: associative list with keys has an element that omits all key fields ["name"] ' +
          "(and doesn't have default values for any key fields)",
      ),
    ],
    [
      'an element twice',
      { spec: { containers: [{ name: 'c' }, { name: 'c' }] } },
      typed('.spec.containers: duplicate entries for key [name="c"]'),
    ],
    ['another kind', { kind: 'Secret' }, '400 invalid object type: /v1, Kind=Secret'],
    ['managedFields', { metadata: { name: 'x', managedFields: [] } }, '400 metadata.managedFields must be nil'],
  ];
  test.each(cases)('%s', (_name, configuration, message) => {
    expect(refusalOf(() => apply(configuration, { schema: pod }))).toBe(message);
  });
});

describe('updates', () => {
  test('a create owns what it sets, and maps that it brings', () => {
    expect(owners(update({ metadata: { name: 'x', labels: { l: 'm' } }, data: { a: '1' } }))).toEqual({
      hand: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    });
  });

  test('ownership moves with a change and ends with a removal', () => {
    const created = update({ data: { a: '1', b: '1', c: '1' } });
    expect(owners(update({ data: { a: '2', b: '1' } }, created, 'other'))).toEqual({
      hand: { 'f:data': { '.': {}, 'f:b': {} } },
      other: { 'f:data': { 'f:a': {} } },
    });
  });

  test('an update that changes nothing leaves managedFields as they are', () => {
    const created = update({ data: { a: '1' } });
    expect(update({ data: { a: '1' } }, created, 'other', configMap, '2026-01-01T01:00:00Z').metadata.managedFields).toEqual(
      created.metadata.managedFields,
    );
  });

  test('managedFields: [{}] resets, and an object without them stays without', () => {
    const created = update({ data: { a: '1' } });
    const reset = update({ metadata: { name: 'x', managedFields: [{}] }, data: { a: '1' } }, created);
    expect(reset.metadata).not.toHaveProperty('managedFields');
    expect(update({ data: { a: '2' } }, reset).metadata).not.toHaveProperty('managedFields');
  });

  test('more than ten updaters of one version: the oldest share an entry', () => {
    let object = update({ data: {} });
    for (let index = 0; index < 14; index++) {
      const data = { ...Object(object.data), [`k${index}`]: 'v' };
      object = update(
        { data },
        object.metadata.managedFields === undefined ? undefined : object,
        `m${index}`,
        configMap,
        `2026-01-01T00:00:${10 + index}Z`,
      );
    }
    const managers = (object.metadata.managedFields ?? []).map((entry) => Reflect.get(Object(entry), 'manager'));
    expect(managers).toEqual(['ancient-changes', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12', 'm13']);
  });
});
