/**
 * Kueue's situations of MultiKueue, for each kind that the chart describes: each in a world of its own kind, with a scripted operator that
 * says what the kind's own operator says. By default three kinds are played, each of another form; with SWITCHYARD_SLOW=1 all of them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { JobCondition, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { parsePath, valueAt } from '../../shared/api/field-path.ts';
import { ADMISSION_ANNOTATION, COPIES_FINALIZER, HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, type Resource } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createCrds } from '../support/crds.ts';
import { isSlow } from '../support/slow.ts';
import { SHIPPED, shippedKind } from '../unit/manager/work-kind/described/described.ts';
import { anObject, sampleOf } from '../unit/manager/work-kind/described/kind-samples.ts';
import { createWholeWorld, HOME, NAMESPACE, type WholeWorld } from './whole-world.ts';

const PLAYED = isSlow ? [...SHIPPED.keys()].toSorted() : ['JobSet', 'MPIJob', 'RayJob'];
const PUBLISHED = path.join(import.meta.dirname, '../../../shared/kinds');
const published = existsSync(PUBLISHED) ? readdirSync(PUBLISHED).filter((name) => name.endsWith('.json')) : [];

type Definition = { readonly spec: { readonly names: { readonly kind: string } } };

/** The definition that the kind's project publishes, where it lies beside this project; else one that takes every object. */
function definitionOf(name: string): object {
  const found = published
    .map((file) => JSON.parse(readFileSync(path.join(PUBLISHED, file), 'utf8')) as Definition)
    .find(({ spec }) => spec.names.kind === name);
  if (found !== undefined) return found;
  const { group, version, plural, kind } = shippedKind(name).resource;
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec: anything, status: anything } };
  const versions = [{ name: version, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }];
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
  return { metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Namespaced', names, versions } };
}

