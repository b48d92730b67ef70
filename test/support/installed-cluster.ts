/**
 * A cluster to install on: a control plane that listens, embedded or with KUBEBUILDER_ASSETS real, helm and an administrator there, and a
 * kubelet for what was installed. It can be put back to an earlier state.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import type { NodeShape } from '../../shared/controlplane/controllers/node-agent/node-status.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import type { Image } from './image-root.ts';
import { type Backup, createMemoryPersistence, type MemoryPersistence } from './memory-persistence.ts';
import { startRealEtcd } from './real-control-plane.ts';
import { isServerReal, startServerUnderTest } from './server-under-test.ts';
import { startServiceProxy } from './service-proxy.ts';
import { TestKubelet } from './test-kubelet.ts';

export interface InstalledCluster extends AsyncDisposable {
  readonly name: string;
  /** Of an administrator, over HTTPS. */
  readonly client: KubeClient;
  /** Of the same; its context has the name of the cluster. */
  readonly kubeconfigFile: string;
  readonly kubelet: TestKubelet;
  /** Runs helm, and returns what it prints. */
  helm(...args: readonly string[]): Promise<string>;
  /** Keeps what is stored now. The result starts the API server again from it, at the same address. */
  backUp(): () => Promise<void>;
  /** Stops the API server with all that runs on its nodes. Programs of Deployments go on: nobody tells them. */
  stop(): Promise<void>;
}

const NODE = { cpu: '4', memory: '8Gi', pods: '110' };

export async function startInstalledCluster(
  name: string,
  image: Image,
  controllers: readonly ControlPlaneController[] = ['garbage-collector', 'namespace', 'pod-gc'],
): Promise<InstalledCluster> {
  const directory = mkdtempSync(path.join(tmpdir(), `switchyard-${name}-`));
  const kubelet = new TestKubelet(image);
  const nodes = [{ name: `${name}-node`, capacity: NODE }];
  const options = { name, directory, kubelet, controllers, nodes, nodeDir: path.join(directory, 'node') };
  const server = await (isServerReal() ? startReal : startEmbedded)(options);
  const { url, kubeconfig } = server;
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfigFile, renamed(kubeconfig, name), { mode: 0o600 });
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock), silentLogger);
  const client = createKubeClient(transport, { userAgent: 'test', clock: systemClock });
  const { clusters } = parse(kubeconfig) as { clusters: [{ cluster: { 'certificate-authority-data': string } }] };
  kubelet.attach({ client, url, caPem: Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString() });
  server.attach?.(client);
  const environment = {
    ...process.env,
    KUBECONFIG: kubeconfigFile,
    HELM_CACHE_HOME: directory,
    HELM_CONFIG_HOME: directory,
    HELM_DATA_HOME: directory,
  };
  return {
    name,
    client,
    kubeconfigFile,
    kubelet,
    helm: async (...args) => (await promisify(execFile)('helm', [...args], { env: environment })).stdout,
    backUp: () => server.backUp(),
    stop: () => server.close(),
    async [Symbol.asyncDispose]() {
      await kubelet[Symbol.asyncDispose]();
      await transport.close();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type ServerOptions = {
  readonly name: string;
  readonly directory: string;
  readonly kubelet: TestKubelet;
  readonly controllers: readonly ControlPlaneController[];
  readonly nodes: readonly NodeShape[];
  readonly nodeDir: string;
};

type Server = Pick<InstalledCluster, 'backUp'> & {
  readonly url: string;
  readonly kubeconfig: string;
  /** With an administrator it finds what is behind Services. */
  attach?(client: KubeClient): void;
  close(): Promise<void>;
};

async function startEmbedded({ directory, kubelet, controllers, nodes, nodeDir }: ServerOptions): Promise<Server> {
  type Started = {
    readonly plane: ControlPlane;
    readonly persistence: MemoryPersistence;
    readonly url: string;
    readonly kubeconfig: string;
  };
  const start = async (port: number, backup?: Backup): Promise<Started> => {
    const persistence = createMemoryPersistence(backup);
    const plane = await createControlPlane({
      clock: systemClock,
      random: Math.random,
      log: silentLogger,
      controllers,
      nodes,
      nodeDir,
      clusterNetwork: kubelet.network,
      // Keeps its certificate and the administrator's token there.
      dataDir: path.join(directory, 'identity'),
      persistence,
    });
    return { plane, persistence, ...(await plane.listen({ port })) };
  };
  const first = await start(0);
  const { url, kubeconfig } = first;
  let { plane, persistence } = first;
  return {
    url,
    kubeconfig,
    backUp() {
      const backup = persistence.backUp();
      return async () => {
        await plane.close();
        ({ plane, persistence } = await start(Number(new URL(url).port), backup));
      };
    },
    close: () => plane.close(),
  };
}

/** Upstream's API server, whose calls of webhooks find what the kubelet runs. */
async function startReal({ name, directory, kubelet, controllers, nodes, nodeDir }: ServerOptions): Promise<Server> {
  await using starting = new AsyncDisposableStack();
  const proxy = starting.use(await startServiceProxy(directory, kubelet.network));
  const etcd = starting.use(await startRealEtcd());
  const server = await startServerUnderTest({ name, etcd, controllers, nodes, nodeDir, apiServerFlags: [proxy.apiServerFlag] });
  starting.defer(() => server.close());
  const programs = starting.move();
  return {
    url: server.url,
    kubeconfig: server.kubeconfig,
    attach: proxy.attach,
    close: () => programs.disposeAsync(),
    backUp() {
      const putBack = etcd.backUp();
      return async () => server.restartAll?.(putBack);
    },
  };
}

/** A kubeconfig whose context, cluster and user have this name, so that several can be merged. */
function renamed(kubeconfig: string, name: string): string {
  const { clusters, users } = parse(kubeconfig) as { clusters: [{ cluster: object }]; users: [{ user: object }] };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: clusters[0].cluster }],
    users: [{ name, user: users[0].user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
