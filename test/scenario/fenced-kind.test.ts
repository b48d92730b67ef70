/**
 * Goal: where the manager is out of reach, the worker stops the copies of a kind that only its description knows: it suspends them, and
 * deletes the pods that their operator leaves. Then they move; or they go on where they were, unless they were stopped at home meanwhile.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import type { Job, Pod, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  FENCED_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  ORIGIN_LABEL,
  RESUMED_FROM_ANNOTATION,
  SIMULATE_DURATION_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, EVENTS, JOBS, PODS, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createCrds } from '../support/crds.ts';
import { noting } from '../support/noting-client.ts';
import { aCrew, aCrewKind, CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { createWholeWorld, HOME, NAMESPACE, type RunningProgram, type WholeWorld } from './whole-world.ts';

const KEY = { namespace: NAMESPACE, name: 'argo' };
const NAME = 'crews.v1.example.com';
const LOST_MS = 180_000;

let world: WholeWorld;
let worker: RunningProgram;
let manager: RunningProgram;
let cutOff: Set<string>;
beforeEach(async () => {
  cutOff = new Set();
  world = await createWholeWorld({
    clusters: ['east', 'west'],
    async install(client, cluster) {
      if (cluster === HOME) await createCrds(client);
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
      if (cluster === 'east') await grantAllButPatchingCrews(client);
    },
  });
});
afterEach(() => world.close());

const fence = { fenceAfterMs: 60_000 };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
const CLUSTER_ROLES: Resource = { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole' };
const CLUSTER_ROLE_BINDINGS: Resource = { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' };
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false };
const POLICIES: Resource = { ...ADMISSION, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' };
const POLICY_BINDINGS: Resource = { ...ADMISSION, plural: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' };
const LIMITED = { name: 'limited', groups: [] };

async function grantAllButPatchingCrews(client: KubeClient): Promise<void> {
  const metadata = { name: LIMITED.name };
  const groups = ['', 'batch', 'coordination.k8s.io', 'authorization.k8s.io'];
  await client.create(CLUSTER_ROLES, {
    metadata,
    rules: [
      { apiGroups: groups, resources: ['*'], verbs: ['*'] },
      { apiGroups: ['example.com'], resources: ['crews'], verbs: ['list', 'watch'] },
    ],
  } as never);
  await client.create(CLUSTER_ROLE_BINDINGS, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: LIMITED.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: LIMITED.name }],
  } as never);
}

function startManager(identity: string, workerLostTimeoutMs = LOST_MS): void {
  const connectCluster = (cluster: string): KubeClient => ({
    ...noting(world.client(cluster), [], () => cutOff.has(cluster)),
    // The test goes on with this client, and so does the next manager.
    close: () => Promise.resolve(),
  });
  manager = world.startManager(identity, { parts: { kinds: [aCrewKind()], workerLostTimeoutMs, connectCluster } });
}

async function started({ workerLostTimeoutMs = LOST_MS, annotations = {}, isLimited = false } = {}): Promise<void> {
  worker = world.startWorker('east', 'worker-east', { ...fence, ...(isLimited ? { user: () => LIMITED } : {}) });
  world.startWorker('west', 'worker-west', fence);
  startManager('one', workerLostTimeoutMs);
  await world.clock.advance(30_000);
  const { metadata, spec, ...crew } = aCrew({ metadata: { annotations: { 'switchyard.dev/clusters': 'east,west', ...annotations } } });
  const { uid: _uid, resourceVersion: _version, generation: _generation, creationTimestamp: _created, ...named } = metadata;
  const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
  await world.home.create(CREWS, { ...crew, metadata: named, spec: { ...spec, policy } } as Unsaved<WorkObject>);
  await world.clock.advance(10_000);
  await say('east', { phase: 'Sailing', aboard: true });
}

const onHome = (): Promise<WorkObject> => world.home.get(CREWS, KEY);
const copyOn = (cluster: string): Promise<WorkObject | undefined> => world.client(cluster).get(CREWS, KEY).catch(undefinedIfAbsent);
const undefinedIfAbsent = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
};
const isSuspended = async (cluster: string): Promise<unknown> => {
  const spec = (await copyOn(cluster))?.spec as { readonly policy?: { readonly suspend?: unknown } } | undefined;
  return spec?.policy?.suspend;
};
const markOn = async (cluster: string): Promise<string | undefined> => (await copyOn(cluster))?.metadata.annotations?.[FENCED_ANNOTATION];
const placeOf = async (): Promise<string | undefined> => {
  const record = writtenRecordOf(await onHome());
  return record.kind === 'Record' ? record.record.cluster : undefined;
};

/** What the operator on a worker cluster says of the crew. */
async function say(cluster: string, status: object, ...types: readonly string[]): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const conditions = types.map((type) => ({ type, status: 'True', reason: 'Asked', message: '', lastTransitionTime }));
  await world.client(cluster).patchStatus(CREWS, KEY, { type: 'merge', body: { status: { ...status, conditions } } });
  await world.clock.advance(10_000);
}

