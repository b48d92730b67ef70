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
import { JOB_SET_DEFINITION, JOB_SETS } from '../../../../../manager/cli/local/job-set/definition.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { createKindsClient } from '../../../../../manager/work-kind/kinds-client.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import type { SingleKind } from '../../../../../manager/work-kind/work-kind.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  JOBS,
  NAMESPACES,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '../../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { createKubeClient } from '../../../../../shared/kube/kube-client.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { createCrds } from '../../../../support/crds.ts';
import { type EmbeddedCluster, startCluster } from '../../../../support/embedded-cluster.ts';
import { aCrewKind, shippedKind } from '../../work-kind/described/described.ts';

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

/** A connection for which the manager takes these kinds beside Jobs. */
const connectionOf = (client: KubeClient, ...others: readonly SingleKind[]): Parameters<typeof compareClusters>[0] =>
  ({
    client,
    kind: JOB_KIND,
    kinds: async () => ({ client: createKindsClient(client, others), kind: createKinds(JOB_KIND, others) }),
  }) as never;

const compared = async (): Promise<string[]> =>
  (await compareClusters(connectionOf(home.client), 'team', choice)).map(({ check, result, found }) => `${result} ${check}: ${found}`);

test('each cluster is looked at for what it needs, and the manager cluster for what travels', async () => {
  await east.client.create(SERVICE_ACCOUNTS, { metadata: { name: 'robot', namespace: 'team' } });
  expect(await compared()).toEqual([
    'wrong namespace team on the manager cluster: lacks ConfigMap settings (Job train)',
    'note namespace team on east: lacks Secret token (Job train)',
    'note namespace team on home: lacks Secret token (Job train), ServiceAccount robot (Job train)',
    expect.stringMatching(/^note namespace team on west: cannot be looked at: there is no context of its name/),
  ]);
});

test('what objects of described kinds refer to is compared as well, and of a kind that nobody serves it is said that it is not', async () => {
  await home.client.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(JOB_SET_DEFINITION) as never);
  const pod = {
    restartPolicy: 'Never',
    runtimeClassName: 'gvisor',
    containers: [{ name: 'main', envFrom: [{ configMapRef: { name: 'settings' } }] }],
  };
  await home.client.create(JOB_SETS, {
    metadata: { name: 'dance', namespace: 'team', labels: { 'switchyard.dev/queue-name': 'main' } },
    spec: { suspend: true, replicatedJobs: [{ name: 'one', template: { spec: { template: { spec: pod } } } }] },
  } as never);
  const checks = await compareClusters(connectionOf(home.client, shippedKind('JobSet'), aCrewKind()), 'team', choice);
  const found = checks.map(({ check, result, found: text }) => `${result} ${check}: ${text}`);
  expect(found.slice(0, 3)).toEqual([
    'wrong namespace team on the manager cluster: lacks ConfigMap settings (Job train, JobSet dance)',
    'note namespace team on east: lacks RuntimeClass gvisor (JobSet dance), Secret token (Job train), ServiceAccount robot (Job train)',
    'note namespace team on home: lacks RuntimeClass gvisor (JobSet dance), Secret token (Job train), ServiceAccount robot (Job train)',
  ]);
  expect(found.at(-1)).toMatch(/^note namespace team: what crews refer to is not compared: /);
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
  const [check, another] = await compareClusters(connectionOf(client), 'team', choice);
  expect(check).toMatchObject({ result: 'note', found: expect.stringMatching(/^cannot be compared: .*nobody.* cannot list/) });
  expect(another).toBeUndefined();
});
