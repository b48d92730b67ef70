/** The cluster that a suite measures against: given by a kubeconfig, made of real binaries, or embedded in a process of its own. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ChildProgram } from '../support/child-program.ts';
import { realControlPlaneAssets, startRealControlPlane } from '../support/real-control-plane.ts';
import { childrenOf, cpuSecondsOf } from './process-figures.ts';

export type BenchCluster = {
  readonly name: string;
  readonly kubeconfigFile: string;
  /** Processor time of its programs so far, where this process has started them. */
  cpuSeconds?(): number;
  stop(): Promise<void>;
};

const CONTROL_PLANE = path.resolve(import.meta.dirname, '../../shared/controlplane/main.ts');

export async function startBenchCluster(kubeconfigFile: string | undefined): Promise<BenchCluster> {
  if (kubeconfigFile !== undefined) return { name: kubeconfigFile, kubeconfigFile, stop: async () => undefined };
  if (realControlPlaneAssets() !== undefined) return startReal();
  return startEmbedded();
}

async function startReal(): Promise<BenchCluster> {
  const before = new Set(childrenOf(process.pid));
  const real = await startRealControlPlane();
  const programs = childrenOf(process.pid).filter((pid) => !before.has(pid));
  return {
    name: 'etcd and kube-apiserver',
    ...real,
    cpuSeconds: () => programs.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
  };
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
    return { name: 'embedded control plane', kubeconfigFile, cpuSeconds: () => cpuSecondsOf(program.pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
