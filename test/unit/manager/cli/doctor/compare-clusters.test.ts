/** Goal: the clusters of an installation are compared with the user's own rights, by what Jobs of a namespace refer to. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLUSTER_QUEUES } from '../../../../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../../../../manager/api/local-queue.ts';
import { WORKER_CLUSTERS } from '../../../../../manager/api/worker-cluster.ts';
import { compareClusters } from '../../../../../manager/cli/doctor/compare-clusters.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '../../../../../shared/api/resources.ts';
import { createKubeClient } from '../../../../../shared/kube/kube-client.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { createCrds } from '../../../../support/crds.ts';
import { type EmbeddedCluster, startCluster } from '../../../../support/embedded-cluster.ts';

let home: EmbeddedCluster;
let east: EmbeddedCluster;
let folder: string;
let choice: { readonly kubeconfig: undefined; readonly 'cluster-kubeconfig': string };

beforeEach(async () => {
  [home, east] = await Promise.all([startCluster(systemClock), startCluster(systemClock)]);
  folder = mkdtempSync(path.join(tmpdir(), 'switchyard-compare-'));
  choice = { kubeconfig: undefined, 'cluster-kubeconfig': path.join(folder, 'kubeconfig') };
  const kubeconfig = parse((await east.plane.listen()).kubeconfig) as { contexts: { name: string }[]; 'current-context': string };
  const [context] = kubeconfig.contexts;
  writeFileSync(choice['cluster-kubeconfig'], stringify({ ...kubeconfig, contexts: [{ ...context, name: 'east' }] }));
  await createCrds(home.client);
  for (const { client } of [home, east]) await client.create(NAMESPACES, { metadata: { name: 'team' } });
  await home.client.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec: { namespaceSelector: {}, carry: ['ConfigMaps'] } });
  await home.client.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: 'team' }, spec: { clusterQueue: 'main' } });
  await home.client.create(WORKER_CLUSTERS, { metadata: { name: 'home' }, spec: { local: true } });
  for (const name of ['east', 'west'])
    await home.client.create(WORKER_CLUSTERS, {
      metadata: { name },
      spec: { kubeconfigSecretRef: { namespace: 'switchyard', name } },
    });
  const container = {
    name: 'main',
    image: 'busybox',
    envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'token' } }],
  };
  await home.client.create(JOBS, {
    metadata: { name: 'train', namespace: 'team', labels: { 'switchyard.dev/queue-name': 'main' } },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', serviceAccountName: 'robot', containers: [container] } } },
  });
});
afterEach(async () => {
  await Promise.all([home.plane.close(), east.plane.close()]);
  rmSync(folder, { recursive: true });
});

const compared = async (): Promise<string[]> =>
  (await compareClusters({ client: home.client, kind: JOB_KIND }, 'team', choice)).map(
    ({ check, result, found }) => `${result} ${check}: ${found}`,
  );

test('each cluster is looked at for what it needs, and the manager cluster for what travels', async () => {
  await east.client.create(SERVICE_ACCOUNTS, { metadata: { name: 'robot', namespace: 'team' } });
  expect(await compared()).toEqual([
    'wrong namespace team on the manager cluster: lacks ConfigMap settings (Jobs train)',
    'note namespace team on east: lacks Secret token (Jobs train)',
    'note namespace team on home: lacks Secret token (Jobs train), ServiceAccount robot (Jobs train)',
    expect.stringMatching(/^note namespace team on west: cannot be looked at: there is no context of its name/),
  ]);
});

test('where all is there, all is well', async () => {
  await home.client.create(CONFIG_MAPS, { metadata: { name: 'settings', namespace: 'team' } });
  for (const { client } of [home, east]) {
    await client.create(SECRETS, { metadata: { name: 'token', namespace: 'team' }, type: 'Opaque' });
    await client.create(SERVICE_ACCOUNTS, { metadata: { name: 'robot', namespace: 'team' } });
  }
  await home.client.delete(WORKER_CLUSTERS, { namespace: '', name: 'west' });
  expect(await compared()).toEqual([
    'ok namespace team on the manager cluster: has 1 of 1 objects',
    'ok namespace team on east: has 2 of 2 objects',
    'ok namespace team on home: has 2 of 2 objects',
  ]);
});

test('a cluster that cannot be reached is a note, and the others are compared all the same', async () => {
  await east.plane.close();
  const [, onEast, onHome] = await compared();
  expect(onEast).toMatch(/^note namespace team on east: cannot be looked at: cluster east \(https:.*\) cannot be reached/);
  expect(onHome).toMatch(/^note namespace team on home: lacks/);
});

test('a user who may not list Jobs and clusters is told so, and that is no failure', async () => {
  const nobody = { name: 'nobody', groups: ['system:authenticated'] };
  const client = createKubeClient(home.plane.transport(nobody), { userAgent: 'test', clock: systemClock });
  const [check, another] = await compareClusters({ client, kind: JOB_KIND }, 'team', choice);
  expect(check).toMatchObject({ result: 'note', found: expect.stringMatching(/^cannot be compared: .*nobody.* cannot list/) });
  expect(another).toBeUndefined();
});
