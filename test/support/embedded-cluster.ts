import { Registry } from 'prom-client';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { createWorker, type WorkerSettings } from '../../worker/worker.ts';

/** A control plane in this process, without sockets: with a fake clock the same run every time. */
export type EmbeddedCluster = { readonly plane: ControlPlane; readonly client: KubeClient };

export async function startCluster(
  clock: Clock,
  controllers: readonly ControlPlaneController[] = ['garbage-collector', 'namespace'],
  seed = 1,
): Promise<EmbeddedCluster> {
  const plane = await createControlPlane({ clock, random: seededRandom(seed), log: silentLogger, controllers });
  return { plane, client: createKubeClient(plane.transport(), { userAgent: 'test', clock }) };
}

/** The settings of a worker that takes the built-in Job controller's place. */
export const BUILT_IN_SETTINGS: WorkerSettings = {
  controllerName: BUILT_IN_JOB_CONTROLLER_NAME,
  controllers: ['job', 'ttl-after-finished'],
  concurrentJobSyncs: 5,
  concurrentTtlSyncs: 5,
  batchPeriodMs: 1000,
  namespaces: [],
};

/** Of a worker that runs the copies of a manager, and does not gather for as long as usual. */
export const MIRRORED_JOBS_SETTINGS: WorkerSettings = {
  ...BUILT_IN_SETTINGS,
  controllerName: WORKER_CONTROLLER_NAME,
  controllers: ['job'],
  concurrentTtlSyncs: 1,
  batchPeriodMs: 100,
};

export type RunningWorker = { readonly registry: Registry; stop(): Promise<void> };

type WorkedOn = { transport(): Transport };

/** A worker in this process, working on the cluster until it is stopped. */
export function startWorker(cluster: WorkedOn, clock: Clock, settings: WorkerSettings = BUILT_IN_SETTINGS, seed = 2): RunningWorker {
  const registry = new Registry();
  const client = createKubeClient(cluster.transport(), { userAgent: 'switchyard-worker', clock });
  const worker = createWorker({ client, registry, clock, random: seededRandom(seed), log: silentLogger, settings });
  const stopping = new AbortController();
  const running = worker.run(stopping.signal);
  return {
    registry,
    stop: async () => {
      stopping.abort(new Error('the test is over'));
      await running;
    },
  };
}
