import { toWireTime } from '../../api/wire-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { API_SERVER_USER } from '../auth/user-info.ts';
import { asCrd, CLEANUP_FINALIZER, type Crd, type CrdVersion, hasCondition } from './crd.ts';
import { withCondition } from './crd-conditions.ts';
import { establish } from './crd-lifecycle.ts';
import { resourcesFromCrd } from './custom-resource.ts';
import { readAnew } from './read-anew.ts';
import type { Registry } from '../registry/registry.ts';
import type { WriteRequest } from '../registry/write-request.ts';
import type { ServedResource, ServedResources } from '../resources/served-resources.ts';
import type { Store } from '../storage/store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Table } from '../storage/store-table.ts';

export type CustomResourcesDeps = {
  readonly store: Store;
  readonly resources: ServedResources;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Serves what the stored CustomResourceDefinitions describe, and follows them. */
export interface CustomResources {
  /** The version of a CRD that a served resource comes from. */
  versionOf(resource: ServedResource): CrdVersion | undefined;
  stop(): void;
}

type Served = { readonly group: string; readonly version: string; readonly plural: string };

/** Establishes and serves every CRD there is, then reacts to each change of one. */
export function serveCustomResources(deps: CustomResourcesDeps, crds: ServedResource): CustomResources {
  const followed = new FollowedDefinitions(deps, crds);
  followed.begin();
  return followed;
}

class FollowedDefinitions implements CustomResources {
  readonly #deps: CustomResourcesDeps;
  readonly #crds: ServedResource;
  readonly #served = new Map<string, readonly Served[]>();
  readonly #versions = new Map<string, CrdVersion>();
  readonly #cleanups = new Map<string, () => void>();
  #stopped = false;
  #unsubscribe: () => void = () => undefined;

  constructor(deps: CustomResourcesDeps, crds: ServedResource) {
    this.#deps = deps;
    this.#crds = crds;
  }

  begin(): void {
    const { table } = this.#crds;
    this.#unsubscribe = table.subscribe({ namespace: '', name: '', next: ({ current }) => this.#later(current.name) });
    for (const { name } of table.list('')) this.#follow(name);
  }

  versionOf({ definition }: ServedResource): CrdVersion | undefined {
    return this.#versions.get(keyOf(definition));
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    for (const stop of this.#cleanups.values()) stop();
  }

  /** Subscribers hear of a write while it is being made; what follows from it is written after it. */
  #later(name: string): void {
    queueMicrotask(() => {
      try {
        this.#follow(name);
      } catch (error) {
        this.#deps.log.error('custom resource definition cannot be served', { definition: name, error });
      }
    });
  }

  #follow(name: string): void {
    if (this.#stopped) return;
    const stored = this.#crds.table.get('', name);
    if (stored === undefined) return this.#withdraw(name);
    const crd = asCrd(stored.object);
    if (crd.metadata.deletionTimestamp !== undefined) return this.#cleanUp(stored, crd);
    const others = this.#crds.table.list('').map(({ object }) => asCrd(object));
    const status = establish(crd, others, toWireTime(this.#deps.clock.now()));
    // Writing the status leads here again, with nothing left to say.
    if (status !== undefined) return this.#writeCrd(name, (current) => ({ ...current, metadata: { ...current.metadata }, status }));
    if (hasCondition(crd, 'Established')) this.#serve(name, crd);
  }

  #withdraw(name: string): void {
    for (const { group, version, plural } of this.#served.get(name) ?? []) {
      this.#deps.resources.remove(group, version, plural);
      this.#versions.delete(keyOf({ group, version, plural }));
    }
    this.#served.delete(name);
  }

  /** Deletes all objects of a CRD that is going, then lets it go. Objects with finalizers hold it up. */
  #cleanUp(stored: StoredObject, crd: Crd): void {
    const { clock, store } = this.#deps;
    const { name } = stored;
    if (!(crd.metadata.finalizers ?? []).includes(CLEANUP_FINALIZER)) return;
    if (!crd.status?.conditions?.some(({ reason }) => reason === DELETING_INSTANCES.reason)) {
      const now = toWireTime(clock.now());
      // Writing the status leads here again, to do what it says.
      return this.#writeCrd(name, (current) => ({
        ...current,
        metadata: { ...current.metadata },
        status: withCondition(current.status, DELETING_INSTANCES, now),
      }));
    }
    const table = store.table(`${crd.spec?.group ?? ''}/${crd.spec?.names?.plural ?? ''}`);
    if (table.list('').length > 0) {
      if (this.#cleanups.has(name)) return;
      // Served until the last object has gone, but for creates.
      this.#serve(name, crd);
      this.#cleanups.set(name, this.#deleteAll(table, name));
      return;
    }
    this.#cleanups.get(name)?.();
    this.#cleanups.delete(name);
    this.#writeCrd(name, (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
  }

  #writeCrd(name: string, change: (crd: Crd) => Crd): void {
    this.#deps.registry.modify({ ...requestFor(this.#crds), name }, {}, ({ object }) => change(asCrd(object)));
  }

  #serve(name: string, crd: Crd): void {
    const { store, resources } = this.#deps;
    const next = resourcesFromCrd(crd);
    const keys = next.map(({ definition: { group, version, plural } }) => ({ group, version, plural }));
    this.#withdraw(name);
    readAnew(store.table(`${crd.spec?.group ?? ''}/${crd.spec?.names?.plural ?? ''}`), crd);
    for (const { definition, schema, version } of next) {
      resources.add(definition, schema, true);
      this.#versions.set(keyOf(definition), version);
    }
    this.#served.set(name, keys);
  }

  /** Deletes what is there and looks at the CRD again whenever an object has gone. */
  #deleteAll(table: Table, name: string): () => void {
    const { resources, registry, log } = this.#deps;
    const resource = this.#served.get(name)?.map(({ group, version, plural }) => resources.find(group, version, plural))[0];
    const unsubscribe = table.subscribe({ namespace: '', name: '', next: ({ deleted }) => deleted && this.#later(name) });
    if (resource === undefined) return unsubscribe;
    for (const { namespace, name: objectName } of table.list('')) {
      registry
        .delete({ ...requestFor(resource), namespace, name: objectName }, DELETE_IN_BACKGROUND)
        .catch((error: unknown) =>
          log.error('custom resource of a deleted definition stays', { definition: name, namespace, name: objectName, error }),
        );
    }
    return unsubscribe;
  }
}

const keyOf = ({ group, version, plural }: Served): string => `${group}/${version}/${plural}`;

const DELETING_INSTANCES = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

const DELETE_IN_BACKGROUND = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
};

const requestFor = (resource: ServedResource): WriteRequest => ({
  resource,
  namespace: '',
  name: '',
  subresource: '',
  user: API_SERVER_USER,
  dryRun: false,
  options: {},
  warn: () => undefined,
});
