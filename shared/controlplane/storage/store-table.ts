import { createLabelIndex, type LabelIndex } from './label-index.ts';
import { type Change, compareKeys, createOrderedObjects, type OrderedObjects, withChanges } from './ordered-objects.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { StoredObject } from './stored-object.ts';

/** One write. For a deletion `current` is the object as last stored, with the revision of the deletion. */
export type StoreEvent = {
  readonly revision: number;
  readonly deleted: boolean;
  readonly current: StoredObject;
  readonly previous: StoredObject | undefined;
  readonly atMs: number;
};

export type Subscription = {
  /** '' for all namespaces. */
  readonly namespace: string;
  /** Only objects of this name; '' for all. */
  readonly name: string;
  next(event: StoreEvent): void;
};

/** The objects of one resource, in the order of their storage keys, and what happened to them lately. */
export interface Table {
  readonly name: string;
  get(namespace: string, name: string): StoredObject | undefined;
  /** How many objects there are. */
  size(): number;
  /** The objects of one namespace ('' for all), ordered by key. Shared: not to be changed. */
  list(namespace: string): readonly StoredObject[];
  /** As `list`, narrowed to the objects that carry a label; cheap when asked again. Undefined when not indexed yet. */
  listByLabel(namespace: string, key: string, values: readonly string[]): readonly StoredObject[];
  /** As `list`, at an older revision that is still remembered. */
  listAt(namespace: string, revision: number): readonly StoredObject[];
  /** Stores an object and gives it the next revision as its resourceVersion. */
  put(object: AnyObject): StoredObject;
  /** Takes an object out. Returns it with the revision of the deletion. */
  remove(stored: StoredObject): StoredObject;
  /** Puts back what was on disk, without an event. */
  restore(object: AnyObject, text: string, revision: number): void;
  /** The newest revision whose events are forgotten; a watch may start at this one or later. */
  compactedRevision(): number;
  /** Forgets the events up to `revision`. */
  compact(revision: number): void;
  /**
   * The object of an update as watchers see it whose selector it no longer matches: the old one, with the version of the write. Made once
   * for all.
   */
  departed(event: StoreEvent): StoredObject | undefined;
  /** Published events after `revision`. */
  eventsSince(revision: number): readonly StoreEvent[];
  subscribe(subscription: Subscription): () => void;
  publish(event: StoreEvent): void;
}

type TableOptions = {
  readonly name: string;
  readonly compactedRevision: number;
  readonly window: { readonly events: number; readonly ageMs: number };
  now(): number;
  nextRevision(): number;
  /** Called for each write; leads to `publish` at once or when the write is durable. */
  written(event: StoreEvent): void;
};

