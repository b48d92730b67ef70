/** A cluster to install on: an embedded control plane that listens, helm and kubectl as an administrator there, and a kubelet for what was installed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import type { Image } from './image-root.ts';
import { TestKubelet } from './test-kubelet.ts';

export interface InstalledCluster extends AsyncDisposable {
  readonly name: string;
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  /** Of an administrator; its context has the name of the cluster. */
  readonly kubeconfigFile: string;
  readonly kubelet: TestKubelet;
  /** Runs helm, and returns what it prints. */
  helm(...args: readonly string[]): Promise<string>;
}

const NODE = { cpu: '4', memory: '8Gi', pods: '110' };

export async function startInstalledCluster(
  name: string,
  image: Image,
  controllers: readonly ControlPlaneController[] = ['garbage-collector', 'namespace', 'pod-gc'],
): Promise<InstalledCluster> {
  const directory = mkdtempSync(path.join(tmpdir(), `switchyard-${name}-`));
  const kubelet = new TestKubelet(image);
  const plane = await createControlPlane({
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    controllers,
    nodes: [{ name: `${name}-node`, capacity: NODE }],
    nodeDir: path.join(directory, 'node'),
    clusterNetwork: kubelet.network,
  });
  const { url, kubeconfig } = await plane.listen();
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfigFile, renamed(kubeconfig, name), { mode: 0o600 });
  const client = createKubeClient(plane.transport(), { userAgent: 'test', clock: systemClock });
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
    plane,
    client,
    kubeconfigFile,
    kubelet,
    helm: async (...args) => (await promisify(execFile)('helm', [...args], { env: environment })).stdout,
    async [Symbol.asyncDispose]() {
      await kubelet[Symbol.asyncDispose]();
      await plane.close();
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
