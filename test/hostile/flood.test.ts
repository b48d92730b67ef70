/** A tenant who creates as many large Jobs as the API server takes, while another one wants a small one to run. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { installKinds } from '../../manager/cli/local/set-up.ts';
import type { Job, KubeObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startBenchCluster, type BenchCluster } from '../bench/cluster.ts';
import { peakResidentBytesOf } from '../bench/process-figures.ts';
import { ChildProgram } from '../support/child-program.ts';
import { announceWorker } from '../support/worker-presence.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** More than an API server keeps for a watcher that is slow, and than a manager may hold in memory. */
const FLOOD = 120;
const LARGE_BYTES = 1_200_000;
const CREATORS = 8;
/** A loaded machine has time enough; before the watch caught up it took minutes, or a restart. */
const ADMITTED_WITHIN_MS = 60_000;
const POLL = { timeout: 200_000, interval: 100 };

let home: BenchCluster;
let client: KubeClient;
let manager: ChildProgram;
let worker: { readonly stop: () => void };

beforeAll(async () => {
  home = await startBenchCluster(undefined);
  const access = accessFromKubeconfig({ kind: 'file', path: home.kubeconfigFile }, systemClock);
  client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'kubectl', clock: systemClock });
  await installKinds(client, ROOT);
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => client.create(resource, object as never);
  await create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  for (const tenant of ['flooding', 'modest']) {
    const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1000' }] }];
    await create(NAMESPACES, { metadata: { name: tenant } });
    await create(CLUSTER_QUEUES, {
      metadata: { name: tenant },
      spec: { namespaceSelector: {}, resourceGroups: [{ coveredResources: ['cpu'], flavors }] },
    });
    await create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: tenant }, spec: { clusterQueue: tenant } });
  }
  // Admission needs a cluster with a worker that is alive, and nothing of it.
  await create(WORKER_CLUSTERS, { metadata: { name: 'east' }, spec: { local: true } });
  worker = await announceWorker(client, systemClock);
  const flags = [`--kubeconfig=${home.kubeconfigFile}`];
  manager = new ChildProgram('the manager', [process.execPath, path.join(ROOT, 'manager', 'main.ts'), ...flags]);
  await manager.find((line) => (line.includes('"metrics and health are served"') ? true : undefined));
}, 120_000);
afterAll(async () => {
  worker.stop();
  await manager.stop();
  await client.close();
  await home.stop();
});

const aJob = (namespace: string, name: string, bytes: number): Job =>
  ({
    metadata: { name, namespace, labels: { [QUEUE_NAME_LABEL]: 'main' } },
    spec: {
      suspend: true,
      managedBy: MANAGER_CONTROLLER_NAME,
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'busybox', args: ['x'.repeat(bytes)], resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  }) as never;

async function flood(): Promise<void> {
  let next = 0;
  const creating = async (): Promise<void> => {
    while (next < FLOOD) await client.create(JOBS, aJob('flooding', `large-${next++}`, LARGE_BYTES));
  };
  await Promise.all(Array.from({ length: CREATORS }, creating));
}

async function admittedAfterMs(name: string): Promise<number> {
  const startedMs = performance.now();
  await client.create(JOBS, aJob('modest', name, 10));
  await expect.poll(async () => (await client.get(JOBS, { namespace: 'modest', name })).spec.suspend, POLL).toBe(false);
  return performance.now() - startedMs;
}

describe('while a tenant floods the manager with Jobs that are too large, and no webhook refuses them', () => {
  test('the small Job of another is admitted, the large ones say why they are not, and the manager stays small', async () => {
    await admittedAfterMs('before');
    const [, during] = await Promise.all([flood(), admittedAfterMs('during')]);
    const after = await admittedAfterMs('after');
    expect([during, after].filter((ms) => ms > ADMITTED_WITHIN_MS)).toEqual([]);
    const key = { namespace: 'flooding', name: `large-${FLOOD - 1}` };
    const waiting = async () => (await client.get(JOBS, key)).status?.conditions?.find(({ type }) => type === 'QuotaReserved');
    await expect.poll(waiting, POLL).toMatchObject({ status: 'False', reason: 'InvalidJob' });
    expect((await waiting())?.message).toMatch(/^job: has 12\d{5} bytes as JSON, and at most 262144 are taken/);
    expect(peakResidentBytesOf(manager.pid) / 2 ** 20).toBeLessThan(600);
  }, 900_000);
});