describe.each(PLAYED)('a %s', (name) => {
  const kind = shippedKind(name);
  const sample = sampleOf(name);
  const resource = kind.resource as Resource<WorkObject>;
  let world: WholeWorld;

  beforeAll(async () => {
    world = await createWholeWorld({
      clusters: ['east', 'west'],
      async install(client, cluster) {
        if (cluster === HOME) await createCrds(client);
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(definitionOf(name)) as never);
      },
    });
    for (const cluster of ['east', 'west']) world.startWorker(cluster, `worker-${cluster}`);
    const roomy = { type: 'merge', body: { spec: { capacity: { cpu: '64' } } } } as const;
    for (const cluster of ['east', 'west']) await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, roomy);
    // The submitter of a RayJob requests memory.
    const ignoring = { type: 'merge', body: { spec: { quotaCheckStrategy: 'IgnoreUndeclared' } } } as const;
    await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, ignoring);
    world.startManager('one', { parts: { kinds: [kind] } });
    await world.clock.advance(15_000);
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    for (const { metadata } of (await world.home.list(resource)).items) await world.home.delete(resource, keyOf(metadata.name));
    for (const cluster of ['east', 'west'])
      await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body: { spec: { state: 'Active' } } });
    await world.clock.advance(30_000);
  });

  const keyOf = (object: string) => ({ namespace: NAMESPACE, name: object });
  const manifest = (object: string): Unsaved<WorkObject> => {
    const { metadata, ...rest } = anObject(name);
    return { ...rest, metadata: { name: object, namespace: NAMESPACE, labels: metadata.labels ?? {} } };
  };
  const create = async (object: string, change: (manifest: Unsaved<WorkObject>) => Unsaved<WorkObject> = (each) => each): Promise<void> => {
    await world.home.create(resource, change(kind.prepared(manifest(object))));
    await world.clock.advance(5_000);
  };
  const onHome = (object: string): Promise<WorkObject> => world.home.get(resource, keyOf(object));
  const copyOn = (cluster: string, object: string): Promise<WorkObject | undefined> =>
    world
      .client(cluster)
      .get(resource, keyOf(object))
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
  const placeOf = async (object: string): Promise<string> => {
    const record = writtenRecordOf(await onHome(object));
    if (record.kind !== 'Record') throw new Error(`${object} is not admitted: ${JSON.stringify(conditionsOf(await onHome(object)))}`);
    return record.record.cluster;
  };
  /** All conditions of an object at home, wherever its kind has them. */
  const conditionsOf = (object: WorkObject): readonly JobCondition[] =>
    (kind.cache.whole(structuredClone(object)).status?.conditions ?? []) as JobCondition[];
  const says = async (cluster: string, object: string, status: object): Promise<void> => {
    await world.client(cluster).patchStatus(resource, keyOf(object), { type: 'merge', body: { status } });
    await world.clock.advance(5_000);
  };
  const hold = async (object: string, value: 'true' | null): Promise<void> => {
    const body = { metadata: { annotations: { [HOLD_ANNOTATION]: value } } };
    await world.home.patch(resource, keyOf(object), { type: 'merge', body });
    await world.clock.advance(5_000);
  };

  test('waits suspended, is admitted, and runs as a copy that its operator takes', async () => {
    await create('runs');
    const copy = await copyOn(await placeOf('runs'), 'runs');
    expect(copy && kind.isSuspended(copy)).toBe(false);
    // The definition of a TrainJob has its operator as the default.
    const { managedBy } = SHIPPED.get(name)?.spec ?? {};
    const manager = valueAt(copy, parsePath(managedBy?.path ?? '') ?? []);
    expect([undefined, ...(managedBy?.operator ?? [])]).toContain(manager);
    expect(kind.isSuspended(await onHome('runs'))).toBe(false);
  });

  test('has the status of its copy, without a condition of the copy alone', async () => {
    await create('status');
    await says(await placeOf('status'), 'status', sample.ready);
    const { conditions: _said, ...fields } = sample.ready as { readonly conditions?: unknown };
    const home = await onHome('status');
    expect(home.status).toMatchObject(fields);
    expect(findCondition(conditionsOf(home), 'Dispatched')?.status).toBe('True');
  });

  test.runIf(sample.reason !== '')('ends with its copy, which goes', async () => {
    await create('ends');
    const cluster = await placeOf('ends');
    await says(cluster, 'ends', sample.ready);
    await says(cluster, 'ends', sample.ended);
    const home = await onHome('ends');
    expect(findCondition(conditionsOf(home), 'Complete')).toMatchObject({ status: 'True', reason: sample.reason });
    expect(home.metadata.finalizers ?? []).not.toContain(COPIES_FINALIZER);
    expect(await copyOn(cluster, 'ends')).toBeUndefined();
  });

  test('is suspended with its copy when it is held, holds its quota until it rests, and goes on once released', async () => {
    await create('held');
    const cluster = await placeOf('held');
    await says(cluster, 'held', sample.ready);
    await hold('held', 'true');
    const copy = await copyOn(cluster, 'held');
    expect([copy && kind.isSuspended(copy), kind.isSuspended(await onHome('held'))]).toEqual([true, true]);
    expect(findCondition(conditionsOf(await onHome('held')), 'QuotaReserved')?.reason).not.toBe('Held');
    await says(cluster, 'held', sample.rests);
    expect(findCondition(conditionsOf(await onHome('held')), 'QuotaReserved')?.reason).toBe('Held');
    await hold('held', null);
    const again = await copyOn(await placeOf('held'), 'held');
    expect(again && kind.isSuspended(again)).toBe(false);
  });

  test('that is deleted at home goes there after its copy', async () => {
    await create('deleted');
    const cluster = await placeOf('deleted');
    await world.home.delete(resource, keyOf('deleted'));
    await world.clock.advance(30_000);
    expect(await copyOn(cluster, 'deleted')).toBeUndefined();
    await expect(onHome('deleted')).rejects.toThrow();
  });

  test('whose copy was deleted on its cluster gets another one, or ends there, and never two', async () => {
    await create('lost');
    const cluster = await placeOf('lost');
    await world.client(cluster).delete(resource, keyOf('lost'));
    await world.clock.advance(120_000);
    const copies = await Promise.all(['east', 'west'].map((each) => copyOn(each, 'lost')));
    expect(copies.filter((copy) => copy !== undefined).length).toBeLessThanOrEqual(1);
    const verdict = findCondition(conditionsOf(await onHome('lost')), 'Dispatched');
    expect(verdict?.message).toBeDefined();
  });

  test('of another manager is left alone', async () => {
    await create('foreign', (each) => {
      const text = JSON.stringify(each).replace(`"managedBy":"${sample.managedBy}"`, `"managedBy":"${foreignManager}"`);
      return JSON.parse(text) as Unsaved<WorkObject>;
    });
    expect((await onHome('foreign')).metadata.annotations?.[ADMISSION_ANNOTATION]).toBeUndefined();
  });
  const foreignManager = SHIPPED.get(name)?.spec.managedBy?.operator?.[0] ?? 'example.com/somebody';

  test('on a cluster that is drained moves once it rests', async () => {
    await create('moves');
    const cluster = await placeOf('moves');
    await says(cluster, 'moves', sample.ready);
    await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body: { spec: { state: 'Draining' } } });
    await world.clock.advance(10_000);
    await says(cluster, 'moves', sample.rests);
    await world.clock.advance(30_000);
    const now = await placeOf('moves');
    expect(now).not.toBe(cluster);
    expect(await copyOn(cluster, 'moves')).toBeUndefined();
    const copy = await copyOn(now, 'moves');
    expect(copy && kind.isSuspended(copy)).toBe(false);
  });
});
