import type { Job } from '../../shared/api/kubernetes.ts';
import { WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import type { RecordReader } from '../api/records.ts';
import type { ResourceFlavor } from '../api/resource-flavor.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import type { DispatchMetrics } from '../metrics.ts';
import { createClusterRegistry, type ClusterRegistry } from './cluster-registry.ts';
import { createMirrorController, type MirrorController } from './mirror-controller.ts';
import { runOrphanCollector } from './orphan-collector.ts';
import { createRemoteCluster } from './remote-cluster.ts';

export type DispatchDeps = {
  /** The manager cluster. */
  readonly home: KubeClient;
  readonly jobs: Informer<Job>;
  readonly workerClusters: Informer<WorkerCluster>;
  readonly flavors: Informer<ResourceFlavor>;
  readonly readRecord: RecordReader;
  /** Connects to a worker cluster. */
  readonly connect: (cluster: string, access: ClusterAccess) => KubeClient;
  /** Id of this manager: the value of the origin label on its copies. */
  readonly origin: string;
  /** Writes under way at once to one worker cluster. */
  readonly concurrencyPerCluster: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: DispatchMetrics;
};

/** Mirrors admitted Jobs to their clusters and brings their status home. */
export interface Dispatch {
  /** Works until `signal` aborts. The informers must be running or about to. */
  run(signal: AbortSignal): Promise<void>;
}

/** Call before the informers run. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const { home, jobs, workerClusters, flavors, readRecord, clock, random, log, metrics, events, origin } = deps;
  const clusters: ClusterRegistry = createClusterRegistry({
    home,
    workerClusters,
    clock,
    log,
    metrics,
    connect: (name, access) => (access === undefined ? home : deps.connect(name, access)),
    createCluster: ({ metadata: { name }, spec }, client) =>
      createRemoteCluster({
        name,
        client,
        origin,
        clock,
        random,
        log: log.with({ cluster: name }),
        jobController: spec.jobController ?? WORKER_CONTROLLER_NAME,
        local: spec.local === true,
        concurrency: deps.concurrencyPerCluster,
        reconcile: (cluster, localKey) => mirror.reconcileRemote(cluster, localKey),
        onCopyChanged: (localKey) => mirror.wake(localKey),
        onContactChanged(cluster) {
          clusters.report(cluster.name);
          mirror.wakeAll();
        },
      }),
    onMembershipChanged: () => mirror.wakeAll(),
  });
  const mirror: MirrorController = createMirrorController({
    home,
    jobs,
    flavors,
    clusters,
    readRecord,
    origin,
    clock,
    log,
    events,
    metrics,
  });
  return {
    async run(signal) {
      const synced = await allSynced([jobs, workerClusters, flavors], signal);
      if (!synced) return;
      await Promise.all([
        clusters.run(signal),
        mirror.run(signal),
        runOrphanCollector({ clusters: () => clusters.all(), jobs, wake: (key) => mirror.wake(key), clock }, signal),
      ]);
    },
  };
}

/** False when `signal` aborted first. */
async function allSynced(informers: readonly Pick<Informer<Job>, 'waitForSync'>[], signal: AbortSignal): Promise<boolean> {
  try {
    await Promise.all(informers.map((informer) => informer.waitForSync(signal)));
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
