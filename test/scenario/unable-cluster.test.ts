/** Goal: Jobs are not placed where copies cannot be made, though the cluster answers; it is used again by itself. */
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { EVENTS, JOBS, type Resource } from '../../shared/api/resources.ts';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const WEBHOOKS: Resource<KubeObject> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

let world: DispatchWorld;
afterEach(() => world.close());

const ready = async (name: string): Promise<string> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name });
  const condition = findCondition(status?.conditions, 'Ready');
  return `${condition?.status} ${condition?.reason}`;
};
/** Calls to webhooks are made for real: time stands still meanwhile. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 600 && !(await holds()); tries++) {
    await new Promise((resolve) => void setTimeout(resolve, 5));
    await world.settle(250);
  }
  expect(await holds()).toBe(true);
};

test('a cluster whose webhook is down gets no more Jobs, tells why, and gets them again when it is back', async () => {
  const registry = new Registry();
  world = await createDispatchWorld({ registry });
  const eu = world.worker('eu-1').client;
  await world.submit('warm-up', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await world.settle(1_000);
  await eu.create(WEBHOOKS, {
    metadata: { name: 'policy' },
    webhooks: [
      {
        name: 'policy.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/validate' },
        rules: [{ operations: ['CREATE'], apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 1,
      },
    ],
  } as never);
  for (const name of ['a', 'b', 'c']) await world.submit(name, { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await until(async () => (await ready('eu-1')) === 'False NotAble');
  await until(async () => findCondition((await world.job('a')).status?.conditions, 'Dispatched')?.reason === 'ClusterError');
  const told = findCondition((await world.job('a')).status?.conditions, 'Dispatched')?.message;
  expect(told).toMatch(
    /^the copy on cluster "eu-1" cannot be created now, which is tried again: .*failed calling webhook "policy.example.com"/,
  );
  const { items } = await world.home.list(EVENTS, { namespace: NAMESPACE });
  expect(items.filter((event) => event.reason === 'DispatchFailed' && event.involvedObject.name === 'a')).toHaveLength(1);
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  expect(status).not.toHaveProperty('lostSince');
  expect(await registry.metrics()).toContain('switchyard_cluster_not_ready{cluster="eu-1",reason="NotAble"} 1');
  const conditions = (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('switchyard_cluster_condition{cluster="eu-1"'));
  expect(conditions.map((line) => line.replace('switchyard_cluster_condition{cluster="eu-1",condition=', ''))).toEqual([
    '"Reachable"} 1',
    '"Synced"} 1',
    '"Able"} 0',
    '"Ready"} 0',
    '"WorkerAlive"} 0',
  ]);

  await world.submit('next', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1,us-2' } });
  await world.submit('waits', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await until(async () => (await world.worker('us-2').copy('next')) !== undefined);
  await until(async () => findCondition((await world.job('waits')).status?.conditions, 'QuotaReserved')?.status === 'False');
  expect(findCondition((await world.job('waits')).status?.conditions, 'QuotaReserved')?.message).toContain('eu-1: not ready (NotAble: ');

  await eu.delete(WEBHOOKS, { namespace: '', name: 'policy' });
  await until(async () => (await ready('eu-1')) === 'True Connected');
  await until(async () => (await eu.list(JOBS, { namespace: NAMESPACE })).items.length === 5);
  expect(await registry.metrics()).not.toContain('switchyard_cluster_not_ready{');
});
