/**
 * A cluster in processes of its own, which can be paused: the embedded control plane as a program, or with KUBEBUILDER_ASSETS a real one
 * with our node agent beside it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { divideControllers } from '../../shared/controlplane/binaries/upstream-controllers.ts';
import type { RealEtcd } from '../../shared/controlplane/binaries/real-etcd.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { ChildProgram } from './child-program.ts';
import { startRealControlPlane } from './real-control-plane.ts';
import { isServerReal } from './server-under-test.ts';

export interface ClusterProgram extends AsyncDisposable {
  readonly kubeconfigFile: string;
  /** YAML of {@link kubeconfigFile}. */
  readonly kubeconfig: string;
  readonly port: number;
  readonly client: KubeClient;
  /** API server and kubelet do nothing from now on, with their connections open. What runs on the nodes goes on. */
  pause(): void;
  resume(): void;
}

export type ClusterProgramOptions = {
  readonly name: string;
  readonly controllers: readonly ControlPlaneController[];
  /** Shared with other real clusters. */
  readonly etcd?: RealEtcd | undefined;
  /** Each line that one of its programs prints. */
  readonly onLine?: (line: string) => void;
};

const ROOT = path.resolve(import.meta.dirname, '..', '..');

export async function startClusterProgram(options: ClusterProgramOptions): Promise<ClusterProgram> {
  await using starting = new AsyncDisposableStack();
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-cluster-'));
  starting.defer(async () => rmSync(directory, { recursive: true, force: true }));
  const start = (name: string, main: string, flags: readonly string[]): ChildProgram => {
    const program = starting.use(new ChildProgram(`${name} of ${options.name}`, [process.execPath, path.join(ROOT, main), ...flags]));
    if (options.onLine !== undefined) program.onLine(options.onLine);
    return program;
  };
  const { kubeconfigFile, programs } = await (isServerReal() ? startReal : startEmbedded)(options, directory, start, starting);
  const access = accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock);
  const transport = createHttpTransport(access, silentLogger);
  starting.defer(() => transport.close());
  const resources = starting.move();
  return {
    kubeconfigFile,
    kubeconfig: readFileSync(kubeconfigFile, 'utf8'),
    port: Number(new URL(access.server).port),
    client: createKubeClient(transport, { userAgent: 'test', clock: systemClock }),
    pause() {
      for (const program of programs) program.pause();
    },
    resume() {
      for (const program of programs) program.resume();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

type Started = { readonly kubeconfigFile: string; readonly programs: readonly ChildProgram[] };
type Start = (name: string, main: string, flags: readonly string[]) => ChildProgram;

async function startEmbedded({ controllers }: ClusterProgramOptions, directory: string, start: Start): Promise<Started> {
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  const flags = [`--kubeconfig-out=${kubeconfigFile}`, `--with=${controllers.join(',')}`];
  const program = start('the control plane', 'shared/controlplane/main.ts', flags);
  await program.find((line) => (line.includes('control plane is serving') ? true : undefined));
  return { kubeconfigFile, programs: [program] };
}

async function startReal(
  { name, controllers, etcd }: ClusterProgramOptions,
  _directory: string,
  start: Start,
  starting: AsyncDisposableStack,
): Promise<Started> {
  const divided = divideControllers(controllers);
  const plane = await startRealControlPlane({ name, controllers: divided.upstream, ...omitUndefined({ etcd }) });
  starting.defer(() => plane.stop());
  const { kubeconfigFile } = plane;
  const ours = plane.hasControllerManager ? divided.ours : controllers;
  if (ours.length === 0) return { kubeconfigFile, programs: [plane.apiServer()] };
  const beside = start('the node agent', 'test/support/own-controllers-program.ts', [kubeconfigFile, ours.join(',')]);
  await beside.find((line) => (line === 'running' ? true : undefined));
  return { kubeconfigFile, programs: [plane.apiServer(), beside] };
}
