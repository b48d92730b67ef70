/** A control plane from the directory that KUBEBUILDER_ASSETS names, in processes that do not outlive this one. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type RealControlPlane as ControlPlane,
  type RealControlPlaneOptions as ControlPlaneOptions,
  startRealControlPlane as startControlPlane,
} from '../../shared/controlplane/binaries/real-control-plane.ts';
import { type RealEtcd, startRealEtcd as startEtcd } from '../../shared/controlplane/binaries/real-etcd.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { ChildProgram } from './child-program.ts';

export type RealControlPlane = ControlPlane<ChildProgram> & {
  /** Of a cluster administrator. */
  readonly kubeconfigFile: string;
};

export type RealControlPlaneOptions = Pick<ControlPlaneOptions<ChildProgram>, 'controllers' | 'etcd' | 'port' | 'apiServerFlags'> & {
  readonly assets?: string;
  /** Of the context; planes on one etcd have different ones. */
  readonly name?: string;
};

/** The directory with the binaries; undefined when none is named. */
export const realControlPlaneAssets = (): string | undefined => process.env['KUBEBUILDER_ASSETS'] || undefined;

const launch = (name: string, command: readonly [string, ...string[]]): ChildProgram => new ChildProgram(name, command);

/**
 * Throws when KUBEBUILDER_ASSETS is not set, or a program ends. Without `controllers` the API server is alone: Jobs without `managedBy` are
 * nobody's, and nothing collects garbage.
 */
export async function startRealControlPlane(options: RealControlPlaneOptions = {}): Promise<RealControlPlane> {
  const { name = 'real', controllers, etcd, port, apiServerFlags } = options;
  const assets = required(options.assets);
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-apiserver-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    const more = omitUndefined({ controllers, etcd, port, apiServerFlags });
    const plane = await startControlPlane({ assets, directory, launch, clock: systemClock, name, ...more });
    const kubeconfigFile = path.join(directory, 'kubeconfig');
    writeFileSync(kubeconfigFile, plane.kubeconfig, { mode: 0o600 });
    const stop = async (): Promise<void> => {
      await plane.stop();
      remove();
    };
    return { ...plane, kubeconfigFile, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

export type BackedUpEtcd = RealEtcd & {
  /** Keeps what is stored now. The result puts that back; no API server must run then. */
  backUp(): () => Promise<void>;
};

/** For several control planes at once. */
export async function startRealEtcd(assetsGiven?: string): Promise<BackedUpEtcd> {
  const assets = required(assetsGiven);
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-etcd-'));
  let program: ChildProgram | undefined;
  const launchNoted = (...args: Parameters<typeof launch>): ChildProgram => (program = launch(...args));
  const etcd = await startEtcd({ assets, directory, launch: launchNoted, clock: systemClock });
  return {
    ...etcd,
    backUp() {
      const kept = mkdtempSync(path.join(directory, 'backup-'));
      // What is on the disk while etcd does nothing is what it would find after a crash.
      program?.pause();
      cpSync(etcd.dataDir, kept, { recursive: true });
      program?.resume();
      return () =>
        etcd.restart(() => {
          rmSync(etcd.dataDir, { recursive: true });
          cpSync(kept, etcd.dataDir, { recursive: true });
        });
    },
    async [Symbol.asyncDispose]() {
      await etcd[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function required(assets = realControlPlaneAssets()): string {
  if (assets === undefined || assets === '') throw new Error('KUBEBUILDER_ASSETS names no directory with etcd and kube-apiserver');
  return assets;
}