/** A pod of the crew, as its operator makes it of the template of its copy. */
async function board(name: string, { keepsEnvironment = true } = {}): Promise<void> {
  const {
    metadata: { uid },
    spec,
  } = await world.client('east').get(CREWS, KEY);
  const { captain } = spec as { readonly captain: { readonly spec: Pod['spec'] } };
  const controller = { apiVersion: 'example.com/v1', kind: 'Crew', name: 'argo', uid, controller: true, blockOwnerDeletion: true };
  const annotations = { [SIMULATE_DURATION_ANNOTATION]: '3600s' };
  const named = { namespace: NAMESPACE, name, annotations, labels: { 'example.com/crew': 'argo' }, ownerReferences: [controller] };
  const containers = captain.spec.containers.map(({ env, ...container }) => ({ ...container, ...(keepsEnvironment ? { env } : {}) }));
  await world.client('east').create(PODS, { metadata: named, spec: { ...captain.spec, containers, nodeName: 'node-1' } } as Unsaved<Pod>);
}
/** Those that nobody has asked to end. */
const pods = async (): Promise<readonly string[]> =>
  (await world.podsOn('east')).flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp === undefined ? [name] : []));

test('the WorkerCluster shows the kinds that its worker stops', async () => {
  await started();
  expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).status?.worker?.fencedKinds).toEqual([NAME]);
});

test('a copy that is cut off is suspended, loses the pods that its operator leaves, and moves', async () => {
  await started();
  await board('argo-captain');
  await world.client('east').create(PODS, {
    metadata: { namespace: NAMESPACE, name: 'beside', annotations: { [SIMULATE_DURATION_ANNOTATION]: '3600s' } },
    spec: { containers: [{ name: 'main', image: 'busybox' }], nodeName: 'node-1' },
  });
  cutOff.add('east');
  for (let seconds = 0; seconds < 62 && (await isSuspended('east')) !== true; seconds++) await world.clock.advance(1_000);
  expect(await markOn('east')).toMatch(/^20/);
  expect(await pods()).toContain('argo-captain');
  await world.clock.advance(12_000);
  expect(await pods()).toEqual(['beside']);
  // An operator that takes no notice of the suspension starts another one, which does not say whose it is.
  await board('argo-captain-2', { keepsEnvironment: false });
  await world.clock.advance(2_000);
  expect(await pods()).toEqual(['beside']);
  const { items } = await world.client('east').list(EVENTS, { namespace: NAMESPACE });
  expect(items.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['Fenced', 'FencedPodsDeleted']));
  expect(await placeOf()).toBe('east');

  await world.clock.advance(LOST_MS);
  expect([await placeOf(), await isSuspended('west')]).toEqual(['west', false]);
  expect(await isSuspended('east')).toBe(true);
  cutOff.clear();
  await world.clock.advance(120_000);
  expect([await copyOn('east'), await isSuspended('west')]).toEqual([undefined, false]);
});

