import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Deployment, Pod, ReplicaSet } from '../../../../../shared/api/kubernetes.ts';
import { DEPLOYMENTS, EVENTS, PODS, REPLICA_SETS } from '../../../../../shared/api/resources.ts';
import { createDeploymentController } from '../../../../../shared/controlplane/controllers/deployment.ts';
import { createReplicaSetController } from '../../../../../shared/controlplane/controllers/replica-set.ts';
import { anEmbeddedCluster, type EmbeddedCluster } from './embedded-cluster.ts';

const WEB = { namespace: 'default', name: 'web' };
let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  await cluster.start(createReplicaSetController(cluster.deps));
  await cluster.start(createDeploymentController(cluster.deps));
});
afterEach(() => cluster.close());

const template = (image: string) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } });
const create = async (spec: object = {}): Promise<void> => {
  const selector = { matchLabels: { app: 'web' } };
  await cluster.client.create(DEPLOYMENTS, { metadata: WEB, spec: { replicas: 4, selector, template: template('a'), ...spec } } as never);
  await cluster.clock.advance(1000);
};
const change = async (spec: object): Promise<void> => {
  await cluster.client.patch(DEPLOYMENTS, WEB, { type: 'merge', body: { spec } });
  await cluster.clock.advance(1000);
};
const deployment = (): Promise<Deployment> => cluster.client.get(DEPLOYMENTS, WEB);
const sets = async (): Promise<ReplicaSet[]> => (await cluster.client.list(REPLICA_SETS, { namespace: 'default' })).items;
const pods = async (): Promise<Pod[]> => (await cluster.client.list(PODS, { namespace: 'default' })).items;
const condition = async (type: string) => (await deployment()).status?.conditions?.find((each) => each.type === type);
/** What a kubelet says of the pods of an image, until nothing is left to say. */
const becomeReady = async (image: string): Promise<void> => {
  for (let pending = await unready(image); pending.length > 0; pending = await unready(image)) {
    for (const { metadata } of pending) {
      const status = {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(cluster.clock.now()) }],
      };
      await cluster.client.patchStatus(PODS, { namespace: 'default', name: metadata.name }, { type: 'merge', body: { status } });
    }
    await cluster.clock.advance(1000);
  }
};
const unready = async (image: string): Promise<Pod[]> =>
  (await pods()).filter(({ spec, status }) => spec.containers[0]?.image === image && status?.phase !== 'Running');
const imagesOf = (of: readonly Pod[]): string =>
  of
    .map(({ spec }) => spec.containers[0]?.image ?? '')
    .toSorted()
    .join('');
const sizes = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await sets()).map(({ spec }) => [spec.template?.spec?.containers[0]?.image ?? '', spec.replicas ?? 0]));

test('a Deployment has as many pods as it asks for, and is available once they are ready', async () => {
  await create();
  expect(imagesOf(await pods())).toBe('aaaa');
  expect((await condition('Available'))?.status).toBe('False');
  await becomeReady('a');
  expect((await deployment()).status).toMatchObject({ observedGeneration: 1, replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
  expect(await condition('Available')).toMatchObject({ status: 'True', reason: 'MinimumReplicasAvailable' });
  expect(await condition('Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
});

test('scaling down leaves the pods that are ready', async () => {
  await create();
  const [first] = await pods();
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(cluster.clock.now()) }] };
  await cluster.client.patchStatus(PODS, { namespace: 'default', name: first?.metadata.name ?? '' }, { type: 'merge', body: { status } });
  await change({ replicas: 1 });
  expect((await pods()).map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
});

test('a rollout stays within surge and unavailability, and waits for new pods to be ready', async () => {
  await create({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
  await becomeReady('a');
  await change({ template: template('b') });
  expect(await sizes()).toEqual({ a: 3, b: 2 });
  expect((await condition('Progressing'))?.reason).toBe('ReplicaSetUpdated');
  await becomeReady('b');
  expect(await sizes()).toEqual({ a: 0, b: 4 });
  expect(imagesOf(await pods())).toBe('bbbb');
  const said = (await cluster.client.list(EVENTS, { namespace: 'default' })).items.map(({ message }) => message ?? '');
  expect(said.some((message) => /^Scaled down replica set web-\w+ from 4 to 3$/.test(message))).toBe(true);
});

test('recreation ends the old pods before it makes new ones', async () => {
  await create({ strategy: { type: 'Recreate' } });
  const [first] = await pods();
  const finalizers = { metadata: { finalizers: ['example.com/held'] } };
  await cluster.client.patch(PODS, { namespace: 'default', name: first?.metadata.name ?? '' }, { type: 'merge', body: finalizers });
  await change({ template: template('b') });
  expect(imagesOf(await pods())).toBe('a');
  const none = { metadata: { finalizers: null } };
  await cluster.client.patch(PODS, { namespace: 'default', name: first?.metadata.name ?? '' }, { type: 'merge', body: none });
  await cluster.clock.advance(1000);
  expect(imagesOf(await pods())).toBe('bbbb');
});

test('going back to an earlier template takes its ReplicaSet, under a new revision', async () => {
  await create();
  await becomeReady('a');
  await change({ template: template('b') });
  await becomeReady('b');
  await change({ template: template('a') });
  await becomeReady('a');
  const revision = ({ metadata }: ReplicaSet | Deployment) => metadata.annotations?.['deployment.kubernetes.io/revision'];
  expect((await sets()).map((set) => `${set.spec.template?.spec?.containers[0]?.image} ${revision(set)}`).toSorted()).toEqual([
    'a 3',
    'b 2',
  ]);
  expect(revision(await deployment())).toBe('3');
});

test('a paused Deployment is scaled, but not rolled out', async () => {
  await create();
  await becomeReady('a');
  await change({ paused: true, template: template('b'), replicas: 2 });
  expect(await sizes()).toEqual({ a: 2 });
  expect((await condition('Progressing'))?.reason).toBe('DeploymentPaused');
  await change({ paused: false });
  await becomeReady('b');
  expect(await sizes()).toEqual({ a: 0, b: 2 });
});

test('a rollout without progress is said to have timed out', async () => {
  await create({ progressDeadlineSeconds: 60 });
  await cluster.clock.advance(61_000);
  expect(await condition('Progressing')).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
});

test('ReplicaSets beyond the history go once the rollout is over', async () => {
  await create({ revisionHistoryLimit: 1 });
  for (const image of ['a', 'b', 'c']) {
    await change({ template: template(image) });
    await becomeReady(image);
  }
  expect(Object.keys(await sizes()).toSorted()).toEqual(['b', 'c']);
});
