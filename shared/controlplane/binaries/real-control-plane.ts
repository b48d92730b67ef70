/**
 * A control plane of upstream's own programs, in processes beside this one: kube-apiserver and, where the directory has it,
 * kube-controller-manager, on an etcd of its own or one that several share.
 */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { kubeconfigFor, newToken } from '../server/kubeconfig-file.ts';
import { freePort } from './free-port.ts';
import { apiServerFlags, controllerManagerFlags, HOST } from './program-flags.ts';
import { answersOk, type Launch, type LaunchedProgram, untilReady } from './launched-program.ts';
import { type RealEtcd, startRealEtcd } from './real-etcd.ts';
import { writeSecrets } from './secrets.ts';

export type RealControlPlaneOptions<P extends LaunchedProgram> = {
  /** Directory with the programs. */
  readonly assets: string;
  /** For keys, certificates and data. Must exist; whoever made it removes it. */
  readonly directory: string;
  readonly launch: Launch<P>;
  readonly clock: Clock;
  /** Of the context, and of its keys in an etcd that is shared. */
  readonly name: string;
  /** Absent: an etcd of its own. */
  readonly etcd?: RealEtcd;
  /** Absent: any free port. */
  readonly port?: number;
  /**
   * What kube-controller-manager runs, by upstream's names, beside what ServiceAccounts need. Absent, or where `assets` lacks that program:
   * no kube-controller-manager, and pods are admitted without ServiceAccounts.
   */
  readonly controllers?: readonly string[];
  /** More flags of the API server. */
  readonly apiServerFlags?: readonly string[];
};

export interface RealControlPlane<P extends LaunchedProgram> {
  readonly url: string;
  readonly caPem: string;
  /** YAML, of a member of system:masters. */
  readonly kubeconfig: string;
  readonly hasControllerManager: boolean;
  /** The API server as it was started last. */
  apiServer(): P;
  /** Stops the API server, unless it has ended, and starts it again at the same address. */
  restart(): Promise<void>;
  /** Stops all programs but the storage, waits for `meanwhile`, and starts them again. */
  restartAll(meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Whether upstream's controllers can run beside an API server from this directory. */
export const hasControllerManager = (assets: string): boolean => existsSync(path.join(assets, 'kube-controller-manager'));

/** Starts the programs and waits until they are of use. Throws when one of them ends. */
export async function startRealControlPlane<P extends LaunchedProgram>(options: RealControlPlaneOptions<P>): Promise<RealControlPlane<P>> {
  const { assets, directory, launch, clock, name } = options;
  await using starting = new AsyncDisposableStack();
  const controllers = hasControllerManager(assets) ? options.controllers : undefined;
  const port = options.port ?? (await freePort());
  const url = `https://${HOST}:${port}`;
  const token = newToken();
  const { certPem } = await writeSecrets(directory, token);
  const kubeconfig = kubeconfigFor({ url, caPem: certPem }, token, name);
  const etcd = options.etcd ?? starting.use(await startRealEtcd({ assets, directory, launch, clock }));

  const flags = [
    // Upstream's default, which messages name, where nobody else is.
    ...apiServerFlags({
      directory,
      etcdUrl: etcd.url,
      etcdPrefix: options.etcd === undefined ? '/registry' : `/${name}`,
      port,
      hasServiceAccounts: controllers !== undefined,
    }),
    ...(options.apiServerFlags ?? []),
  ];
  const startApiServer = (): P => launch(`kube-apiserver of ${name}`, [path.join(assets, 'kube-apiserver'), ...flags]);
  let apiServer = startApiServer();
  // Before its storage: without that it would take its time to end.
  starting.defer(() => apiServer.stop());
  await untilReady(apiServer, clock, () => answersOk(`${url}/readyz`, { ca: certPem }));

  const kubeconfigFile = path.join(directory, 'controller-manager.kubeconfig');
  writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
  let manager: P | undefined;
  const startControllerManager = async (): Promise<void> => {
    if (controllers === undefined) return;
    const managerFlags = controllerManagerFlags({ directory, kubeconfigFile, controllers });
    manager = launch(`kube-controller-manager of ${name}`, [path.join(assets, 'kube-controller-manager'), ...managerFlags]);
    const account = `${url}/api/v1/namespaces/default/serviceaccounts/default`;
    await untilReady(manager, clock, () => answersOk(account, { ca: certPem, token }));
  };
  starting.defer(async () => manager?.stop());
  await startControllerManager();
  const restart = async (meanwhile?: () => Promise<void>): Promise<void> => {
    await apiServer.stop();
    await meanwhile?.();
    apiServer = startApiServer();
    await untilReady(apiServer, clock, () => answersOk(`${url}/readyz`, { ca: certPem }));
  };
  const programs = starting.move();
  return {
    url,
    caPem: certPem,
    kubeconfig,
    hasControllerManager: controllers !== undefined,
    apiServer: () => apiServer,
    restart: () => restart(),
    async restartAll(meanwhile) {
      await manager?.stop();
      await restart(meanwhile);
      await startControllerManager();
    },
    stop: () => programs.disposeAsync(),
  };
}
