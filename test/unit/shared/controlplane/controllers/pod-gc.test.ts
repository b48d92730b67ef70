import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../../../../shared/api/kubernetes.ts';
import { NODES, PODS } from '../../../../../shared/api/resources.ts';
import { doomedPods } from '../../../../../shared/controlplane/controllers/doomed-pods.ts';
import { createPodGc } from '../../../../../shared/controlplane/controllers/pod-gc.ts';
import { pathTo } from '../../../../../shared/kube/request-path.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from './embedded-cluster.ts';

describe('which pods are doomed', () => {
  const pod = (name: string, phase: string, more: Partial<Pod['metadata']> = {}, nodeName?: string, reason?: string): Pod => ({
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...more },
    spec: { containers: [], ...omitUndefined({ nodeName }) },
    status: { phase, ...omitUndefined({ reason }) },
  });
  const told = (pods: Pod[], nodes: Node[] = [], gone: string[] = [], threshold = 0): string[] =>
    doomedPods(pods, nodes, new Set(gone), threshold).map(({ pod: { metadata }, reason }) => `${metadata.name} ${reason}`);

  test('terminated ones above the threshold: evicted first, then by age and name', () => {
    const pods = [
      pod('young', 'Succeeded', { creationTimestamp: '2026-01-02T00:00:00Z' }),
      pod('b', 'Failed'),
      pod('a', 'Succeeded'),
      pod('evicted', 'Failed', { creationTimestamp: '2026-01-03T00:00:00Z' }, 'n', 'Evicted'),
      pod('running', 'Running'),
    ];
    expect(told(pods, [], [], 1)).toEqual(['evicted terminated', 'a terminated', 'b terminated']);
    expect(told(pods, [], [], 0)).toEqual([]);
  });

  test('those of nodes that are gone, those deleted before they had a node, those deleted on a node out of service', () => {
    const metadata = { name: 'n', uid: 'n', resourceVersion: '1', creationTimestamp: '' };
    const node: Node = { metadata, spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] }, status: {} };
    const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const pods = [
      pod('lost', 'Running', {}, 'gone'),
      pod('early', 'Pending', deleted),
      pod('stuck', 'Running', deleted, 'n'),
      pod('fine', 'Running', {}, 'n'),
    ];
    expect(told(pods, [node], ['gone'])).toEqual(['stuck out-of-service', 'lost orphaned', 'early unscheduled']);
  });
});

describe('the pod garbage collector', () => {
  let cluster: EmbeddedCluster;
  beforeEach(async () => {
    cluster = await anEmbeddedCluster();
    await cluster.start(createPodGc(cluster.deps, { terminatedThreshold: 0 }));
  });
  afterEach(() => cluster.close());

  test('fails the pods of a node that stays away, and leaves them to their finalizers', async () => {
    const { client, clock, find } = cluster;
    await client.create(NODES, { metadata: { name: 'n' }, spec: {} });
    const finalizers = ['batch.kubernetes.io/job-tracking'];
    await createPod(client, 'tracked', { metadata: { finalizers } });
    await createPod(client, 'plain');
    for (const name of ['tracked', 'plain']) {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: 'n' } };
      await client.raw({ method: 'POST', path: `${pathTo(PODS, 'default', name)}/binding`, body });
    }
    await client.delete(NODES, { namespace: '', name: 'n' });
    await clock.advance(41_000);
    expect((await find(PODS, 'plain'))?.status?.phase).toBe('Pending');
    await clock.advance(41_000);
    expect(await find(PODS, 'plain')).toBeUndefined();
    const tracked = await find(PODS, 'tracked');
    expect(tracked?.metadata.deletionTimestamp).toBeDefined();
    expect(tracked?.status?.phase).toBe('Failed');
    expect(tracked?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', reason: 'DeletionByPodGC', status: 'True' }),
    );
  });

  test('fails a pod that was deleted before it had a node, for its Job to count', async () => {
    const { client, clock, find } = cluster;
    await createPod(client, 'p', { metadata: { finalizers: ['batch.kubernetes.io/job-tracking'] } });
    await client.delete(PODS, { namespace: 'default', name: 'p' });
    await clock.advance(21_000);
    expect((await find(PODS, 'p'))?.status?.phase).toBe('Failed');
  });
});
