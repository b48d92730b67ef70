import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { customResourceDefinition, switchyardResource, type KindDefinition } from '../../../../manager/api/kind-definition.ts';

const aKind = (parts: Partial<KindDefinition> = {}): KindDefinition => ({
  resource: switchyardResource({ kind: 'Siding', plural: 'sidings', namespaced: true }),
  singular: 'siding',
  shortNames: ['sd'],
  description: 'Siding is a track beside the track.',
  fields: { spec: Type.Object({ length: Type.Integer() }), status: Type.Object({}) },
  required: ['spec'],
  printerColumns: [],
  ...parts,
});
type Definition = {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly scope: string;
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: { readonly required?: unknown } } }[];
  };
};
const definitionOf = (parts: Partial<KindDefinition> = {}): Definition => customResourceDefinition(aKind(parts)) as Definition;

test('a resource of ours is in our group and its one version', () => {
  expect(switchyardResource({ kind: 'Siding', plural: 'sidings', namespaced: false })).toEqual({
    group: 'switchyard.dev',
    version: 'v1alpha1',
    kind: 'Siding',
    plural: 'sidings',
    namespaced: false,
  });
});

describe('a CustomResourceDefinition', () => {
  test('is named as the API server demands, with all the names of the kind', () => {
    expect(definitionOf()).toMatchObject({
      metadata: { name: 'sidings.switchyard.dev' },
      spec: {
        group: 'switchyard.dev',
        names: {
          kind: 'Siding',
          listKind: 'SidingList',
          plural: 'sidings',
          singular: 'siding',
          shortNames: ['sd'],
          categories: ['switchyard'],
        },
      },
    });
  });

  test('has the scope of its resource', () => {
    const scope = (namespaced: boolean) =>
      definitionOf({ resource: switchyardResource({ kind: 'Siding', plural: 'sidings', namespaced }) }).spec.scope;
    expect([scope(true), scope(false)]).toEqual(['Namespaced', 'Cluster']);
  });

  test('serves and stores one version, with a status of its own', () => {
    const { versions } = definitionOf().spec;
    expect(versions).toHaveLength(1);
    expect(versions[0]).toMatchObject({ served: true, storage: true, subresources: { status: {} } });
  });

  test('without a status has fields of its own, and no subresource', () => {
    const [version] = definitionOf({ fields: { value: Type.Integer() }, required: ['value'] }).spec.versions;
    expect(version).not.toHaveProperty('subresources');
    expect(version?.schema.openAPIV3Schema).toMatchObject({
      properties: { metadata: {}, value: { type: 'integer' } },
      required: ['value'],
    });
  });

  test('demands a spec only where an object without one makes no sense', () => {
    const required = (...fields: string[]) => definitionOf({ required: fields }).spec.versions[0]?.schema.openAPIV3Schema.required;
    expect(required('spec')).toEqual(['spec']);
    expect(required()).toBeUndefined();
  });
});

test('what an API server would drop is not in a definition, so that applying it again changes nothing', () => {
  const definition = JSON.stringify(definitionOf({ shortNames: [] }));
  expect(definition).not.toContain('shortNames');
  expect(definition).not.toContain('"properties":{}');
});
