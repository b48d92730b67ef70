import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import { createControllers } from '../../shared/controlplane/controllers/start-controllers.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { realControlPlaneAssets, startRealControlPlane } from './real-control-plane.ts';

/**
 * The API server that recorded behaviour is asked of, over HTTPS and in real time: the embedded control plane, or the real
 * one that KUBEBUILDER_ASSETS names. Beside both run our garbage collector and namespace controller.
 */
export type ServerUnderTest = {
  /** Of a cluster administrator. */
  readonly kubeconfigFile: string;
  readonly access: ClusterAccess;
  readonly client: KubeClient;
  close(): Promise<void>;
};

export const isServerReal = (): boolean => realControlPlaneAssets() !== undefined;

const CONTROLLERS = ['garbage-collector', 'namespace'] as const;

export const startServerUnderTest = (): Promise<ServerUnderTest> => (isServerReal() ? startReal() : startEmbedded());

async function startEmbedded(): Promise<ServerUnderTest> {
  const plane = await createControlPlane({ clock: systemClock, random: Math.random, log: silentLogger, controllers: CONTROLLERS });
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-under-test-'));
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfigFile, (await plane.listen()).kubeconfig, { mode: 0o600 });
  const { access, client, disconnect } = connect(kubeconfigFile);
  return {
    kubeconfigFile,
    access,
    client,
    close: async () => {
      await disconnect();
      await plane.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A bare API server has no controllers: ours take their places. */
async function startReal(): Promise<ServerUnderTest> {
  const real = await startRealControlPlane();
  const { access, client, disconnect } = connect(real.kubeconfigFile);
  const stopping = new AbortController();
  const deps = { client, clock: systemClock, random: Math.random, log: silentLogger };
  const controllers = createControllers(CONTROLLERS, deps, undefined).run(stopping.signal);
  return {
    kubeconfigFile: real.kubeconfigFile,
    access,
    client,
    close: async () => {
      stopping.abort(new Error('the tests are over'));
      await controllers;
      await disconnect();
      await real.stop();
    },
  };
}

function connect(kubeconfigFile: string): Pick<ServerUnderTest, 'access' | 'client'> & { disconnect(): Promise<void> } {
  const access = accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock);
  const transport = createHttpTransport(access, silentLogger);
  const client = createKubeClient(transport, { userAgent: 'test', clock: systemClock });
  return { access, client, disconnect: () => transport.close() };
}