test('where the server lets nobody suspend it, its pods are deleted all the same', async () => {
  await started();
  await board('argo-captain');
  const rule = { expression: '!has(object.spec.policy.suspend) || !object.spec.policy.suspend', message: 'is not suspended here' };
  const match = { apiGroups: ['example.com'], apiVersions: ['*'], resources: ['crews'], operations: ['UPDATE'] };
  const policy = { failurePolicy: 'Fail', matchConstraints: { resourceRules: [match] }, validations: [rule] };
  const metadata = { name: 'runs' };
  await world.client('east').create(POLICIES, { metadata, spec: policy } as never);
  await world.client('east').create(POLICY_BINDINGS, { metadata, spec: { policyName: 'runs', validationActions: ['Deny'] } } as never);
  cutOff.add('east');
  await world.clock.advance(90_000);
  expect([await isSuspended('east'), await pods()]).toEqual([false, []]);
});

test('a copy whose origin label is taken away meanwhile is stopped all the same: its pod templates say whose it is', async () => {
  await started();
  cutOff.add('east');
  await world.client('east').patch(CREWS, KEY, { type: 'merge', body: { metadata: { labels: { [ORIGIN_LABEL]: null } } } });
  await world.clock.advance(62_000);
  expect(await isSuspended('east')).toBe(true);
});

test('it goes on where it was once its manager is back, and the rest from before proves nothing then', async () => {
  await started();
  cutOff.add('east');
  await world.clock.advance(70_000);
  await say('east', { phase: 'Moored' }, 'Moored');
  const moored = findCondition((await copyOn('east'))?.status?.conditions, 'Moored')?.lastTransitionTime;
  cutOff.clear();
  await world.clock.advance(60_000);
  expect([await isSuspended('east'), await markOn('east'), await placeOf()]).toEqual([false, undefined, 'east']);
  expect((await copyOn('east'))?.metadata.annotations?.[RESUMED_FROM_ANNOTATION]).toBe(moored);
});

test('it stays suspended where it was held at home meanwhile, and counts as at rest only without the mark', async () => {
  await started();
  cutOff.add('east');
  await world.clock.advance(70_000);
  await world.home.patch(CREWS, KEY, { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } } });
  await say('east', { phase: 'Moored' }, 'Moored');
  cutOff.clear();
  await world.clock.advance(60_000);
  expect([await isSuspended('east'), await markOn('east')]).toEqual([true, undefined]);
  expect(findCondition((await onHome()).status?.conditions, 'QuotaReserved')).toMatchObject({ status: 'False', reason: 'Held' });
});

test('one that has lost its record meanwhile is taken over from the worker, rests, and is admitted again', async () => {
  await started();
  cutOff.add('east');
  await world.clock.advance(70_000);
  manager.kill();
  const withoutRecord = { metadata: { annotations: { [ADMISSION_ANNOTATION]: null } }, spec: { policy: { suspend: true } } };
  await world.home.patch(CREWS, KEY, { type: 'merge', body: withoutRecord });
  await say('east', { phase: 'Moored' }, 'Moored');
  expect(await markOn('east')).toBeDefined();
  cutOff.clear();
  startManager('two');
  await world.clock.advance(60_000);
  expect([await placeOf(), await isSuspended('east'), await markOn('east')]).toEqual(['east', false, undefined]);
});

test('a worker that is started anew while its manager is away stops what is unsuspended by hand, and resumes all when it is back', async () => {
  await started({ workerLostTimeoutMs: 600_000 });
  cutOff.add('east');
  await world.clock.advance(70_000);
  worker.kill();
  await world.client('east').patch(CREWS, KEY, { type: 'merge', body: { spec: { policy: { suspend: false } } } });
  world.startWorker('east', 'worker-east-2', fence);
  await world.clock.advance(30_000);
  expect(await isSuspended('east')).toBe(true);
  cutOff.clear();
  await world.clock.advance(60_000);
  expect([await isSuspended('east'), await markOn('east')]).toEqual([false, undefined]);
});

