/**
 * The kinds beside Jobs of which there are copies: the Leases of managers say which. The copies of a kind are cached once its objects can
 * be listed, and the worker may patch them.
 */
import { type FencedKind, fencedKindName, OPERATOR_GRACE_MS, type WorkOfKind } from '../../shared/api/fenced-kinds.ts';
import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { apiVersionOf } from '../../shared/api/resources.ts';
import { clientMay } from '../../shared/kube/access-reviews.ts';
import { isAbsent, isForbidden } from '../../shared/kube/api-error.ts';
import type { RawClient, ReadClient, WatchClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { createInformerOfNamespaces } from '../../shared/kube/informer-of-namespaces.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { otherKindOf } from '../logs/keep-rule.ts';
import { compactCopy, copyIndexers, OF_ORIGIN, OF_ORIGINAL } from './copy-cache.ts';

export type WatchedKindsDeps = {
  readonly client: ReadClient & WatchClient & RawClient;
  /** Where copies are; empty: anywhere. */
  readonly namespaces: readonly string[];
  /** The copies of another kind are cached now, or will not be for a while. */
  readonly onSettled: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

/** An object of a watched kind. No other, of any kind, has its `key`. */
export type WatchedCopy = { readonly key: string; readonly kind: FencedKind; readonly copy: DeepReadonly<WorkOfKind> };

export type CopyHandler = {
  /** It is new, or has changed. */
  changed?(watched: WatchedCopy): void;
  deleted?(watched: WatchedCopy): void;
};

export interface WatchedKinds {
  /** There are copies of these kinds. */
  see(kinds: readonly FencedKind[]): void;
  /** Of the copies of all kinds. Call before the first {@link see}. */
  addHandler(handler: CopyHandler): void;
  get(key: string): WatchedCopy | undefined;
  /** The copies of a manager; undefined: of all. */
  ofOrigin(origin: string | undefined): readonly WatchedCopy[];
  /** The copies of an object of the manager cluster, by its UID. */
  ofOriginal(originUid: string): readonly WatchedCopy[];
  inNamespace(namespace: string): readonly WatchedCopy[];
  /** By `fencedKindName`, in alphabetical order. The copies of these are all cached. */
  cached(): readonly string[];
  /** Whether the copies of a kind are all cached, by its {@link otherKindOf}. */
  isCached(otherKind: string): boolean;
  /** The copies of a kind of which was heard a moment ago may not be cached yet. */
  isListing(): boolean;
  /** Watches the kinds until the signal aborts. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

type Part = {
  readonly kind: FencedKind;
  readonly name: string;
  readonly copies: Informer<WorkOfKind>;
  readonly sinceMs: number;
  isCached: boolean;
};

/** A kind that the cluster does not serve, or that the worker may not list there, is asked for again. */
const ASK_AGAIN_MS = 60_000;
const RETRY_MS = 2_000;
/** A manager waits for so much longer before it counts a copy of such a kind as stopped. */
const LISTING_MS = OPERATOR_GRACE_MS;
const SEPARATOR = '|';

export function createWatchedKinds(deps: WatchedKindsDeps): WatchedKinds {
  return new CachedKinds(deps);
}

class CachedKinds implements WatchedKinds {
  readonly #deps: WatchedKindsDeps;
  readonly #everywhere: readonly string[];
  readonly #parts = new Map<string, Part>();
  readonly #handlers: CopyHandler[] = [];
  readonly #started = Promise.withResolvers<AbortSignal>();
  readonly #watching: Promise<void>[] = [];

  constructor(deps: WatchedKindsDeps) {
    this.#deps = deps;
    this.#everywhere = deps.namespaces.length === 0 ? [''] : deps.namespaces;
  }

  see(kinds: readonly FencedKind[]): void {
    const { clock, onSettled } = this.#deps;
    for (const kind of kinds) {
      const name = fencedKindName(kind.resource);
      if (this.#parts.has(name)) continue;
      const part: Part = { kind, name, copies: this.#informerOf(kind), sinceMs: clock.monotonic(), isCached: false };
      this.#parts.set(name, part);
      const changed = (copy: DeepReadonly<WorkOfKind>): void => {
        for (const handler of this.#handlers) handler.changed?.(watchedIn(part, copy));
      };
      part.copies.addHandler({
        added: changed,
        updated: changed,
        deleted: (copy) => {
          for (const handler of this.#handlers) handler.deleted?.(watchedIn(part, copy));
        },
      });
      this.#watching.push(this.#started.promise.then((signal) => this.#watch(part, signal)));
      clock.schedule(() => {
        if (!part.isCached) onSettled();
      }, LISTING_MS);
    }
  }

  #informerOf(kind: FencedKind): Informer<WorkOfKind> {
    const { client, clock, random, log, namespaces } = this.#deps;
    const transform = (object: WorkOfKind): WorkOfKind => compactCopy(kind, object);
    const options = { client, clock, random, log, resource: kind.resource, transform, indexers: copyIndexers };
    if (namespaces.length === 0) return createInformer(options);
    return createInformerOfNamespaces(kind.resource, namespaces, (namespace) => createInformer({ ...options, namespace }));
  }

  async #watch(part: Part, signal: AbortSignal): Promise<void> {
    const { log, onSettled } = this.#deps;
    const { name, copies, kind } = part;
    if (!(await this.#untilUsable(kind, signal))) return;
    const running = copies.run(signal);
    await Promise.race([copies.waitForSync(), aborted(signal)]);
    if (!signal.aborted) {
      part.isCached = true;
      log.info('copies of a kind are stopped when their manager is out of reach', { kind: name });
      onSettled();
    }
    await running;
  }

  /** Asks until its objects can be listed, and may be patched; false when the signal has aborted. */
  async #untilUsable({ resource }: FencedKind, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#deps;
    const name = fencedKindName(resource);
    for (let isNew = true; !signal.aborted; isNew = false) {
      try {
        const usable = await Promise.all(this.#everywhere.map((namespace) => this.#isUsable(resource, namespace, signal)));
        if (!usable.includes(false)) return true;
        if (isNew) this.#warn(name);
        await sleep(clock, ASK_AGAIN_MS, signal);
      } catch (error) {
        if (signal.aborted) return false;
        if (isForbidden(error) && isNew) this.#warn(name, error);
        else if (!isAbsent(error) && !isForbidden(error)) log.warn('a kind of work cannot be listed yet', { kind: name, error });
        await sleep(clock, isAbsent(error) || isForbidden(error) ? ASK_AGAIN_MS : RETRY_MS, signal);
      }
    }
    return false;
  }

  async #isUsable(resource: FencedKind['resource'], namespace: string, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#deps;
    await client.list(resource, { namespace, limit: 1, signal });
    const resourceAttributes = { group: resource.group, resource: resource.plural, verb: 'patch', namespace };
    return clientMay(client, { resourceAttributes }, signal);
  }

  #warn(kind: string, error?: unknown): void {
    this.#deps.log.warn(
      'copies of a kind are not stopped when their manager is out of reach, and managers are told so: the worker may not list, watch and ' +
        'patch them; grant it (chart switchyard-worker: managerAccess.kinds or rbac.kinds)',
      { kind, error },
    );
  }

  addHandler(handler: CopyHandler): void {
    this.#handlers.push(handler);
  }

  get(key: string): WatchedCopy | undefined {
    const [name = '', ofCopy = ''] = key.split(SEPARATOR);
    const part = this.#parts.get(name);
    const copy = part?.copies.get(parseKey(ofCopy));
    return part === undefined || copy === undefined ? undefined : watchedIn(part, copy);
  }

  ofOrigin(origin: string | undefined): readonly WatchedCopy[] {
    return this.#inAll(({ copies }) => (origin === undefined ? copies.list() : copies.byIndex(OF_ORIGIN, origin)));
  }

  #inAll(copiesOf: (part: Part) => readonly DeepReadonly<WorkOfKind>[]): readonly WatchedCopy[] {
    return [...this.#parts.values()].flatMap((part) => copiesOf(part).map((copy) => watchedIn(part, copy)));
  }

  ofOriginal(originUid: string): readonly WatchedCopy[] {
    return this.#inAll(({ copies }) => copies.byIndex(OF_ORIGINAL, originUid));
  }

  inNamespace(namespace: string): readonly WatchedCopy[] {
    return this.#inAll(({ copies }) => copies.list(namespace));
  }

  cached(): readonly string[] {
    return [...this.#parts.values()].flatMap(({ name, isCached }) => (isCached ? [name] : [])).toSorted();
  }

  isListing(): boolean {
    return [...this.#parts.values()].some(({ isCached, sinceMs }) => !isCached && this.#deps.clock.monotonic() - sinceMs < LISTING_MS);
  }

  isCached(otherKind: string): boolean {
    return [...this.#parts.values()].some(
      ({ kind: { resource }, isCached }) =>
        isCached && otherKindOf({ apiVersion: apiVersionOf(resource), kind: resource.kind }) === otherKind,
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#started.resolve(signal);
    await aborted(signal);
    await Promise.all(this.#watching);
  }
}

const watchedIn = ({ name, kind }: Part, copy: DeepReadonly<WorkOfKind>): WatchedCopy => ({
  key: `${name}${SEPARATOR}${keyOfObject(copy)}`,
  kind,
  copy,
});
