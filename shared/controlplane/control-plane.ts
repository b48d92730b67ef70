import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { Transport } from '../kube/transport.ts';

/** Controllers that can run beside the API, as kube-controller-manager and kubelet do beside a real one. */
export type ControlPlaneController = 'garbage-collector' | 'namespace' | 'pod-gc' | 'node-agent';

export type ControlPlaneOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Keeps all objects in this directory over restarts; absent: in memory only. */
  readonly dataDir?: string;
  readonly controllers?: readonly ControlPlaneController[];
};

/** Who speaks, for authorization. `system:masters` may do everything. */
export type UserInfo = {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

export type ListenOptions = { readonly host?: string /** 0: any free port. */; readonly port?: number };

/**
 * A small Kubernetes API server in this process. Built apart from listening: without `listen` it serves
 * through `transport`, without any socket, and with a fake clock it is fully deterministic.
 */
export interface ControlPlane {
  /** Direct calls, no sockets; as a member of system:masters unless `user` is given. */
  transport(user?: UserInfo): Transport;
  /** Serves HTTP on a port. Returns the URL, and a kubeconfig (YAML) whose user is a member of system:masters. */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly kubeconfig: string }>;
  /** Stops controllers and sockets; with a data directory everything acknowledged is on disk. */
  close(): Promise<void>;
}

export declare function createControlPlane(options: ControlPlaneOptions): Promise<ControlPlane>;
