/** A cluster to install on: an embedded control plane that listens, helm and an administrator there, and a kubelet for what was installed. It can be put back to an earlier state. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import type { Image } from './image-root.ts';
import { type Backup, createMemoryPersistence, type MemoryPersistence } from './memory-persistence.ts';
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
  /** What is stored now. */
  backUp(): Backup;
  /** Stops the API server with all that runs on its nodes. Programs of Deployments go on: nobody tells them. */
  stop(): Promise<void>;
  /** Starts it again at the same address, from what was stored then. */
  restore(backup: Backup): Promise<void>;
}

const NODE = { cpu: '4', memory: '8Gi', pods: '110' };

export async function startInstalledCluster(
  name: string,
  image: Image,
  controllers: readonly ControlPlaneController[] = ['garbage-collector', 'namespace', 'pod-gc'],
): Promise<InstalledCluster> {
  const directory = mkdtempSync(path.join(tmpdir(), `switchyard-${name}-`));
  const kubelet = new TestKubelet(image);
  const start = async (
    port: number,
    backup?: Backup,
  ): Promise<{
    readonly plane: ControlPlane;
    readonly persistence: MemoryPersistence;
    readonly url: string;
    readonly kubeconfig: string;
  }> => {
    const persistence = createMemoryPersistence(backup);
    const plane = await createControlPlane({
      clock: systemClock,
      random: Math.random,
      log: silentLogger,
      controllers,
      nodes: [{ name: `${name}-node`, capacity: NODE }],
      nodeDir: path.join(directory, 'node'),
      clusterNetwork: kubelet.network,
      // Keeps its certificate and the administrator's token there.
      dataDir: path.join(directory, 'identity'),
      persistence,
    });
    return { plane, persistence, ...(await plane.listen({ port })) };
  };
  let server = await start(0);
  const { url, kubeconfig } = server;
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfigFile, renamed(kubeconfig, name), { mode: 0o600 });
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock), silentLogger);
  const client = createKubeClient(transport, { userAgent: 'test', clock: systemClock });
  const { clusters } = parse(kubeconfig) as { clusters: [{ cluster: { 'certificate-authority-data': string } }] };
  kubelet.attach({ client, url, caPem: Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString() });
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
    backUp: () => server.persistence.backUp(),
    stop: () => server.plane.close(),
    async restore(backup) {
      await server.plane.close();
      server = await start(Number(new URL(url).port), backup);
    },
    async [Symbol.asyncDispose]() {
      await kubelet[Symbol.asyncDispose]();
      await transport.close();
      await server.plane.close();
      rmSync(directory, { recursive: true, force: true });
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
