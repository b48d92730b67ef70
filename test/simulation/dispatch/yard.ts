/** The clusters of a simulated installation: one for the manager, some for workers, each with a history and a network of its own. */
import { parse } from 'yaml';
import { CLUSTER_QUEUES } from '../../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import { crdFiles } from '../../../scripts/generate-crds.ts';
import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import { type ControlPlane, createControlPlane } from '../../../shared/controlplane/control-plane.ts';
import { kubeconfigFor } from '../../../shared/controlplane/server/kubeconfig-file.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../shared/runtime/random.ts';
import { type ClusterHistory, recordHistory } from '../../support/cluster-history.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import type { Dice } from '../dice.ts';
import { createKubelet, type Kubelet, NODE } from '../kubelet.ts';
import { createNetwork, type Network } from '../network.ts';

export const HOME = 'home';
/** Where the manager lives. */
export const MANAGER_NAMESPACE = 'switchyard';
export const RECORD_KEY_SECRET = { namespace: MANAGER_NAMESPACE, name: 'record-key' };

/** What one team may use, all clusters together. Its ClusterQueue has the name of its namespace. */
export type Team = { readonly namespace: string; readonly quota: Readonly<Record<string, string>> };

export type Cluster = {
  readonly name: string;
  readonly plane: ControlPlane;
  readonly admin: KubeClient;
  readonly history: ClusterHistory;
  readonly network: Network;
  readonly kubelet: Kubelet;
};

export type Yard = {
  readonly home: Cluster;
  readonly workers: readonly Cluster[];
  readonly teams: readonly Team[];
  /** Records nothing more. */
  stop(): void;
  close(): Promise<void>;
};

export async function createYard(options: {
  readonly workers: readonly string[];
  readonly teams: readonly Team[];
  readonly seed: number;
  readonly clock: FakeClock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
}): Promise<Yard> {
  const { clock, dice, trace, teams } = options;
  const create = async (name: string, position: number): Promise<Cluster> => {
    const plane = await createControlPlane({
      clock,
      random: seededRandom(options.seed * 31 + position),
      log: silentLogger,
      controllers: name === HOME ? ['garbage-collector', 'namespace'] : ['garbage-collector', 'namespace', 'pod-gc'],
    });
    const admin = createKubeClient(plane.transport(), { userAgent: 'simulation', clock });
    for (const namespace of [MANAGER_NAMESPACE, ...teams.map((team) => team.namespace)]) {
      await admin.create(NAMESPACES, { metadata: { name: namespace } });
    }
    const tell = (line: string): void => trace(`${name}: ${line}`);
    const network = createNetwork(() => plane.transport(), clock, dice, tell);
    return { name, plane, admin, network, history: await recordHistory(admin), kubelet: createKubelet(admin, clock, dice, tell) };
  };
  const home = await create(HOME, 0);
  const workers: Cluster[] = [];
  for (const [position, name] of options.workers.entries()) workers.push(await create(name, position + 1));
  for (const { admin } of workers) await admin.create(NODES, { metadata: { name: NODE } });
  await installKinds(home.admin);
  await clock.advance(100);
  // A key of chance would make other seals, and so another story, each time.
  const key = Buffer.alloc(32, 'k').toString('base64');
  await home.admin.create(SECRETS, { metadata: RECORD_KEY_SECRET, data: { current: key } });
  await createQueues(home.admin, teams);
  for (const { name } of workers) await join(home.admin, name);
  return {
    home,
    workers,
    teams,
    stop() {
      for (const { history } of [home, ...workers]) history.stop();
    },
    async close() {
      for (const { plane } of [home, ...workers]) await plane.close();
    },
  };
}

async function installKinds(home: KubeClient): Promise<void> {
  for (const text of crdFiles().values()) await home.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text) as never);
}

async function createQueues(home: KubeClient, teams: readonly Team[]): Promise<void> {
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => home.create(resource, object as never);
  await create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  for (const { namespace, quota } of teams) {
    const resources = Object.entries(quota).map(([name, nominalQuota]) => ({ name, nominalQuota }));
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    const resourceGroups = [{ coveredResources: Object.keys(quota), flavors: [{ name: 'default', resources }] }];
    await create(CLUSTER_QUEUES, { metadata: { name: namespace }, spec: { namespaceSelector, resourceGroups } });
    await create(LOCAL_QUEUES, { metadata: { name: 'main', namespace }, spec: { clusterQueue: namespace } });
  }
}

async function join(home: KubeClient, name: string): Promise<void> {
  const kubeconfig = Buffer.from(kubeconfigFor({ url: `https://${name}.test` }, 'a-token')).toString('base64');
  await home.create(SECRETS, { metadata: { name, namespace: MANAGER_NAMESPACE }, data: { kubeconfig } });
  await home.create(WORKER_CLUSTERS, { metadata: { name }, spec: { kubeconfigSecretRef: { namespace: MANAGER_NAMESPACE, name } } });
}
