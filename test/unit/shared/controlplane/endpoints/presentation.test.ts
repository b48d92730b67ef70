import { describe, expect, test } from 'vitest';
import { createPresenter } from '../../../../../shared/controlplane/endpoints/presentation.ts';
import type { ListPage } from '../../../../../shared/controlplane/registry/list.ts';
import type { Representation } from '../../../../../shared/controlplane/request/negotiation.ts';
import { Query } from '../../../../../shared/controlplane/request/request.ts';
import type { ServedResource } from '../../../../../shared/controlplane/resources/served-resources.ts';
import type { ResourceStrategy } from '../../../../../shared/controlplane/resources/strategy.ts';
import { anObject, aServedResource } from '../a-served-resource.ts';

const as = (shape: Representation['as'], metaVersion: Representation['metaVersion'] = 'v1'): Representation => ({
  format: 'json',
  as: shape,
  metaVersion,
});
const presenter = (resource: ServedResource, representation: Representation, query = '') =>
  createPresenter(resource, representation, new Query(query), () => 1000);
const parsed = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
const pageOf = (resource: ServedResource, parts: Partial<ListPage> = {}): ListPage => ({
  items: resource.table.list(''),
  resourceVersion: '7',
  continueToken: '',
  remainingItemCount: undefined,
  ...parts,
});
/** A resource with the things `a` and `b`. */
function things(strategy: ResourceStrategy = {}, custom = false): ServedResource {
  const resource = aServedResource({ strategy }, { custom });
  for (const name of ['a', 'b']) resource.table.put(anObject(name, { spec: { size: 1 } }));
  return resource;
}
const first = (resource: ServedResource) => {
  const [stored] = resource.table.list('');
  if (stored === undefined) throw new Error('nothing is stored');
  return stored;
};

describe('objects as they are', () => {
  test('have kind and apiVersion, in a watch too', () => {
    const resource = things();
    const { object, watched } = presenter(resource, as('object'));
    expect(parsed(object(first(resource)))).toMatchObject({
      kind: 'Thing',
      apiVersion: 'example.com/v1',
      metadata: { name: 'a' },
      spec: { size: 1 },
    });
    expect(watched(first(resource), true)).toBe(object(first(resource)));
  });

  test('in a list carry neither kind nor apiVersion', () => {
    const resource = things();
    const list = parsed(presenter(resource, as('object')).list(pageOf(resource)));
    expect(list).toMatchObject({ kind: 'ThingList', apiVersion: 'example.com/v1', metadata: { resourceVersion: '7' } });
    expect((list['items'] as object[]).map((item) => Object.keys(item))).toEqual([
      ['metadata', 'spec'],
      ['metadata', 'spec'],
    ]);
    expect(list['metadata']).toEqual({ resourceVersion: '7' });
  });

  test('of custom resources carry both in a list, whose metadata says that nothing follows', () => {
    const resource = things({}, true);
    const list = parsed(presenter(resource, as('object')).list(pageOf(resource)));
    expect(list['items']).toEqual([
      expect.objectContaining({ kind: 'Thing', apiVersion: 'example.com/v1' }),
      expect.objectContaining({ kind: 'Thing' }),
    ]);
    expect(list['metadata']).toEqual({ continue: '', resourceVersion: '7' });
  });

  test('may be none: an empty list has items all the same', () => {
    expect(parsed(presenter(things(), as('object')).list(pageOf(things(), { items: [] })))).toMatchObject({ items: [] });
  });

  test('of a page come with its token and with how many follow, none included', () => {
    const resource = things();
    const { list } = presenter(resource, as('object'));
    expect(parsed(list(pageOf(resource, { continueToken: 't', remainingItemCount: 0 })))['metadata']).toEqual({
      resourceVersion: '7',
      continue: 't',
      remainingItemCount: 0,
    });
  });
});

