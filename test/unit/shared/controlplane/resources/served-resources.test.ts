import { describe, expect, test } from 'vitest';
import {
  copyOf,
  storedForm,
  textOf,
  toVersioned,
  versionSchemas,
  workingForm,
} from '../../../../../shared/controlplane/resources/served-resources.ts';
import { aDefinition, anEmptySchema, anObject, aServedResource, someResources } from '../a-served-resource.ts';

describe('the resources that are served', () => {
  test('are found by their plural and by their kind, in their group and version', () => {
    const resources = someResources();
    resources.add(aDefinition(), anEmptySchema, false);
    resources.add(aDefinition({ version: 'v2' }), anEmptySchema, true);
    expect(resources.find('example.com', 'v1', 'things')?.apiVersion).toBe('example.com/v1');
    expect(resources.ofKind('example.com', 'v2', 'Thing')).toMatchObject({ apiVersion: 'example.com/v2', custom: true });
    expect(resources.find('example.com', 'v1', 'thing')).toBeUndefined();
    expect(resources.find('', 'v1', 'things')).toBeUndefined();
    expect(resources.ofKind('example.com', 'v1', 'constructor')).toBeUndefined();
    expect(resources.all().map(({ apiVersion }) => apiVersion)).toEqual(['example.com/v1', 'example.com/v2']);
  });

  test('of several versions have one table', () => {
    const resources = someResources();
    resources.add(aDefinition(), anEmptySchema, false);
    resources.add(aDefinition({ version: 'v2' }), anEmptySchema, false);
    resources.find('example.com', 'v1', 'things')?.table.put(anObject('a'));
    expect(resources.find('example.com', 'v2', 'things')?.table.get('ns', 'a')?.name).toBe('a');
  });

  test('of the core group have a version alone as their apiVersion', () => {
    expect(aServedResource({ group: '' })).toMatchObject({ apiVersion: 'v1', groupResource: { group: '', resource: 'things' } });
  });

  test('have a generation that grows with every change, and with nothing else', () => {
    const resources = someResources();
    const generations = [resources.generation()];
    const then = (change: () => void): void => {
      change();
      generations.push(resources.generation());
    };
    then(() => resources.add(aDefinition(), anEmptySchema, true));
    then(() => resources.add(aDefinition({ shortNames: ['th'] }), anEmptySchema, true));
    then(() => resources.remove('example.com', 'v1', 'others'));
    then(() => resources.remove('example.com', 'v1', 'things'));
    expect(generations).toEqual([0, 1, 2, 2, 3]);
    expect(resources.all()).toEqual([]);
  });
});

describe('a stored object', () => {
  const resource = aServedResource();
  const stored = resource.table.put(anObject('a', { spec: { x: 1 } }));

  test('is shown with kind and apiVersion first, whether as text or as an object', () => {
    expect(textOf(resource, stored)).toMatch(/^\{"kind":"Thing","apiVersion":"example\.com\/v1","metadata":\{"name":"a",/);
    expect(JSON.parse(textOf(resource, stored))).toEqual(toVersioned(resource, stored.object));
  });

  test('is shared when it is shown, and apart when it is copied', () => {
    expect(toVersioned(resource, stored.object)['spec']).toBe(stored.object['spec']);
    const copy = copyOf(resource, stored);
    expect(copy).toEqual(toVersioned(resource, stored.object));
    copy['spec'] = {};
    copy.metadata.name = 'changed';
    expect(stored.object).toMatchObject({ metadata: { name: 'a' }, spec: { x: 1 } });
  });
});

test('a view shows what another group stores, under its own kind and version, and is refused under the name of the other', () => {
  const view = {
    storageGroup: '',
    worksOn: 'stored' as const,
    toStored: (object: object) => object as ReturnType<typeof anObject>,
    fromStored: ({ metadata, message }: ReturnType<typeof anObject>) => ({ metadata, note: message }),
  };
  const resource = aServedResource({ group: 'events.k8s.io', view });
  const stored = resource.table.put(anObject('a', { message: 'hello' }));
  expect(resource).toMatchObject({ groupResource: { group: '', resource: 'things' }, groupKind: { group: '', kind: 'Thing' } });
  for (const shown of [toVersioned(resource, stored.object), JSON.parse(textOf(resource, stored)), copyOf(resource, stored)])
    expect(shown).toEqual({ kind: 'Thing', apiVersion: 'events.k8s.io/v1', metadata: stored.object.metadata, note: 'hello' });
});

describe('a view that is worked on as it is shown', () => {
  const view = {
    storageGroup: 'example.com',
    worksOn: 'shown' as const,
    toStored: ({ note, ...object }: ReturnType<typeof anObject>) => ({ ...object, message: note }),
    fromStored: ({ message, ...object }: ReturnType<typeof anObject>) => ({ ...object, note: message }),
  };
  const resource = aServedResource({ view });
  const stored = resource.table.put(anObject('a', { message: 'hello' }));

  test('goes to its working form and back', () => {
    expect(workingForm(resource, stored)).toMatchObject({ note: 'hello' });
    expect(storedForm(resource, workingForm(resource, stored))).toEqual(stored.object);
    const stays = aServedResource({ view: { ...view, worksOn: 'stored' } });
    expect([workingForm(stays, stored), storedForm(stays, stored.object)]).toEqual([stored.object, stored.object]);
  });

  test('knows the schemas of its other versions, and of no other group', () => {
    const resources = someResources();
    for (const version of ['v1', 'v2']) resources.add(aDefinition({ version, view }), { ...anEmptySchema, name: version }, true);
    const schemaOf = versionSchemas(resources, resource);
    expect([schemaOf?.('example.com/v2')?.name, schemaOf?.('example.com/v3'), schemaOf?.('v2')]).toEqual(['v2', undefined, undefined]);
    expect(versionSchemas(resources, aServedResource())).toBeUndefined();
  });
});
