import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasControllerManager } from '../../shared/controlplane/binaries/real-control-plane.ts';
import { divideControllers } from '../../shared/controlplane/binaries/upstream-controllers.ts';
import { startOwnControllers } from '../../shared/controlplane/binaries/own-controllers.ts';
import type { RealEtcd } from '../../shared/controlplane/binaries/real-etcd.ts';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import type { NodeShape } from '../../shared/controlplane/controllers/node-agent/node-status.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { realControlPlaneAssets, startRealControlPlane } from './real-control-plane.ts';

/**
 * A cluster over HTTPS and in real time, embedded or real: with KUBEBUILDER_ASSETS upstream's API server, on which upstream's controllers
 * run where that directory has them, and ours where it has not. The one place that chooses.
 */
export type ServerUnderTest = {
  readonly url: string;
  /** YAML of {@link kubeconfigFile}. */
  readonly kubeconfig: string;
  /** Of a cluster administrator. */
  readonly kubeconfigFile: string;
  readonly access: ClusterAccess;
  readonly client: KubeClient;
  /** The administrator's connections, which {@link close} ends. */
  transport(): Transport;
  close(): Promise<void>;
  /** Of a real one: stops all its programs but etcd, waits for `meanwhile`, and starts them again at the same address. */
  restartAll?(meanwhile: () => Promise<void>): Promise<void>;
};

export type ServerOptions = {
  /** Default: garbage collector and namespaces. */
  readonly controllers?: readonly ControlPlaneController[];
  /** Those that the node agent is; default: one, `node-1`. */
  readonly nodes?: readonly NodeShape[];
  /** Where the node agent keeps logs and working directories; default: a temporary directory. */
  readonly nodeDir?: string;
  /** More flags of a real API server. */
  readonly apiServerFlags?: readonly string[];
  /** Further controllers that only kube-controller-manager has, by upstream's names. */
  readonly upstream?: readonly string[];
  /** `ours`: also beside a real API server, on which pods need no ServiceAccount then. Default: upstream's, where there are any. */
  readonly whoseControllers?: 'ours' | 'upstream';
  /** Of the context. Servers on one etcd have different ones. */
  readonly name?: string;
  /** Shared with other real servers; see `startRealEtcd`. */
  readonly etcd?: RealEtcd | undefined;
};

export const isServerReal = (): boolean => realControlPlaneAssets() !== undefined;

/** Whether upstream's controllers run. */
export function areControllersReal(): boolean {
  const assets = realControlPlaneAssets();
  return assets !== undefined && hasControllerManager(assets);
}

const CONTROLLERS = ['garbage-collector', 'namespace'] as const;

export const startServerUnderTest = (options: ServerOptions = {}): Promise<ServerUnderTest> =>
  isServerReal() ? startReal(options) : startEmbedded(options);

async function startEmbedded({ controllers = CONTROLLERS, nodes, nodeDir }: ServerOptions): Promise<ServerUnderTest> {
  const log = silentLogger;
  const plane = await createControlPlane({
    clock: systemClock,
    random: Math.random,
    log,
    controllers,
    ...omitUndefined({ nodes, nodeDir }),
  });
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-under-test-'));
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  const { url, kubeconfig } = await plane.listen();
  writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
  const { access, client, transport } = connect(kubeconfigFile);
  return {
    url,
    kubeconfig,
    kubeconfigFile,
    access,
    client,
    transport: () => transport,
    close: async () => {
      await transport.close();
      await plane.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startReal(options: ServerOptions): Promise<ServerUnderTest> {
  const {
    controllers = CONTROLLERS,
    upstream: more = [],
    whoseControllers = 'upstream',
    nodes,
    nodeDir,
    name,
    etcd,
    apiServerFlags,
  } = options;
  const divided = divideControllers(controllers);
  const upstream = whoseControllers === 'ours' ? undefined : [...divided.upstream, ...more];
  const real = await startRealControlPlane(omitUndefined({ controllers: upstream, name, etcd, apiServerFlags }));
  const { url, kubeconfig, kubeconfigFile } = real;
  const { access, client, transport } = connect(kubeconfigFile);
  const ours = real.hasControllerManager ? divided.ours : controllers;
  const deps = { clock: systemClock, random: Math.random, log: silentLogger };
  const running = await startOwnControllers({ ...deps, controllers: ours, ...omitUndefined({ nodes, nodeDir }) }, transport);
  return {
    url,
    kubeconfig,
    kubeconfigFile,
    access,
    client,
    transport: () => transport,
    restartAll: (meanwhile) => real.restartAll(meanwhile),
    close: async () => {
      await running.stop();
      await transport.close();
      await real.stop();
    },
  };
}

function connect(kubeconfigFile: string): Pick<ServerUnderTest, 'access' | 'client'> & { readonly transport: Transport } {
  const access = accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock);
  const transport = createHttpTransport(access, silentLogger);
  return { access, client: createKubeClient(transport, { userAgent: 'test', clock: systemClock }), transport };
}
