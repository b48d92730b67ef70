/**
 * Goal: an object with several pod sets runs with as many pods of one of them as there is quota for, stays as its user wrote it, and gives
 * back what a pod set has finished while the others run: of the pods that its copy has, and of no other copy.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { type AdmissionRecord, writtenRecordOf } from '../../manager/api/records.ts';
import { describedKind } from '../../manager/work-kind/described/described-kind.ts';
import type { JobCondition, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../shared/api/resources.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createCrds } from '../support/crds.ts';
import { aCrew, compiled, CREW_DEFINITION, CREW_SPEC, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { createWholeWorld, HOME, NAMESPACE, type RunningManager, type WholeWorld } from './whole-world.ts';

const KEY = { namespace: NAMESPACE, name: 'argo' };
/** Ready once as many are aboard as its groups have hands: at home they are more than a part of it has. */
const ready = 'status.?aboardNow.orValue(0) >= spec.groups.map(g, g.hands).sum()';
const aKind = () => describedKind(compiled({ ...CREW_SPEC, state: { ...CREW_SPEC.state, ready } }));

let world: WholeWorld;
let manager: RunningManager;
beforeEach(async () => {
  world = await createWholeWorld({
    clusters: ['east'],
    async install(client, cluster) {
      if (cluster === HOME) await createCrds(client);
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
    },
  });
  for (const [name, pool] of [
    ['fast', 'ssd'],
    ['slow', 'hdd'],
  ])
    await world.home.create(RESOURCE_FLAVORS, { metadata: { name }, spec: { nodeLabels: { pool } } } as never);
  await quota('3', '4');
  world.startWorker('east', 'worker');
  manager = world.startManager('one', { parts: { kinds: [aKind()] } });
  await world.clock.advance(10_000);
});
afterEach(() => world.close());

async function quota(fast: string, slow: string): Promise<void> {
  const flavors = Object.entries({ fast, slow }).map(([name, nominalQuota]) => ({ name, resources: [{ name: 'cpu', nominalQuota }] }));
  const body = { spec: { resourceGroups: [{ coveredResources: ['cpu'], flavors }] } };
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  await world.clock.advance(10_000);
}
/** A captain for 500m, two on deck for 1 each, and three at oars for 2 each, of which one is enough. */
async function sail(): Promise<void> {
  const { metadata, spec, ...crew } = aCrew();
  const { uid: _uid, resourceVersion: _version, generation: _generation, creationTimestamp: _created, ...named } = metadata;
  const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
  await world.home.create(CREWS, { ...crew, metadata: named, spec: { ...spec, policy } } as Unsaved<WorkObject>);
  await world.clock.advance(10_000);
}
async function say(status: object, conditions: readonly Partial<JobCondition>[] = []): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const body = { status: { ...status, conditions: conditions.map((each) => ({ lastTransitionTime, ...each })) } };
  await world.client('east').patchStatus(CREWS, KEY, { type: 'merge', body });
  await world.clock.advance(10_000);
}
async function hold(value: 'true' | null): Promise<void> {
  await world.home.patch(CREWS, KEY, { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: value } } } });
  await world.clock.advance(10_000);
}
const rest = () => say({ phase: 'Moored', done: null }, [{ type: 'Moored', status: 'True', reason: 'Asked', message: 'all hands ashore' }]);

type Group = { readonly name: string; readonly hands: number; readonly pod: { readonly spec: { readonly nodeSelector?: object } } };
const groupsOf = ({ spec }: WorkObject) =>
  (spec as { readonly groups: readonly Group[] }).groups.map(({ name, hands, pod }) => [name, hands, pod.spec.nodeSelector]);
const onHome = (): Promise<WorkObject> => world.home.get(CREWS, KEY);
const copy = (): Promise<WorkObject> => world.client('east').get(CREWS, KEY);
async function record(): Promise<AdmissionRecord> {
  const written = writtenRecordOf(await onHome());
  if (written.kind !== 'Record') throw new Error('it has no record');
  return written.record;
}
async function runs(name: string): Promise<boolean> {
  await world.clock.advance(10_000);
  return (await world.job(name)).spec.suspend === false;
}
const HOME_GROUPS = [
  ['deck', 2, undefined],
  ['oars', 3, undefined],
];

