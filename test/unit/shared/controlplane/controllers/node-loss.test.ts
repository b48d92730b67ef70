import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../../../../shared/api/kubernetes.ts';
import { SIMULATE_DURATION_ANNOTATION, SIMULATE_NODE_LOSS_ANNOTATION } from '../../../../../shared/api/names.ts';
import { NODES, PODS } from '../../../../../shared/api/resources.ts';
import { createNodeAgent } from '../../../../../shared/controlplane/controllers/node-agent.ts';
import { createPodGc } from '../../../../../shared/controlplane/controllers/pod-gc.ts';
import { createTaintEviction } from '../../../../../shared/controlplane/controllers/taint-eviction.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from './embedded-cluster.ts';

let cluster: EmbeddedCluster;
let directory: string;
let stopAgent: () => Promise<void>;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  directory = mkdtempSync(join(tmpdir(), 'node-loss-'));
  stopAgent = await startAgent();
  await cluster.start(createTaintEviction(cluster.deps));
});
afterEach(async () => {
  await cluster.close();
  rmSync(directory, { recursive: true, force: true });
});

const startAgent = (): Promise<() => Promise<void>> =>
  cluster.start(createNodeAgent(cluster.deps, { directory, nodes: [{ name: 'a' }, { name: 'b' }] }));
const tolerating = (tolerationSeconds?: number): Partial<Pod['spec']> => ({
  tolerations: [
    {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
      ...omitUndefined({ tolerationSeconds }),
    },
  ],
});
/** A pod on node a that would run for an hour. */
const running = async (name: string, spec: Partial<Pod['spec']> = {}, finalizers: string[] = []): Promise<void> => {
  const metadata = { annotations: { [SIMULATE_DURATION_ANNOTATION]: '1h' }, finalizers };
  await createPod(cluster.client, name, { spec: { nodeName: 'a', ...spec }, metadata });
  await cluster.clock.advance(1000);
  expect((await pod(name))?.status?.phase).toBe('Running');
};
const annotate = (name: string, value: string | null): Promise<Node> => {
  const body = { metadata: { annotations: { [SIMULATE_NODE_LOSS_ANNOTATION]: value } } };
  return cluster.client.patch(NODES, { namespace: '', name }, { type: 'merge', body });
};
const lose = (value = '10s'): Promise<Node> => annotate('a', value);
const restore = async (): Promise<void> => {
  await annotate('a', null);
  await cluster.clock.advance(1000);
};
const pod = (name: string): Promise<Pod | undefined> => cluster.find(PODS, name);
const node = (name: string): Promise<Node | undefined> => cluster.find(NODES, name);
const condition = (of: Pod | Node | undefined, type: string) => of?.status?.conditions?.find((each) => each.type === type);

