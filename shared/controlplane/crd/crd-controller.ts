import { type Clock, toWireTime } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { UserInfo } from '../control-plane.ts';
import type { Registry } from '../registry.ts';
import type { ServedResources } from '../served-resources.ts';
import { StatusError } from '../status-error.ts';
import type { Store } from '../store.ts';
import type { StoredObject, Table } from '../store-table.ts';
import type { AnyObject } from '../strategy.ts';
import { asCrd, CLEANUP_FINALIZER, type Crd, hasCondition } from './crd.ts';
import { withCondition } from './crd-conditions.ts';
import { establish } from './crd-lifecycle.ts';
import { type CustomResource, resourcesFromCrd } from './custom-resource.ts';
import { applySchemaDefaults } from './schema-defaults.ts';
import { pruneUnknownFields } from './schema-pruning.ts';

export type CrdControllerDeps = {
  readonly store: Store;
  readonly resources: ServedResources;
  readonly registry: Registry;
  readonly user: UserInfo;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * Follows the stored CRDs: accepts names, serves what is established, stops serving and removes the objects of what is
 * deleted. The naming, establishing and finalizing controllers of apiextensions in one.
 */
export interface CrdController {
  /** Serves the CRDs that are there and follows changes until `stop`. */
  start(): void;
  stop(): void;
}

/** What is served for one CRD at the moment. */
type Served = { readonly source: string; readonly versions: readonly CustomResource[]; readonly unsubscribe: () => void };

export function createCrdController(deps: CrdControllerDeps): CrdController {
  const { store, resources, clock } = deps;
  const crds = store.table('apiextensions.k8s.io/customresourcedefinitions');
  const served = new Map<string, Served>();
  const cleaning = new Set<string>();
  let unsubscribe: (() => void) | undefined;

  const reconcile = (name: string): void => {
    const stored = crds.get('', name);
    if (unsubscribe === undefined) return;
    if (stored === undefined) return withdraw(name);
    const crd = asCrd(stored.object);
    if (crd.metadata.deletionTimestamp !== undefined) return cleanUp(stored, crd);
    const others = crds.list('').map(({ object }) => asCrd(object));
    const status = establish(crd, others, toWireTime(clock.now()));
    if (status !== undefined) crds.put({ ...stored.object, status });
    else if (hasCondition(crd, 'Established')) serve(crd);
  };
  /** Not within the write that asks for it: its answer shows the CRD as it was stored. */
  const reconcileSoon = (name: string): void => queueMicrotask(() => reconcile(name));

  function serve(crd: Crd): void {
    const { name } = crd.metadata;
    const source = JSON.stringify([crd.spec, crd.status?.acceptedNames]);
    const current = served.get(name);
    if (current?.source === source) return;
    const versions = resourcesFromCrd(crd);
    const table = tableOf(crd);
    if (current !== undefined) readAnew(table, crd);
    withdraw(name);
    for (const { definition, schema } of versions) resources.add(definition, schema, true);
    served.set(name, { source, versions, unsubscribe: followDeletions(table, name) });
  }

  function withdraw(name: string): void {
    const current = served.get(name);
    if (current === undefined) return;
    current.unsubscribe();
    for (const { definition } of current.versions) resources.remove(definition.group, definition.version, definition.plural);
    served.delete(name);
  }

  const tableOf = (crd: Crd): Table => store.table(`${crd.spec?.group}/${crd.status?.acceptedNames?.plural}`);
  /** The last custom resource to go lets its terminating CRD go. */
  const followDeletions = (table: Table, name: string): (() => void) =>
    table.subscribe({ namespace: '', name: '', next: ({ deleted }) => deleted && reconcileSoon(name) });

  function cleanUp(stored: StoredObject, crd: Crd): void {
    const { name } = crd.metadata;
    const finalizers = crd.metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP_FINALIZER)) return;
    const remaining = tableOf(crd).list('');
    if (remaining.length > 0) return void removeInstances(crd, remaining);
    withdraw(name);
    const rest = finalizers.filter((each) => each !== CLEANUP_FINALIZER);
    const message = 'removed all instances';
    const condition = { type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted', message };
    const status = withCondition(crd.status, condition, toWireTime(clock.now()));
    if (rest.length === 0) crds.remove(stored);
    else crds.put({ ...stored.object, metadata: { ...stored.object.metadata, finalizers: rest }, status });
  }

  async function removeInstances(crd: Crd, instances: readonly StoredObject[]): Promise<void> {
    const { name } = crd.metadata;
    const resource = served.get(name)?.versions[0]?.definition;
    const target = resource === undefined ? undefined : resources.find(resource.group, resource.version, resource.plural);
    if (target === undefined || cleaning.has(name)) return;
    cleaning.add(name);
    try {
      for (const each of instances) {
        if (each.object.metadata.deletionTimestamp !== undefined) continue;
        const options = {
          gracePeriodSeconds: undefined,
          propagationPolicy: undefined,
          orphanDependents: undefined,
          preconditions: {},
          dryRun: false,
        };
        const request = {
          resource: target,
          namespace: each.namespace,
          name: each.name,
          subresource: '',
          user: deps.user,
          dryRun: false,
          options: {},
          warn: () => undefined,
        };
        await deps.registry.delete(request, options);
      }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      deps.log.warn('custom resource of a terminating definition could not be deleted', { crd: name, error });
    } finally {
      cleaning.delete(name);
    }
  }

  return {
    start: () => {
      unsubscribe = crds.subscribe({ namespace: '', name: '', next: ({ current }) => reconcileSoon(current.name) });
      for (const { name } of crds.list('')) reconcile(name);
    },
    stop: () => {
      unsubscribe?.();
      unsubscribe = undefined;
      for (const name of served.keys()) withdraw(name);
    },
  };
}

/** Stored objects are pruned and defaulted whenever they are read; with a new schema they read differently. */
function readAnew(table: Table, crd: Crd): void {
  const schema = crd.spec?.versions?.find(({ storage }) => storage === true)?.schema?.openAPIV3Schema;
  for (const { object, text, revision } of table.list('')) {
    const next = structuredClone(object) satisfies AnyObject;
    pruneUnknownFields(next, schema, true);
    applySchemaDefaults(next, schema);
    const nextText = JSON.stringify(next);
    if (nextText !== text) table.restore(next, nextText, revision);
  }
}
