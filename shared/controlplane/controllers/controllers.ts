import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';

/** Controllers that can run beside the API, as kube-controller-manager and kubelet do beside a real one. */
export type ControlPlaneController =
  | 'garbage-collector'
  | 'namespace'
  | 'pod-gc'
  | 'taint-eviction'
  | 'cron-job'
  | 'deployment'
  | 'replica-set'
  | 'node-agent';

/** What every controller beside the API is made of. */
export type ControllerDeps = { readonly client: KubeClient; readonly clock: Clock; readonly random: Random; readonly log: Logger };

export interface Controller {
  /** Works until `signal` aborts, then resolves. */
  run(signal: AbortSignal): Promise<void>;
}