test('where it asks for no fence it runs on, and does not move', async () => {
  await started({ annotations: { [FENCING_ANNOTATION]: 'off' } });
  await board('argo-captain');
  cutOff.add('east');
  await world.clock.advance(LOST_MS + 60_000);
  expect([await isSuspended('east'), await pods(), await placeOf()]).toEqual([false, ['argo-captain'], 'east']);
});

/** A Job that the operator makes for the crew, as that of JobSet does, which our worker runs. */
async function launch(name: string): Promise<void> {
  const { metadata, spec } = await world.client('east').get(CREWS, KEY);
  const { captain } = spec as { readonly captain: { readonly spec: Pod['spec'] } };
  const controller = { apiVersion: 'example.com/v1', kind: 'Crew', name: 'argo', uid: metadata.uid, controller: true };
  const template = { metadata: { annotations: { [SIMULATE_DURATION_ANNOTATION]: '3600s' } }, spec: captain.spec };
  await world.client('east').create(JOBS, {
    metadata: { namespace: NAMESPACE, name, ownerReferences: [controller] },
    spec: { managedBy: WORKER_CONTROLLER_NAME, template },
  } as unknown as Unsaved<Job>);
  await world.clock.advance(5_000);
}

describe('a Job that its operator has made for it, and our worker runs', () => {
  test('is stopped with the others when the fence trips', async () => {
    await started();
    await launch('argo-deck');
    expect(await pods()).toHaveLength(1);
    cutOff.add('east');
    await world.clock.advance(70_000);
    expect(await pods()).toEqual([]);
  });

  test('runs on where the object asks for no fence, also through another start of the worker', async () => {
    await started({ annotations: { [FENCING_ANNOTATION]: 'off' } });
    await launch('argo-deck');
    const running = await pods();
    expect(running).toHaveLength(1);
    cutOff.add('east');
    await world.clock.advance(90_000);
    expect(await pods()).toEqual(running);
    worker.kill();
    worker = world.startWorker('east', 'worker-east-2', fence);
    await world.clock.advance(90_000);
    expect(await pods()).toEqual(running);
  });

  test('is not kept from being stopped by another object there that passes itself off as the copy', async () => {
    await started();
    await launch('argo-deck');
    const { metadata, spec, ...crew } = await world.client('east').get(CREWS, KEY);
    const { labels, annotations } = metadata;
    for (const namespace of [NAMESPACE, 'default'])
      await world.client('east').create(CREWS, {
        ...crew,
        metadata: { namespace, name: 'forged', labels, annotations: { ...annotations, [FENCING_ANNOTATION]: 'off' } },
        spec,
      } as Unsaved<WorkObject>);
    await world.clock.advance(5_000);
    cutOff.add('east');
    await world.clock.advance(70_000);
    expect(await pods()).toEqual([]);
  });

  test('is stopped where the worker knows no copy that asks for none', async () => {
    await started({ annotations: { [FENCING_ANNOTATION]: 'off' } });
    await launch('argo-deck');
    await world.client('east').patch(
      JOBS,
      { namespace: NAMESPACE, name: 'argo-deck' },
      {
        type: 'merge',
        body: { metadata: { ownerReferences: [] } },
      },
    );
    cutOff.add('east');
    await world.clock.advance(70_000);
    expect(await pods()).toEqual([]);
  });
});

test('where the worker may not suspend its kind, it is not said to be fenced, and does not move', async () => {
  await started({ isLimited: true });
  expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).status?.worker?.fencedKinds).toBeUndefined();
  cutOff.add('east');
  await world.clock.advance(LOST_MS + 60_000);
  expect([await isSuspended('east'), await placeOf()]).toEqual([false, 'east']);
  expect(findCondition((await onHome()).status?.conditions, 'Dispatched')?.message).toContain(
    'announced no fence for crews.v1.example.com',
  );
});