export function createTable(options: TableOptions): Table {
  /** By namespace; none is empty. */
  const namespaces = new Map<string, OrderedObjects>();
  const subscriptions = new Map<string, Set<Subscription>>();
  const labelIndex: LabelIndex = createLabelIndex();
  let compacted = options.compactedRevision;
  let events: StoreEvent[] = [];
  /** Index in `events` of the oldest one remembered; the array is cut only when half of it is forgotten. */
  let oldest = 0;
  const departures = new WeakMap<StoreEvent, StoredObject>();
  /** Written, in order, but not published yet. */
  const unpublished: StoreEvent[] = [];

  const get = (namespace: string, name: string): StoredObject | undefined => namespaces.get(namespace)?.get(name);
  const insert = (stored: StoredObject, previous: StoredObject | undefined): void => {
    let objects = namespaces.get(stored.namespace);
    if (objects === undefined) namespaces.set(stored.namespace, (objects = createOrderedObjects(stored.namespace)));
    objects.set(stored);
    labelIndex.replace(previous, stored);
  };
  const list = (namespace: string): readonly StoredObject[] => {
    if (namespace !== '' || namespaces.size <= 1) {
      const objects = namespace === '' ? namespaces.values().next().value : namespaces.get(namespace);
      return objects?.list() ?? [];
    }
    const names = [...namespaces.keys()].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
    return names.flatMap((each) => namespaces.get(each)?.list() ?? []);
  };

  const forget = (): void => {
    const horizonMs = options.now() - options.window.ageMs;
    while (oldest < events.length) {
      const event = events[oldest];
      if (event === undefined || (events.length - oldest <= options.window.events && event.atMs >= horizonMs)) break;
      compacted = event.revision;
      oldest++;
    }
    if (oldest > 1024 && oldest * 2 > events.length) {
      events = events.slice(oldest);
      oldest = 0;
    }
  };
  /** Index in `events` of the first event after `revision`. */
  const firstAfter = (revision: number): number => {
    let low = oldest;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((events[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const write = (event: StoreEvent): void => {
    unpublished.push(event);
    options.written(event);
  };

  return {
    name: options.name,
    get,
    size: () => [...namespaces.values()].reduce((sum, objects) => sum + objects.size(), 0),
    list,
    listByLabel: (namespace, key, values) =>
      labelIndex
        .find(key, values, () => list(''))
        .filter((stored) => namespace === '' || stored.namespace === namespace)
        .sort(compareKeys),
    listAt: (namespace, revision) => {
      const changed = new Map<string, Change>();
      const undo = ({ current, previous, revision: at }: StoreEvent): void => {
        if (at <= revision || (namespace !== '' && current.namespace !== namespace)) return;
        changed.set(`${current.namespace}/${current.name}`, { namespace: current.namespace, name: current.name, now: previous });
      };
      for (const event of unpublished.toReversed()) undo(event);
      for (const event of events.slice(firstAfter(revision)).reverse()) undo(event);
      const now = list(namespace);
      return changed.size === 0 ? now : withChanges(now, [...changed.values()]);
    },
    put: (object) => {
      const revision = options.nextRevision();
      object.metadata.resourceVersion = String(revision);
      const namespace = object.metadata.namespace ?? '';
      const stored: StoredObject = { namespace, name: object.metadata.name, revision, object, text: JSON.stringify(object) };
      const previous = get(namespace, stored.name);
      insert(stored, previous);
      write({ revision, deleted: false, current: stored, previous, atMs: options.now() });
      return stored;
    },
    remove: (stored) => {
      const objects = namespaces.get(stored.namespace);
      objects?.delete(stored.name);
      if (objects?.size() === 0) namespaces.delete(stored.namespace);
      labelIndex.replace(stored, undefined);
      const revision = options.nextRevision();
      const object = { ...stored.object, metadata: { ...stored.object.metadata, resourceVersion: String(revision) } };
      const last: StoredObject = { ...stored, revision, object, text: JSON.stringify(object) };
      write({ revision, deleted: true, current: last, previous: stored, atMs: options.now() });
      return last;
    },
    restore: (object, text, revision) =>
      insert(
        { namespace: object.metadata.namespace ?? '', name: object.metadata.name, revision, object, text },
        get(object.metadata.namespace ?? '', object.metadata.name),
      ),
    compactedRevision: () => {
      forget();
      return compacted;
    },
    compact: (revision) => {
      oldest = firstAfter(revision);
      compacted = Math.max(compacted, revision);
    },
    departed: (event) => {
      const { previous, revision } = event;
      if (previous === undefined) return undefined;
      const known = departures.get(event);
      if (known !== undefined) return known;
      const object = { ...previous.object, metadata: { ...previous.object.metadata, resourceVersion: String(revision) } };
      const made = { ...previous, revision, object, text: JSON.stringify(object) };
      departures.set(event, made);
      return made;
    },
    eventsSince: (revision) => events.slice(firstAfter(revision)),
    subscribe: (subscription) => {
      const group = subscriptions.get(subscription.namespace) ?? new Set();
      subscriptions.set(subscription.namespace, group.add(subscription));
      return () => {
        group.delete(subscription);
        if (group.size === 0 && subscriptions.get(subscription.namespace) === group) subscriptions.delete(subscription.namespace);
      };
    },
    publish: (event) => {
      unpublished.shift();
      events.push(event);
      forget();
      for (const namespace of event.current.namespace === '' ? [''] : ['', event.current.namespace]) {
        for (const subscription of subscriptions.get(namespace) ?? []) {
          if (subscription.name === '' || subscription.name === event.current.name) subscription.next(event);
        }
      }
    },
  };
}