describe('a node that is lost', () => {
  test('is unreachable once that is noticed, and its pods are no longer ready', async () => {
    await running('p');
    await lose('true');
    await cluster.clock.advance(49_000);
    expect(condition(await node('a'), 'Ready')?.status).toBe('True');
    await cluster.clock.advance(2000);
    const lost = await node('a');
    expect(condition(lost, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
    expect(lost?.spec?.taints).toMatchObject([
      { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
    ]);
    expect((await pod('p'))?.status?.phase).toBe('Running');
    expect(condition(await pod('p'), 'Ready')?.status).toBe('False');
  });

  test('gets no new pods', async () => {
    await lose('0s');
    await cluster.clock.advance(1000);
    for (const name of ['p', 'q'])
      await createPod(cluster.client, name, { metadata: { annotations: { [SIMULATE_DURATION_ANNOTATION]: '1h' } } });
    await cluster.clock.advance(1000);
    expect([(await pod('p'))?.spec.nodeName, (await pod('q'))?.spec.nodeName]).toEqual(['b', 'b']);
  });

  test('loses its pods when they tolerate that no longer: marked, deleting, and with nobody to end them', async () => {
    await running('short', tolerating(30));
    await running('usual');
    await running('patient', tolerating());
    await lose();
    await cluster.clock.advance(39_000);
    expect((await pod('short'))?.metadata.deletionTimestamp).toBeUndefined();
    await cluster.clock.advance(2000);
    expect(condition(await pod('short'), 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'DeletionByTaintManager' });
    // The default toleration is five minutes.
    await cluster.clock.advance(268_000);
    expect((await pod('usual'))?.metadata.deletionTimestamp).toBeUndefined();
    await cluster.clock.advance(2000);
    expect((await pod('usual'))?.metadata.deletionTimestamp).toBeDefined();
    await cluster.clock.advance(600_000);
    expect((await pod('patient'))?.metadata.deletionTimestamp).toBeUndefined();
    expect((await pod('short'))?.status?.phase).toBe('Running');
  });

  test('leaves its pods to the pod garbage collector when it is deleted', async () => {
    await cluster.start(createPodGc(cluster.deps));
    await running('p', {}, ['batch.kubernetes.io/job-tracking']);
    await lose('0s');
    await cluster.clock.advance(1000);
    await cluster.client.delete(NODES, { namespace: '', name: 'a' });
    await cluster.clock.advance(90_000);
    const orphan = await pod('p');
    expect(orphan?.status?.phase).toBe('Failed');
    expect(condition(orphan, 'DisruptionTarget')).toMatchObject({ reason: 'DeletionByPodGC' });
    expect(orphan?.metadata.deletionTimestamp).toBeDefined();
  });

  test('stays lost when the node agent starts anew', async () => {
    await running('p');
    await lose('10s');
    await cluster.clock.advance(5000);
    await stopAgent();
    await startAgent();
    await cluster.clock.advance(20_000);
    expect(condition(await node('a'), 'Ready')?.status).toBe('Unknown');
    expect((await pod('p'))?.status?.phase).toBe('Running');
  });
});

describe('a node that comes back', () => {
  test('before anybody has noticed is found to have lost what ran: failed, or started again, as the policy says', async () => {
    await running('once');
    await running('again', { restartPolicy: 'OnFailure' });
    await lose('10s');
    await cluster.clock.advance(5000);
    await restore();
    expect((await pod('once'))?.status?.phase).toBe('Failed');
    const again = await pod('again');
    expect(again?.status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 1 }] });
    expect(condition(again, 'Ready')?.status).toBe('True');
  });

  test('is ready and takes pods again, and ends those that were deleted meanwhile', async () => {
    await running('gone', tolerating(0));
    await running('held', tolerating(0), ['batch.kubernetes.io/job-tracking']);
    await lose();
    await cluster.clock.advance(15_000);
    expect((await pod('gone'))?.metadata.deletionTimestamp).toBeDefined();
    await restore();
    const back = await node('a');
    expect(condition(back, 'Ready')?.status).toBe('True');
    expect(back?.spec?.taints ?? []).toEqual([]);
    expect(await pod('gone')).toBeUndefined();
    const held = await pod('held');
    expect(held?.status?.phase).toBe('Failed');
    expect(condition(held, 'DisruptionTarget')?.status).toBe('True');
    await running('new');
  });

  test('can be lost again', async () => {
    await running('p', { restartPolicy: 'OnFailure' });
    for (let round = 1; round <= 3; round++) {
      await lose('5s');
      await cluster.clock.advance(7000);
      expect(condition(await node('a'), 'Ready')?.status).toBe('Unknown');
      await restore();
      expect((await pod('p'))?.status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: round }] });
    }
  });
});

describe('a NoExecute taint', () => {
  test('drives out at once who does not tolerate it, and later who does for a while', async () => {
    const toleration = { key: 'maintenance', operator: 'Equal', value: 'disk', effect: 'NoExecute' };
    await running('stranger');
    await running('guest', { tolerations: [{ ...toleration, tolerationSeconds: 60 }] });
    await running('friend', { tolerations: [toleration] });
    const taints = [{ key: 'maintenance', value: 'disk', effect: 'NoExecute' }];
    await cluster.client.patch(NODES, { namespace: '', name: 'a' }, { type: 'merge', body: { spec: { taints } } });
    await cluster.clock.advance(1000);
    expect(await pod('stranger')).toBeUndefined();
    await cluster.clock.advance(57_000);
    expect(await pod('guest')).toBeDefined();
    await cluster.clock.advance(3000);
    expect(await pod('guest')).toBeUndefined();
    expect((await pod('friend'))?.status?.phase).toBe('Running');
  });

  test('that goes in time drives nobody out', async () => {
    await running('guest', { tolerations: [{ key: 'x', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }] });
    const taint = (taints: object[]): Promise<Node> =>
      cluster.client.patch(NODES, { namespace: '', name: 'a' }, { type: 'merge', body: { spec: { taints } } });
    await taint([{ key: 'x', effect: 'NoExecute' }]);
    await cluster.clock.advance(50_000);
    await taint([]);
    await cluster.clock.advance(50_000);
    // A new taint is tolerated for its whole time.
    await taint([{ key: 'x', effect: 'NoExecute' }]);
    await cluster.clock.advance(50_000);
    expect((await pod('guest'))?.metadata.deletionTimestamp).toBeUndefined();
    await cluster.clock.advance(12_000);
    expect(await pod('guest')).toBeUndefined();
  });
});

test('an evicted pod is told so, ends in its grace period, and goes', async () => {
  await running('p', {}, ['batch.kubernetes.io/job-tracking']);
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', namespace: 'default' } };
  await cluster.client.raw({ method: 'POST', path: '/api/v1/namespaces/default/pods/p/eviction', body });
  await cluster.clock.advance(1000);
  const evicted = await pod('p');
  expect(evicted?.status?.phase).toBe('Failed');
  expect(condition(evicted, 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'EvictionByEvictionAPI' });
  await cluster.client.patch(PODS, { namespace: 'default', name: 'p' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  expect(await pod('p')).toBeUndefined();
});
