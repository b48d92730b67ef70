import type { DeepReadonly, JobCondition, KubeObject, ObjectKey, Unsaved, WorkObject, WorkStatus } from '../../shared/api/kubernetes.ts';
import { LAST_FAILURE_ANNOTATION } from '../../shared/api/names.ts';
import { apiVersionOf, EVENTS, type Resource } from '../../shared/api/resources.ts';
import { isConflict } from '../../shared/kube/api-error.ts';
import type { KubeClient, Patch, WatchEvent, WatchStream, WriteOptions } from '../../shared/kube/client.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { parseQualifiedName, qualifiedName, qualifierOf, withPlainNames } from './qualified-name.ts';
import type { SingleKind, StoredStatus } from './work-kind.ts';

/** Attempts to merge conditions into a status that changes meanwhile. */
const CONDITION_TRIES = 5;

/**
 * A client through which the manager knows all kinds of work as objects of one: by names with their resource (`qualified-name.ts`), and in
 * the form of {@link CachedForm.whole}. A call for a Job with such a name goes to the resource that the name says; lists and watches of
 * that resource return objects with such names; owner references and Events name them as their API server does. With no further kinds it
 * is the client itself. `cached`: what the caches of the manager have of an object, before the API server is asked.
 */
export function createKindsClient(
  client: KubeClient,
  kinds: readonly SingleKind[],
  cached: (key: ObjectKey) => DeepReadonly<WorkObject> | undefined = () => undefined,
): KubeClient {
  if (kinds.length === 0) return client;
  const names = new StoredNames(kinds);
  const work = <T extends KubeObject>(answer: Promise<WorkObject>): Promise<T> => answer as unknown as Promise<T>;
  const written = <T extends KubeObject>({ kind }: Place, answer: Promise<unknown>): Promise<T> =>
    work(answer.then((object) => asRead(kind, object as WorkObject)));
  // An object literal, because callers spread it.
  return {
    get(resource, key, options) {
      const place = names.placeOf(resource, key);
      return place === undefined ? client.get(resource, key, options) : written(place, client.get(place.kind.resource, place.key, options));
    },
    async list(resource, options) {
      const kind = names.placeOf(resource, NOBODY)?.kind;
      const list = await client.list(resource, options);
      return kind === undefined ? list : { ...list, items: list.items.map((item) => asRead(kind, item as unknown as WorkObject) as never) };
    },
    create(resource, object, options) {
      const place = names.placeOf(resource, { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' });
      if (place === undefined) return client.create(resource, names.inBody(object), options);
      const stored = asStored(place, object) as unknown as Unsaved<WorkObject>;
      return written(place, client.create(place.kind.resource, stored, options));
    },
    replace(resource, object, options) {
      const place = names.placeOf(resource, keyIn(object));
      if (place === undefined) return client.replace(resource, names.inBody(object), options);
      return written(place, client.replace(place.kind.resource, asStored(place, object) as unknown as WorkObject, options));
    },
    patch(resource, key, patch, options) {
      const place = names.placeOf(resource, key);
      if (place === undefined) return client.patch(resource, storedKey(resource, key), names.inPatch(patch), options);
      return written(place, client.patch(place.kind.resource, place.key, names.inPatch(patch), options));
    },
    delete(resource, key, options) {
      const place = names.placeOf(resource, key);
      return place === undefined ? client.delete(resource, key, options) : client.delete(place.kind.resource, place.key, options);
    },
    replaceStatus: (resource, object, options) => client.replaceStatus(resource, object, options),
    patchStatus(resource, key, patch, options) {
      const place = names.placeOf(resource, key);
      if (place === undefined) return client.patchStatus(resource, key, patch, options);
      return work(patchStatus(client, place, patch, () => cached(key), options));
    },
    async watch(resource, options) {
      const kind = names.placeOf(resource, NOBODY)?.kind;
      const stream = await client.watch(resource, options);
      return kind === undefined ? stream : (readEvents(stream as WatchStream<WorkObject>, (object) => asRead(kind, object)) as never);
    },
    raw: (request) => client.raw(request),
    close: () => client.close(),
  };
}

/** The names that API servers know. */
class StoredNames {
  readonly #kinds: readonly SingleKind[];
  readonly #byQualifier: ReadonlyMap<string, SingleKind>;

  constructor(kinds: readonly SingleKind[]) {
    this.#kinds = kinds;
    this.#byQualifier = new Map(kinds.map((kind) => [qualifierOf(kind.resource) ?? '', kind]));
  }

  /** The kind and the stored key of an object; undefined for objects that are no work, and for Jobs. */
  placeOf(resource: Resource, { namespace, name }: ObjectKey): Place | undefined {
    const qualifier = qualifierOf(resource);
    const kind = qualifier === undefined ? this.#kindOfName(name) : this.#byQualifier.get(qualifier);
    return kind && { kind, key: { ...omitUndefined({ namespace }), name: parseQualifiedName(name).name } as ObjectKey };
  }

  /** Owner references, and the objects of an Event and of its message, by the names that their API server knows. */
  inBody<T extends object>(body: T): T {
    const { metadata, involvedObject, message } = body as Partial<EventLike>;
    const said = involvedObject === undefined || message === undefined ? message : withPlainNames(this.#kinds, message);
    const owners = metadata?.ownerReferences?.map((owner) => this.#named(owner));
    const involved = involvedObject && this.#named(involvedObject);
    if (
      involved === involvedObject &&
      said === message &&
      (owners === undefined || owners.every((each, index) => each === metadata?.ownerReferences?.[index]))
    )
      return body;
    const name = involved === involvedObject ? undefined : metadata?.name && parseQualifiedName(metadata.name).name;
    return {
      ...body,
      ...omitUndefined({ involvedObject: involved, message: said }),
      metadata: { ...metadata, ...omitUndefined({ name, ownerReferences: owners }) },
    };
  }

  inPatch(patch: Patch): Patch {
    return patch.type === 'json' ? patch : { ...patch, body: this.inBody(patch.body) };
  }

  #named<R extends Reference>(reference: R): R {
    const kind = reference.name === undefined ? undefined : this.#kindOfName(reference.name);
    if (kind === undefined || reference.name === undefined) return reference;
    const { name } = parseQualifiedName(reference.name);
    return { ...reference, apiVersion: apiVersionOf(kind.resource), kind: kind.resource.kind, name };
  }

  #kindOfName(name: string): SingleKind | undefined {
    return this.#byQualifier.get(parseQualifiedName(name).qualifier ?? '');
  }
}

const storedKey = (resource: Resource, key: ObjectKey): ObjectKey =>
  resource === EVENTS ? { ...key, name: parseQualifiedName(key.name).name } : key;

function asRead(kind: SingleKind, object: WorkObject): WorkObject {
  const read = kind.cache.whole(object);
  return { ...read, metadata: { ...read.metadata, name: qualifiedName(qualifierOf(kind.resource), read.metadata.name) } };
}

function asStored<T extends object>({ kind, key }: Place, object: T): T {
  const { name: _qualified, ...metadata } = (object as unknown as WorkObject).metadata;
  // An object that its API server is to name has the qualifier alone.
  const named = key.name === '' ? metadata : { ...metadata, name: key.name };
  return { ...object, apiVersion: apiVersionOf(kind.resource), kind: kind.resource.kind, metadata: named } as T;
}

/** A write of status and metadata: several writes for these kinds, each conditional on the one before. */
async function patchStatus(
  client: KubeClient,
  place: Place,
  patch: Patch,
  cached: () => DeepReadonly<WorkObject> | undefined,
  options: WriteOptions | undefined,
): Promise<WorkObject> {
  const { kind, key } = place;
  if (patch.type === 'json') return asRead(kind, await client.patchStatus(kind.resource, key, patch, options));
  const { metadata = {}, status } = patch.body as StatusBody;
  const { uid, resourceVersion, ...changes } = metadata;
  const changed = patch.type === 'strategic' ? status?.conditions : undefined;
  const read = async (): Promise<WorkObject> =>
    asRead(kind, await client.get(kind.resource, key, omitUndefined({ signal: options?.signal })));
  for (let tries = 1; ; tries++) {
    const present = changed === undefined ? undefined : ((tries === 1 ? cached() : undefined) ?? (await read()));
    const merged = changed === undefined ? {} : { conditions: mergedConditions(present?.status?.conditions ?? [], changed) };
    const stored: Partial<StoredStatus> =
      status === undefined ? {} : kind.home.stored({ ...status, ...merged } as DeepReadonly<WorkStatus>);
    const condition = resourceVersion ?? present?.metadata.resourceVersion;
    try {
      return asRead(kind, await writeBoth(client, place, { uid, resourceVersion: condition }, changes, stored, options));
    } catch (error) {
      if (!isConflict(error) || resourceVersion !== undefined || tries === CONDITION_TRIES) throw error;
    }
  }
}

async function writeBoth(
  client: KubeClient,
  { kind, key }: Place,
  given: { readonly uid: string | undefined; readonly resourceVersion: string | undefined },
  changes: Readonly<Record<string, unknown>>,
  stored: Partial<StoredStatus>,
  options: WriteOptions | undefined,
): Promise<WorkObject> {
  const { annotations: changed = {}, ...others } = changes as { readonly annotations?: Record<string, string> };
  const { [LAST_FAILURE_ANNOTATION]: failure, ...left } = changed;
  const status = Object.keys(stored.status ?? {}).length === 0 ? undefined : stored.status;
  const patch = (on: typeof given, more: object): Promise<WorkObject> => {
    const metadata = { ...omitUndefined({ uid: on.uid, resourceVersion: on.resourceVersion }), ...more };
    return client.patch<WorkObject>(kind.resource, key, { type: 'merge', body: { metadata } }, options);
  };
  // Whoever waits for the end of an object reads there by then why it has failed.
  const isToldFirst = status !== undefined && failure !== undefined;
  const told = isToldFirst ? (await patch(given, { annotations: { [LAST_FAILURE_ANNOTATION]: failure } })).metadata : given;
  const annotations = { ...(isToldFirst ? left : changed), ...stored.annotations };
  const metadata = { ...others, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  const first =
    status === undefined
      ? undefined
      : await client.patchStatus<WorkObject>(
          kind.resource,
          key,
          { type: 'merge', body: { metadata: omitUndefined({ uid: told.uid, resourceVersion: told.resourceVersion }), status } },
          options,
        );
  if (first !== undefined && Object.keys(metadata).length === 0) return first;
  return patch(first?.metadata ?? told, metadata);
}

type Place = { readonly kind: SingleKind; readonly key: ObjectKey };
type Reference = { readonly apiVersion?: string; readonly kind?: string; readonly name?: string };
type EventLike = {
  readonly metadata: { readonly name?: string; readonly ownerReferences?: readonly Reference[] };
  readonly involvedObject: Reference;
  readonly message?: string;
};
type StatusBody = {
  readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string; readonly [field: string]: unknown };
  readonly status?: { readonly conditions?: readonly JobCondition[]; readonly [field: string]: unknown };
};

/** Of a list, only its resource says which kind it is of. */
const NOBODY: ObjectKey = { namespace: '', name: '' };

const keyIn = ({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name: string } }): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

/** As a strategic merge patch of a Job's status does it: by type. */
function mergedConditions(present: readonly DeepReadonly<JobCondition>[], changed: readonly JobCondition[]): DeepReadonly<JobCondition>[] {
  const types = new Set(changed.map(({ type }) => type));
  return [...present.filter(({ type }) => !types.has(type)), ...changed];
}

async function* readEvents(stream: WatchStream<WorkObject>, read: (object: WorkObject) => WorkObject): WatchStream<WorkObject> {
  for await (const batch of stream)
    yield batch.map((event): WatchEvent<WorkObject> => (event.type === 'BOOKMARK' ? event : { ...event, object: read(event.object) }));
}
