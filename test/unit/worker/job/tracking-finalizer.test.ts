import { expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { JOB_TRACKING_FINALIZER } from '../../../../shared/api/names.ts';
import { PODS } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { hasTrackingFinalizer } from '../../../../worker/job/pod-view.ts';
import { removeTrackingFinalizer } from '../../../../worker/job/tracking-finalizer.ts';
import { startCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

async function aPod(finalizers: string[]): Promise<{ client: KubeClient; pod: Pod }> {
  const { client } = await startCluster(new FakeClock());
  const pod = await client.create(PODS, {
    metadata: { name: 'p', namespace: 'default', finalizers },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  return { client, pod };
}

test('the pod loses this finalizer, and keeps those of others', async () => {
  const { client, pod } = await aPod([JOB_TRACKING_FINALIZER, 'example.com/other']);
  const freed = await removeTrackingFinalizer(client, pod);
  expect(freed?.metadata.finalizers).toEqual(['example.com/other']);
  expect(hasTrackingFinalizer(await client.get(PODS, { namespace: 'default', name: 'p' }))).toBe(false);
});

test('nothing but metadata is asked back', async () => {
  const { client, pod } = await aPod([JOB_TRACKING_FINALIZER]);
  expect(await removeTrackingFinalizer(client, pod)).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { uid: pod.metadata.uid } });
});

test('a pod that is gone needs nothing done', async () => {
  const { client, pod } = await aPod([]);
  await client.delete(PODS, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 });
  expect(await removeTrackingFinalizer(client, pod)).toBeUndefined();
});

test('a failure tells which pod still has its finalizer', async () => {
  const { pod } = await aPod([JOB_TRACKING_FINALIZER]);
  const broken = { patch: () => Promise.reject(new Error('the connection broke')) };
  await expect(removeTrackingFinalizer(broken, pod)).rejects.toThrow('remove the tracking finalizer of pod default/p');
});
