import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startOwnControllers } from '../../../shared/controlplane/binaries/own-controllers.ts';
import { startRealControlPlane } from '../../../shared/controlplane/binaries/real-control-plane.ts';
import { startRealEtcd } from '../../../shared/controlplane/binaries/real-etcd.ts';
import { divideControllers } from '../../../shared/controlplane/binaries/upstream-controllers.ts';
import type { ControllersOptions } from '../../../shared/controlplane/controllers/controller-processes.ts';
import type { ControlPlaneController } from '../../../shared/controlplane/controllers/controllers.ts';
import { createHttpTransport } from '../../../shared/kube/http-transport.ts';
import type { Transport } from '../../../shared/kube/transport.ts';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { launchIn } from './launch.ts';

export type StartedPlane = {
  readonly url: string;
  readonly kubeconfig: string;
  /** Of an administrator. Ends with the plane. */
  readonly transport: Transport;
  close(): Promise<void>;
};

export type PlaneOptions = ControllersOptions & {
  readonly name: string;
  readonly port: number;
  readonly controllers: readonly ControlPlaneController[];
};

export interface RealClusters {
  start(options: PlaneOptions): Promise<StartedPlane>;
  close(): Promise<void>;
}

/** Clusters of upstream's programs from `assets`, on one etcd. Their nodes are our node agent's, as a kubelet would want containers. */
export async function prepareRealClusters(
  assets: string,
  directory: string,
  { clock, searched }: { readonly clock: Clock; readonly searched: string | undefined },
): Promise<RealClusters> {
  const launch = launchIn(directory, searched);
  const etcd = await startRealEtcd({ assets, directory, launch, clock });
  return {
    async start(options) {
      const { name, port, log, controllers } = options;
      const home = path.join(directory, `control-plane-${name}`);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const { upstream, ours } = divideControllers(controllers);
      const plane = await startRealControlPlane({ assets, directory: home, launch, clock, name, etcd, port, controllers: upstream });
      const access = accessFromKubeconfig({ kind: 'text', yaml: plane.kubeconfig }, clock);
      const transport = createHttpTransport(access, log);
      const running = await startOwnControllers({ ...options, controllers: plane.hasControllerManager ? ours : controllers }, transport);
      return {
        url: plane.url,
        kubeconfig: plane.kubeconfig,
        transport,
        close: async () => {
          await running.stop();
          await transport.close();
          await plane.stop();
        },
      };
    },
    close: async () => etcd[Symbol.asyncDispose](),
  };
}
