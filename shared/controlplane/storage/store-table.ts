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
  return new ObjectTable(options);
}

class ObjectTable implements Table {
  readonly #options: TableOptions;
  /** By namespace; none is empty. */
  readonly #namespaces = new Map<string, OrderedObjects>();
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  readonly #labelIndex: LabelIndex = createLabelIndex();
  #compacted: number;
  #events: StoreEvent[] = [];
  /** Index in `events` of the oldest one remembered; the array is cut only when half of it is forgotten. */
  #oldest = 0;
  readonly #departures = new WeakMap<StoreEvent, StoredObject>();
  /** Written, in order, but not published yet. */
  readonly #unpublished: StoreEvent[] = [];
  readonly name: string;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#compacted = options.compactedRevision;
    this.name = options.name;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  size(): number {
    return [...this.#namespaces.values()].reduce((sum, objects) => sum + objects.size(), 0);
  }

  list(namespace: string): readonly StoredObject[] {
    if (namespace !== '' || this.#namespaces.size <= 1) {
      const objects = namespace === '' ? this.#namespaces.values().next().value : this.#namespaces.get(namespace);
      return objects?.list() ?? [];
    }
    const names = [...this.#namespaces.keys()].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
    return names.flatMap((each) => this.#namespaces.get(each)?.list() ?? []);
  }

  listByLabel(namespace: string, key: string, values: readonly string[]): readonly StoredObject[] {
    return this.#labelIndex
      .find(key, values, () => this.list(''))
      .filter((stored) => namespace === '' || stored.namespace === namespace)
      .sort(compareKeys);
  }

  listAt(namespace: string, revision: number): readonly StoredObject[] {
    const changed = new Map<string, Change>();
    const undo = ({ current, previous, revision: at }: StoreEvent): void => {
      if (at <= revision || (namespace !== '' && current.namespace !== namespace)) return;
      changed.set(`${current.namespace}/${current.name}`, { namespace: current.namespace, name: current.name, now: previous });
    };
    for (const event of this.#unpublished.toReversed()) undo(event);
    for (const event of this.#events.slice(this.#firstAfter(revision)).reverse()) undo(event);
    const now = this.list(namespace);
    return changed.size === 0 ? now : withChanges(now, [...changed.values()]);
  }

  /** Index in `events` of the first event after `revision`. */
  #firstAfter(revision: number): number {
    let low = this.#oldest;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  put(object: AnyObject): StoredObject {
    const revision = this.#options.nextRevision();
    object.metadata.resourceVersion = String(revision);
    const namespace = object.metadata.namespace ?? '';
    const stored: StoredObject = { namespace, name: object.metadata.name, revision, object, text: JSON.stringify(object) };
    const previous = this.get(namespace, stored.name);
    this.#insert(stored, previous);
    this.#write({ revision, deleted: false, current: stored, previous, atMs: this.#options.now() });
    return stored;
  }

  #insert(stored: StoredObject, previous: StoredObject | undefined): void {
    let objects = this.#namespaces.get(stored.namespace);
    if (objects === undefined) this.#namespaces.set(stored.namespace, (objects = createOrderedObjects(stored.namespace)));
    objects.set(stored);
    this.#labelIndex.replace(previous, stored);
  }

  #write(event: StoreEvent): void {
    this.#unpublished.push(event);
    this.#options.written(event);
  }

  remove(stored: StoredObject): StoredObject {
    const objects = this.#namespaces.get(stored.namespace);
    objects?.delete(stored.name);
    if (objects?.size() === 0) this.#namespaces.delete(stored.namespace);
    this.#labelIndex.replace(stored, undefined);
    const revision = this.#options.nextRevision();
    const object = { ...stored.object, metadata: { ...stored.object.metadata, resourceVersion: String(revision) } };
    const last: StoredObject = { ...stored, revision, object, text: JSON.stringify(object) };
    this.#write({ revision, deleted: true, current: last, previous: stored, atMs: this.#options.now() });
    return last;
  }

  restore(object: AnyObject, text: string, revision: number): void {
    this.#insert(
      { namespace: object.metadata.namespace ?? '', name: object.metadata.name, revision, object, text },
      this.get(object.metadata.namespace ?? '', object.metadata.name),
    );
  }

  compactedRevision(): number {
    this.#forget();
    return this.#compacted;
  }

  #forget(): void {
    const horizonMs = this.#options.now() - this.#options.window.ageMs;
    while (this.#oldest < this.#events.length) {
      const event = this.#events[this.#oldest];
      if (event === undefined || (this.#events.length - this.#oldest <= this.#options.window.events && event.atMs >= horizonMs)) break;
      this.#compacted = event.revision;
      this.#oldest++;
    }
    if (this.#oldest > 1024 && this.#oldest * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#oldest);
      this.#oldest = 0;
    }
  }

  compact(revision: number): void {
    this.#oldest = this.#firstAfter(revision);
    this.#compacted = Math.max(this.#compacted, revision);
  }

  departed(event: StoreEvent): StoredObject | undefined {
    const { previous, revision } = event;
    if (previous === undefined) return undefined;
    const known = this.#departures.get(event);
    if (known !== undefined) return known;
    const object = { ...previous.object, metadata: { ...previous.object.metadata, resourceVersion: String(revision) } };
    const made = { ...previous, revision, object, text: JSON.stringify(object) };
    this.#departures.set(event, made);
    return made;
  }

  eventsSince(revision: number): readonly StoreEvent[] {
    return this.#events.slice(this.#firstAfter(revision));
  }

  subscribe(subscription: Subscription): () => void {
    const group = this.#subscriptions.get(subscription.namespace) ?? new Set();
    this.#subscriptions.set(subscription.namespace, group.add(subscription));
    return () => {
      group.delete(subscription);
      if (group.size === 0 && this.#subscriptions.get(subscription.namespace) === group) this.#subscriptions.delete(subscription.namespace);
    };
  }

  publish(event: StoreEvent): void {
    this.#unpublished.shift();
    this.#events.push(event);
    this.#forget();
    for (const namespace of event.current.namespace === '' ? [''] : ['', event.current.namespace]) {
      for (const subscription of this.#subscriptions.get(namespace) ?? []) {
        if (subscription.name === '' || subscription.name === event.current.name) subscription.next(event);
      }
    }
  }
}