describe('objects as metadata', () => {
  test.each(['v1', 'v1beta1'] as const)('are PartialObjectMetadata of %s, one or a list', (version) => {
    const resource = things();
    const { object, watched } = presenter(resource, as('metadata', version));
    const partial = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: first(resource).object.metadata };
    expect(parsed(object(first(resource)))).toEqual(partial);
    expect(parsed(watched(first(resource), false))).toEqual(partial);
    expect(parsed(presenter(resource, as('metadata-list', version)).list(pageOf(resource)))).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: { resourceVersion: '7' },
      items: [partial, expect.anything()],
    });
  });

  test('of one are no list, and those of a list are not one', () => {
    const resource = things({}, true);
    expect(() => presenter(resource, as('metadata')).list(pageOf(resource))).toThrow(
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
    );
    expect(() => presenter(resource, as('metadata-list')).object(first(resource))).toThrow(
      'you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)',
    );
  });
});

describe('a bookmark', () => {
  const meta = { resourceVersion: '9', annotations: { a: 'b' } };
  const bookmark = (shape: Representation['as'], isFirst = true) => parsed(presenter(things(), as(shape)).bookmark(meta, isFirst));
  test('is of the kind that is watched, in the form that is asked for', () => {
    expect(bookmark('object')).toEqual({ kind: 'Thing', apiVersion: 'example.com/v1', metadata: meta });
    expect(bookmark('metadata')).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: meta });
    expect(bookmark('table')).toMatchObject({
      kind: 'Table',
      metadata: { resourceVersion: '9' },
      columnDefinitions: [{ name: 'Name' }, { name: 'Created At' }],
    });
    expect(bookmark('table', false)['columnDefinitions']).toBeNull();
  });
});

describe('objects as a table', () => {
  const columns = [{ name: 'Size', type: 'integer', format: '', description: 'how large', priority: 0 }];
  const table = { columns, cells: (object: object, now: number) => [(object as { spec: { size: number } }).spec.size, now] };

  test('have the columns and cells of their kind, at the time of now', () => {
    const resource = things({ table });
    expect(parsed(presenter(resource, as('table')).object(first(resource)))).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: first(resource).object.metadata.resourceVersion },
      columnDefinitions: columns,
      rows: [
        {
          cells: [1, 1000],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: first(resource).object.metadata },
        },
      ],
    });
  });

  test('have a name and a time where the kind has no columns', () => {
    const resource = things();
    const shown = parsed(presenter(resource, as('table', 'v1beta1')).list(pageOf(resource)));
    expect(shown).toMatchObject({ apiVersion: 'meta.k8s.io/v1beta1', metadata: { resourceVersion: '7' } });
    expect((shown['columnDefinitions'] as { name: string }[]).map(({ name }) => name)).toEqual(['Name', 'Created At']);
    expect((shown['rows'] as { cells: unknown[] }[]).map(({ cells }) => cells)).toEqual([
      ['a', '2026-01-01T00:00:00Z'],
      ['b', '2026-01-01T00:00:00Z'],
    ]);
  });

  test('tell of the conditions of a row where it has any', () => {
    const completed = [{ type: 'Completed', status: 'True' }];
    const resource = things({ table: { ...table, rowConditions: ({ metadata }) => (metadata.name === 'a' ? completed : undefined) } });
    const { rows } = parsed(presenter(resource, as('table')).list(pageOf(resource))) as { rows: { conditions?: unknown }[] };
    expect(rows.map((row) => row.conditions)).toEqual([completed, undefined]);
  });

  test('describe their columns once in a watch', () => {
    const resource = things({ table });
    const { watched } = presenter(resource, as('table'));
    expect(
      [parsed(watched(first(resource), true)), parsed(watched(first(resource), false))].map((shown) => shown['columnDefinitions']),
    ).toEqual([columns, null]);
  });

  test.each<[string, object | null]>([
    ['', { kind: 'PartialObjectMetadata' }],
    ['includeObject=Metadata', { kind: 'PartialObjectMetadata' }],
    ['includeObject=Object', { kind: 'Thing', apiVersion: 'example.com/v1', spec: { size: 1 } }],
    ['includeObject=None', null],
  ])('carry with %j what is asked for', (query, shown) => {
    const resource = things();
    const { rows } = parsed(presenter(resource, as('table'), query).object(first(resource))) as { rows: { object: unknown }[] };
    if (shown === null) expect(rows[0]?.object).toBeNull();
    else expect(rows[0]?.object).toMatchObject(shown);
  });

  test('cannot carry what nobody knows', () => {
    const resource = things();
    expect(() => presenter(resource, as('table'), 'includeObject=All').object(first(resource))).toThrow(
      `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
    );
  });
});