test('of one pod set as many pods are admitted as fit, each set has its flavor, and only the copy has fewer', async () => {
  await sail();
  expect((await record()).podSets).toEqual([
    { name: 'captain', flavors: { cpu: 'fast' }, requests: { cpu: '500m', pods: '1' } },
    { name: 'deck', flavors: { cpu: 'fast' }, requests: { cpu: '2', pods: '2' } },
    { name: 'oars', flavors: { cpu: 'slow' }, requests: { cpu: '4', pods: '2' }, count: 2 },
  ]);
  expect(await record()).toMatchObject({ parallelism: 5, requests: { cpu: '6500m', pods: '5' } });
  expect(groupsOf(await copy())).toEqual([
    ['deck', 2, { pool: 'ssd' }],
    ['oars', 2, { pool: 'hdd' }],
  ]);
  expect(groupsOf(await onHome())).toEqual(HOME_GROUPS);
  await say({ phase: 'Sailing', aboardNow: 4 });
  const { status } = await onHome();
  expect(findCondition(status?.conditions, 'QuotaReserved')?.message).toBe('quota reserved in ClusterQueue "main" for 5 of 6 pods at once');
  expect(findCondition(status?.conditions, 'Started')?.status).toBe('True');
  expect(aKind().progress(await onHome())).toMatchObject({ active: 5, ready: 5 });
  manager.kill();
  world.startManager('two', { parts: { kinds: [aKind()] } });
  await world.clock.advance(60_000);
  expect(await record()).toMatchObject({ parallelism: 5 });
  expect(groupsOf(await copy())).toEqual([
    ['deck', 2, { pool: 'ssd' }],
    ['oars', 2, { pool: 'hdd' }],
  ]);
});

test('admitted anew on its cluster, it has the pods and the flavors of that admission, be they more or fewer', async () => {
  await sail();
  await say({ phase: 'Sailing', aboardNow: 4 });
  await hold('true');
  await rest();
  await quota('9', '4');
  await hold(null);
  expect(await record()).not.toHaveProperty('parallelism');
  expect(groupsOf(await copy())).toEqual([
    ['deck', 2, { pool: 'ssd' }],
    ['oars', 3, { pool: 'ssd' }],
  ]);
  await say({ phase: 'Sailing', aboardNow: 5 });
  await hold('true');
  await rest();
  await quota('3', '2');
  await hold(null);
  expect(await record()).toMatchObject({ parallelism: 4 });
  expect(groupsOf(await copy())).toEqual([
    ['deck', 2, { pool: 'ssd' }],
    ['oars', 1, { pool: 'hdd' }],
  ]);
  expect(groupsOf(await onHome())).toEqual(HOME_GROUPS);
});

test('a pod set that is done leaves its quota to others while the rest runs, also after a restart, and not a write of the record', async () => {
  await sail();
  await say({ phase: 'Sailing', aboardNow: 4 });
  await world.submit('next', { cpu: '2', seconds: 900 });
  expect(await runs('next')).toBe(false);
  const before = await record();
  await say({ done: { deck: 1 } });
  expect(await runs('next')).toBe(false);
  await say({ done: { deck: 2 } });
  expect(await runs('next')).toBe(true);
  expect(await record()).toEqual(before);
  await say({ done: { deck: 2, oars: 1 } });
  manager.kill();
  world.startManager('two', { parts: { kinds: [aKind()] } });
  await world.clock.advance(60_000);
  // Of two at oars that were admitted one is done.
  await world.submit('wide', { cpu: '2500m', seconds: 900 });
  expect(await runs('wide')).toBe(false);
  await world.submit('last', { cpu: '2', seconds: 900 });
  expect(await runs('last')).toBe(true);
});

test('what one copy has done, the next begins anew: it holds all again from its admission on', async () => {
  await sail();
  await say({ phase: 'Sailing', aboardNow: 4, done: { deck: 2 } });
  await hold('true');
  await rest();
  await quota('9', '4');
  // The status at home may still have what the first copy has told.
  const stale = { type: 'merge', body: { status: { done: { deck: 2, oars: 3 } } } } as const;
  await world.home.patchStatus(CREWS, KEY, stale);
  await hold(null);
  expect(await record()).toMatchObject({ requests: { cpu: '8500m', pods: '6' } });
  // 500m of fast quota is left, and all of slow.
  await world.submit('tall', { cpu: '4500m', seconds: 900 });
  expect(await runs('tall')).toBe(false);
});
