import type { ObjectSchema } from '../schema/schema.ts';
import type { GroupKind, GroupResource } from '../apimachinery/status-error.ts';
import type { Store } from '../storage/store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Table } from '../storage/store-table.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceDefinition } from './strategy.ts';

/** A resource as the server serves it: its definition, its shape and where its objects are. */
export type ServedResource = {
  readonly definition: ResourceDefinition;
  readonly schema: ObjectSchema;
  readonly custom: boolean;
  readonly table: Table;
  readonly apiVersion: string;
  readonly groupResource: GroupResource;
  readonly groupKind: GroupKind;
  /** The beginning of an object in an answer; what is stored has neither kind nor apiVersion. */
  readonly textHead: string;
  /** PartialObjectMetadata of what is stored, as JSON, where somebody has asked for it. */
  readonly metadataTexts: WeakMap<StoredObject, string>;
};

/** Which resources exist at the moment. CustomResourceDefinitions add and remove some. */
export interface ServedResources {
  find(group: string, version: string, plural: string): ServedResource | undefined;
  ofKind(group: string, version: string, kind: string): ServedResource | undefined;
  all(): readonly ServedResource[];
  add(definition: ResourceDefinition, schema: ObjectSchema, custom: boolean): void;
  remove(group: string, version: string, plural: string): void;
  /** Grows with every change, so that documents made from the list can be kept. */
  generation(): number;
}

export function createServedResources(store: Store): ServedResources {
  const resources = new Map<string, ServedResource>();
  let generation = 0;
  const keyOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

  return {
    find: (group, version, plural) => resources.get(keyOf(group, version, plural)),
    ofKind: (group, version, kind) =>
      [...resources.values()].find(
        ({ definition }) => definition.group === group && definition.version === version && definition.kind === kind,
      ),
    all: () => [...resources.values()],
    add: (definition, schema, custom) => {
      const { group, version, plural, kind } = definition;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const storageGroup = definition.view?.storageGroup ?? group;
      resources.set(keyOf(group, version, plural), {
        definition,
        schema,
        custom,
        table: store.table(`${storageGroup}/${plural}`),
        apiVersion,
        // A view is refused under the name of what it shows.
        groupResource: { group: storageGroup, resource: plural },
        groupKind: { group: storageGroup, kind },
        textHead: `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`,
        metadataTexts: new WeakMap(),
      });
      generation++;
    },
    remove: (group, version, plural) => {
      if (resources.delete(keyOf(group, version, plural))) generation++;
    },
    generation: () => generation,
  };
}

/** The object as an answer shows it, with kind and apiVersion. Shares everything else with what is stored. */
export function toVersioned(resource: ServedResource, object: AnyObject): AnyObject {
  const shown = resource.definition.view?.fromStored(object) ?? object;
  return { ...shown, kind: resource.definition.kind, apiVersion: resource.apiVersion };
}

/** The schemas of all served versions of a resource that has several; undefined for others. */
export function versionSchemas(
  resources: ServedResources,
  { definition }: ServedResource,
): ((apiVersion: string) => ObjectSchema | undefined) | undefined {
  if (definition.view?.worksOn !== 'shown') return undefined;
  const { group, plural } = definition;
  return (apiVersion) =>
    apiVersion.startsWith(`${group}/`) ? resources.find(group, apiVersion.slice(group.length + 1), plural)?.schema : undefined;
}

/** What strategies, selectors and Tables see of a stored object: the form that the view asks for, without kind and apiVersion. */
export function workingForm({ definition: { view } }: ServedResource, { object }: StoredObject): AnyObject {
  return view?.worksOn === 'shown' ? view.fromStored(object) : object;
}

/** The other way round: a working form as it is stored. */
export function storedForm({ definition: { view } }: ServedResource, object: AnyObject): AnyObject {
  return view?.worksOn === 'shown' ? view.toStored(object) : object;
}

/** The object as JSON, with kind and apiVersion. */
export function textOf(resource: ServedResource, stored: StoredObject): string {
  if (resource.definition.view !== undefined) return JSON.stringify(toVersioned(resource, stored.object));
  return resource.textHead + stored.text.slice(1);
}

/** A private copy of the object, with kind and apiVersion, to be changed. */
export function copyOf(resource: ServedResource, stored: StoredObject): AnyObject {
  const object = JSON.parse(stored.text) as AnyObject;
  return toVersioned(resource, object);
}
