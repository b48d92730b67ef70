/** Goal: which kinds of work a manager takes is said on each WorkKind, and a change is noticed; what is wrong with one stops no other. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORK_KINDS, type WorkKindObject } from '../../manager/api/work-kind.ts';
import { followWorkKinds, KindsChanged, readWorkKinds, type ReadKinds, type WorkKindsDeps } from '../../manager/process/work-kinds.ts';
import { qualifierOf } from '../../manager/work-kind/qualified-name.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../shared/api/resources.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { CREW_SPEC } from '../unit/manager/work-kind/described/described.ts';
import { createCrds } from '../support/crds.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let deps: WorkKindsDeps;
let stop: AbortController;

beforeEach(async () => {
  cluster = await startCluster(clock);
  deps = { client: cluster.client, clock, random: seededRandom(1), log: silentLogger };
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await cluster.plane.close();
});

const define = async (plural: string, group = 'example.com', kind = 'Crew', scope = 'Namespaced'): Promise<void> => {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec: anything, status: anything } };
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }],
    },
  } as never);
  await clock.advance(1_000);
};
const describeKind = async (name: string, spec: Partial<WorkKindObject['spec']> = {}): Promise<void> => {
  await cluster.client.create(WORK_KINDS, { metadata: { name }, spec: { ...CREW_SPEC, ...spec } });
};
async function read(): Promise<ReadKinds> {
  const kinds = await readWorkKinds(deps, stop.signal);
  if (kinds === undefined) throw new Error('nothing was read');
  return kinds;
}
const takenBy = ({ kinds }: ReadKinds): (string | undefined)[] => kinds.map(({ resource }) => qualifierOf(resource));
const accepted = async (name: string): Promise<string> => {
  const { status } = await cluster.client.get(WORK_KINDS, { namespace: '', name });
  const condition = status?.conditions?.find(({ type }) => type === 'Accepted');
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
};
/** Follows what was read until it has changed; resolves with the error. */
const changeOf = (kinds: ReadKinds): { readonly error: () => unknown } => {
  let error: unknown;
  void followWorkKinds(kinds, deps, stop.signal).catch((caught: unknown) => (error = caught));
  return { error: () => error };
};

test('without their definition there are Jobs alone, and one that comes later is taken', async () => {
  const kinds = await read();
  expect(takenBy(kinds)).toEqual([]);
  await createCrds(cluster.client);
  const change = changeOf(await read());
  await clock.advance(5_000);
  expect(change.error()).toBeUndefined();
  await define('crews');
  await describeKind('crews.example.com');
  await clock.advance(5_000);
  expect(change.error()).toBeInstanceOf(KindsChanged);
  expect(takenBy(await read())).toEqual(['crews.example.com']);
});

test('one that is taken says so, and a change of it is noticed, but no change of its status', async () => {
  await createCrds(cluster.client);
  await define('crews');
  await describeKind('crews.example.com');
  const change = changeOf(await read());
  await clock.advance(5_000);
  expect(await accepted('crews.example.com')).toBe('True Accepted: objects of this kind are taken');
  expect(change.error()).toBeUndefined();
  const body = { spec: { ttlSeconds: null } };
  await cluster.client.patch(WORK_KINDS, { namespace: '', name: 'crews.example.com' }, { type: 'merge', body });
  await clock.advance(5_000);
  expect(change.error()).toBeInstanceOf(KindsChanged);
});

test('one that does not compile, or is not served, is left out with its reason, and the others are taken', async () => {
  await createCrds(cluster.client);
  await define('crews');
  await define('ships', 'example.com', 'Ship');
  await describeKind('crews.example.com');
  await describeKind('ships.example.com', { resource: 'ships', kind: 'Ship', state: { ...CREW_SPEC.state, started: 'status.phase ==' } });
  await describeKind('rafts.example.com', { resource: 'rafts', kind: 'Raft' });
  await describeKind('jobs.batch', { group: 'batch', resource: 'jobs', kind: 'Job' });
  const kinds = await read();
  expect(takenBy(kinds)).toEqual(['crews.example.com']);
  changeOf(kinds);
  await clock.advance(5_000);
  expect(await accepted('ships.example.com')).toMatch(/^False Invalid: spec.state.started/);
  expect(await accepted('rafts.example.com')).toBe(
    'False NotServed: the API server does not serve rafts of example.com/v1; install its CustomResourceDefinition',
  );
  expect(await accepted('jobs.batch')).toMatch(/^False Invalid: spec.resource: jobs of group batch need no description/);
});

test('one whose definition is installed later is taken then', async () => {
  await createCrds(cluster.client);
  await describeKind('crews.example.com');
  const change = changeOf(await read());
  await clock.advance(40_000);
  expect(change.error()).toBeUndefined();
  await define('crews');
  await clock.advance(40_000);
  expect(change.error()).toBeInstanceOf(KindsChanged);
});

test("one with Kueue's own value is left out where Kueue's MultiKueue runs on this cluster", async () => {
  await createCrds(cluster.client);
  await define('crews');
  await describeKind('crews.example.com', { managedBy: { path: 'spec.policy.managedBy', home: 'kueue.x-k8s.io/multikueue' } });
  expect(takenBy(await read())).toEqual(['crews.example.com']);
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, {
    metadata: { name: 'admissionchecks.kueue.x-k8s.io' },
    spec: {
      group: 'kueue.x-k8s.io',
      scope: 'Cluster',
      names: { plural: 'admissionchecks', singular: 'admissioncheck', kind: 'AdmissionCheck', listKind: 'AdmissionCheckList' },
      versions: [
        { name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything } } } },
      ],
    },
  } as never);
  await clock.advance(1_000);
  const checks = { group: 'kueue.x-k8s.io', version: 'v1beta1', plural: 'admissionchecks', kind: 'AdmissionCheck', namespaced: false };
  const check = { metadata: { name: 'multi' }, spec: { controllerName: 'kueue.x-k8s.io/multikueue' } };
  await cluster.client.create(checks, check as never);
  const kinds = await read();
  expect(takenBy(kinds)).toEqual([]);
  changeOf(kinds);
  await clock.advance(5_000);
  expect(await accepted('crews.example.com')).toMatch(/^False TakenByMultiKueue: .*two dispatchers/);
});
