/** The cluster that a suite measures against: given by a kubeconfig, made of real binaries, or embedded in a process of its own. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ChildProgram } from '../support/child-program.ts';
import { realControlPlaneAssets, startRealControlPlane } from '../support/real-control-plane.ts';

export type BenchCluster = {
  readonly name: string;
  readonly kubeconfigFile: string;
  stop(): Promise<void>;
};

const CONTROL_PLANE = path.resolve(import.meta.dirname, '../../shared/controlplane/main.ts');

export async function startBenchCluster(kubeconfigFile: string | undefined): Promise<BenchCluster> {
  if (kubeconfigFile !== undefined) return { name: kubeconfigFile, kubeconfigFile, stop: async () => undefined };
  if (realControlPlaneAssets() !== undefined) return { name: 'etcd and kube-apiserver', ...(await startRealControlPlane()) };
  return startEmbedded();
}

async function startEmbedded(): Promise<BenchCluster> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  const flags = ['--kubeconfig-out', kubeconfigFile, '--with', 'garbage-collector,namespace'];
  const program = new ChildProgram('the control plane', [process.execPath, CONTROL_PLANE, ...flags]);
  const stop = async (): Promise<void> => {
    await program.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await program.find((line) => (line.includes('"control plane is serving"') && existsSync(kubeconfigFile) ? true : undefined));
    return { name: 'embedded control plane', kubeconfigFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
