import { describe, expect, test } from 'vitest';
import { trackFields } from '../../../../../shared/controlplane/endpoints/field-tracking.ts';
import { decodeBody } from '../../../../../shared/controlplane/endpoints/object-decoding.ts';
import type { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { WriteOptions } from '../../../../../shared/controlplane/registry/request-options.ts';
import { createCall } from '../../../../../shared/controlplane/request/call.ts';
import { parseRequest } from '../../../../../shared/controlplane/request/request.ts';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';
import type { ResourceDefinition } from '../../../../../shared/controlplane/resources/strategy.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { anEmptySchema, anObject, aServedResource, someResources } from '../a-served-resource.ts';

const schemaOf = (kind: string) => {
  const schema = builtInSchema('', 'v1', kind);
  if (schema === undefined) throw new Error(`no schema of ${kind}`);
  return schema;
};
const configMaps = (parts: Partial<ResourceDefinition> = {}) =>
  aServedResource({ group: '', kind: 'ConfigMap', plural: 'configmaps', ...parts }, { schema: schemaOf('ConfigMap') });
const customThings = aServedResource(
  {},
  { custom: true, schema: { ...anEmptySchema, type: { group: 'example.com', version: 'v1', kind: 'Thing' }, custom: { prune: () => [] } } },
);
const options = (parts: Partial<WriteOptions> = {}): WriteOptions => ({
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: undefined,
  ...parts,
});
const decode = (resource: ReturnType<typeof configMaps>, body: object, parts: Partial<WriteOptions> = {}) => {
  const warnings: string[] = [];
  const object = decodeBody(resource, JSON.stringify(body), 'application/json', options(parts), (text) => warnings.push(text));
  return { object, warnings };
};

describe('a body', () => {
  test('gets the kind and version of the path, and the defaults of its kind', () => {
    const withDefaults = configMaps({ strategy: { applyDefaults: (object) => (object['data'] ??= { a: 'b' }) } });
    expect(decode(withDefaults, { metadata: { name: 'x' } }).object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: expect.objectContaining({ name: 'x' }),
      data: { a: 'b' },
    });
  });

  test('of a view gets no defaults: those are of what is stored', () => {
    const view = {
      storageGroup: '',
      worksOn: 'stored' as const,
      toStored: (object: object) => object as never,
      fromStored: (object: object) => object as never,
    };
    const viewed = configMaps({ view, strategy: { applyDefaults: () => expect.fail('a view was defaulted') } });
    expect(decode(viewed, { metadata: { name: 'x' } }).object).toMatchObject({ kind: 'ConfigMap' });
  });

  test('with unknown fields warns, or is refused where that is asked', () => {
    expect(decode(configMaps(), { metadata: { name: 'x' }, dta: {} }).warnings).toEqual(['unknown field "dta"']);
    expect(decode(configMaps(), { metadata: { name: 'x' }, dta: {} }, { fieldValidation: 'Ignore' }).warnings).toEqual([]);
    expect(() => decode(configMaps(), { metadata: { name: 'x' }, dta: {} }, { fieldValidation: 'Strict' })).toThrow(
      /strict decoding error: unknown field "dta"/,
    );
  });

  test('of a custom resource under another kind is an invalid one', () => {
    const other = { apiVersion: 'example.com/v1', kind: 'Other', metadata: { name: 'x' } };
    expect(() => decode(customThings, other)).toThrow(
      expect.objectContaining({
        code: 422,
        message: 'Other.example.com "x" is invalid: kind: Invalid value: "Other": must be Thing',
      }) as StatusError,
    );
    expect(decode(customThings, { ...other, kind: 'Thing' }).object).toMatchObject({ kind: 'Thing', apiVersion: 'example.com/v1' });
  });
});

describe('who owns the fields of a write', () => {
  const deps = { clock: new FakeClock(), resources: someResources() };
  const call = (userAgent: string, path = '/api/v1/namespaces/ns/configmaps/x') =>
    createCall({ method: 'PUT', path, headers: { 'user-agent': userAgent }, body: '' }, parseRequest('PUT', path), {
      name: 'u',
      groups: [],
    });
  const managers = (object: { metadata: { managedFields?: unknown[] } }) =>
    (object.metadata.managedFields ?? []).map((entry) => {
      const { manager, operation, fieldsV1, subresource } = entry as {
        manager: string;
        operation: string;
        fieldsV1: object;
        subresource?: string;
      };
      return [manager, operation, Object.keys(fieldsV1).join(), subresource];
    });

  test('is the manager of the options, else the program that asks', () => {
    const create = (userAgent: string, fieldManager: string) =>
      managers(trackFields(deps, call(userAgent), configMaps(), options({ fieldManager }), undefined, anObject('x', { data: { a: 'b' } })));
    expect(create('kubectl/v1.36.0 (linux)', 'me')).toEqual([['me', 'Update', 'f:data', undefined]]);
    expect(create('kubectl/v1.36.0 (linux)', '')).toEqual([['kubectl', 'Update', 'f:data', undefined]]);
    expect(create('', '')).toEqual([['unknown', 'Update', 'f:data', undefined]]);
  });

  test('is told with the time and version of the write, by what has changed against what is stored', () => {
    const resource = configMaps();
    const stored = resource.table.put(trackFields(deps, call('a/1'), resource, options(), undefined, anObject('x', { data: { a: 'b' } })));
    const next = trackFields(deps, call('b/1'), resource, options(), stored, {
      ...anObject('x', { data: { a: 'b' }, immutable: true }),
      metadata: stored.object.metadata,
    });
    expect(managers(next)).toEqual([
      ['a', 'Update', 'f:data', undefined],
      ['b', 'Update', 'f:immutable', undefined],
    ]);
    expect(next.metadata.managedFields?.[1]).toMatchObject({ time: '2026-01-01T00:00:00Z', apiVersion: 'v1' });
  });

  test('is told apart by subresource', () => {
    const path = '/api/v1/namespaces/ns/configmaps/x/status';
    const next = trackFields(deps, call('a/1', path), configMaps(), options(), undefined, anObject('x', { data: { a: 'b' } }));
    expect(managers(next)).toEqual([['a', 'Update', 'f:data', 'status']]);
  });
});
