/** Resources as the server serves them, without a server: a definition, a schema and a table. */
import type { AnyMeta, AnyObject } from '../../../../shared/controlplane/apimachinery/object.ts';
import type { ResourceDefinition } from '../../../../shared/controlplane/resources/strategy.ts';
import {
  createServedResources,
  type ServedResource,
  type ServedResources,
} from '../../../../shared/controlplane/resources/served-resources.ts';
import type { ObjectSchema } from '../../../../shared/controlplane/schema/schema.ts';
import { createStore } from '../../../../shared/controlplane/storage/store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

export const aDefinition = (parts: Partial<ResourceDefinition> = {}): ResourceDefinition => ({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  singular: 'thing',
  kind: 'Thing',
  listKind: 'ThingList',
  shortNames: [],
  categories: [],
  namespaced: true,
  strategy: {},
  ...parts,
});

export const anEmptySchema: ObjectSchema = { kind: 'object', name: 'Thing', fields: new Map() };

export const someResources = (): ServedResources => createServedResources(createStore({ clock: new FakeClock() }));

export function aServedResource(
  parts: Partial<ResourceDefinition> = {},
  { schema = anEmptySchema, custom = false }: { readonly schema?: ObjectSchema; readonly custom?: boolean } = {},
): ServedResource {
  const resources = someResources();
  const definition = aDefinition(parts);
  resources.add(definition, schema, custom);
  const served = resources.find(definition.group, definition.version, definition.plural);
  if (served === undefined) throw new Error(`${definition.plural} are not served`);
  return served;
}

export const anObject = (name: string, content: object = {}, metadata: Partial<AnyMeta> = {}): AnyObject => ({
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  ...content,
});
