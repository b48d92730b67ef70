import { createWriteStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createControlPlane } from '../../../shared/controlplane/control-plane.ts';
import type { ControlPlaneController } from '../../../shared/controlplane/controllers/controllers.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { LogLevel } from '../../../shared/runtime/logger.ts';
import { createLogger } from '../../../shared/runtime/pino-logger.ts';
import { mergedKubeconfig, namedKubeconfig } from './kubeconfigs.ts';
import type { Ports } from './ports.ts';
import { prepareRealClusters, type PlaneOptions, type StartedPlane } from './real-clusters.ts';

export type ClusterName = 'manager' | 'east' | 'west';

/** A running cluster of the quick start. */
export type LocalCluster = {
  readonly name: ClusterName;
  readonly url: string;
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  /** Of an administrator; straight into an embedded control plane, without a socket. */
  readonly client: KubeClient;
};

export type LocalClusters = {
  readonly manager: LocalCluster;
  readonly workers: readonly LocalCluster[];
  /** Has a context for each cluster, called as the cluster: what a user names. */
  readonly kubeconfigFile: string;
  close(): Promise<void>;
};

export type ClustersOptions = {
  readonly manager: ClusterName;
  readonly workers: readonly ClusterName[];
  readonly directory: string;
  readonly ports: Ports;
  readonly logLevel: LogLevel;
  readonly clock: Clock;
  /** Directory of etcd, kube-apiserver and kube-controller-manager; undefined: embedded control planes. */
  readonly assets: string | undefined;
  /** Where commands are looked for. */
  readonly searched: string | undefined;
};

/** Each worker cluster has one node of this size; what it really is does not matter to the examples. */
const NODE_CAPACITY = { cpu: '4', memory: '8Gi', pods: '110' };
const EVERYWHERE: readonly ControlPlaneController[] = ['garbage-collector', 'namespace', 'pod-gc', 'cron-job'];

/** One control plane per cluster. Only the worker clusters have nodes, so only they can run pods. */
export async function startClusters(options: ClustersOptions): Promise<LocalClusters> {
  const { manager, workers, directory, ports, logLevel, clock, assets, searched } = options;
  const planes: StartedPlane[] = [];
  const real = assets === undefined ? undefined : await prepareRealClusters(assets, directory, { clock, searched });
  const start = async (name: ClusterName, controllers: readonly ControlPlaneController[]): Promise<LocalCluster> => {
    const log = createLogger(logLevel, createWriteStream(path.join(directory, `control-plane-${name}.log`)));
    const plane = await (real?.start ?? startEmbedded)({
      name,
      port: ports[`control-plane-${name}`],
      clock,
      random: Math.random,
      log,
      controllers,
      nodes: [{ name: `${name}-node-1`, capacity: NODE_CAPACITY }],
      nodeDir: path.join(directory, name),
    });
    planes.push(plane);
    const { url, kubeconfig: unnamed } = plane;
    const kubeconfig = namedKubeconfig(unnamed, name);
    const kubeconfigFile = path.join(directory, `${name}.kubeconfig`);
    writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
    const client = createKubeClient(plane.transport, { userAgent: 'switchyard-local', clock });
    return { name, url, kubeconfig, kubeconfigFile, client };
  };
  const home = await start(manager, EVERYWHERE);
  const others = await Promise.all(workers.map((name) => start(name, [...EVERYWHERE, 'node-agent'])));
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfigFile, mergedKubeconfig([home, ...others].map(({ kubeconfig }) => kubeconfig)), { mode: 0o600 });
  return {
    manager: home,
    workers: others,
    kubeconfigFile,
    close: async () => {
      await Promise.all(planes.map((plane) => plane.close()));
      await real?.close();
    },
  };
}

async function startEmbedded({ port, ...options }: PlaneOptions): Promise<StartedPlane> {
  const plane = await createControlPlane(options);
  return { ...(await plane.listen({ port })), transport: plane.transport(), close: () => plane.close() };
}
