import { Counter, Histogram, type Metric, type Registry } from 'prom-client';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { ANSWER_FAULTS } from '../../shared/kube/unusable-answer.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import { forgetSeries } from '../../shared/runtime/forget-series.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import { createTimeSlices } from '../../shared/runtime/time-slices.ts';
import { fromZero } from '../../shared/runtime/zero-series.ts';
import { EvictionReason } from '../admission/eviction/evictions.ts';
import { DispatchedReason } from '../api/reasons.ts';
import { HOME } from '../process/client-factory.ts';
import type { ManagerMetrics } from './metrics.ts';

type Named = Pick<Informer<KubeObject>, 'addHandler' | 'get'>;

export type SeriesKeeperDeps = {
  readonly registry: Registry;
  readonly metrics: Pick<ManagerMetrics, 'admission' | 'dispatch'>;
  readonly workerClusters: Named;
  readonly clusterQueues: Named;
  readonly submissionQueues: Named;
  /** The kinds of work that the manager takes, such as `Job`. */
  readonly kinds: readonly string[];
  readonly clock: Clock;
};

/**
 * Looks after series that are called after clusters and queues. What may come to be counted of one is there from zero on, so that a rate
 * has something to begin with; and counts of those that are gone go, so that a process has no more series in a year than there are clusters
 * and queues.
 */
export interface SeriesKeeper {
  run(signal: AbortSignal): Promise<void>;
}

/** What is counted late of one that is gone, such as the end of its last Job, is counted and told before it goes. */
const KEPT_MS = 300_000;
const SLICE_MS = 10;

/** Why a write to a cluster may fail, and which. */
const WRITE_FAILURES = [
  DispatchedReason.NameTaken,
  DispatchedReason.NamespaceMissing,
  DispatchedReason.Refused,
  DispatchedReason.FieldsUnknown,
  DispatchedReason.FieldsDropped,
  DispatchedReason.ClusterError,
  DispatchedReason.NotAllowed,
  DispatchedReason.Throttled,
  DispatchedReason.NoAnswer,
];
const WRITES = ['create', 'update', 'seed', 'delete', 'look'];

/** Call before the informers run. */
export function createSeriesKeeper({
  registry,
  metrics,
  workerClusters,
  clusterQueues,
  submissionQueues,
  kinds,
  clock,
}: SeriesKeeperDeps): SeriesKeeper {
  let timer: Timer | undefined;
  let stopped = false;

  /** By label: whether this is the name of something that is gone. */
  const goneByLabel: Readonly<Record<string, (name: string) => boolean>> = {
    cluster: (name) => name !== HOME && isGone(workerClusters, name),
    cluster_queue: (name) => isGone(clusterQueues, name),
    preempting_cluster_queue: (name) => isGone(clusterQueues, name),
    // Of the queue that is no object there is no namespace.
    queue: (name) => name.includes('/') && isGone(submissionQueues, name),
  };

  const sweep = async (): Promise<void> => {
    const slices = createTimeSlices(clock, SLICE_MS);
    for (const [label, has] of Object.entries(goneByLabel))
      await forgetSeries(countsWith(registry, label), label, { has }, () => slices.nextWhenOver());
  };
  const deleted = (): void => {
    if (stopped || timer !== undefined) return;
    timer = clock.schedule(() => {
      timer = undefined;
      void sweep();
    }, KEPT_MS);
  };

  workerClusters.addHandler({ added: ({ metadata: { name } }) => beginCluster(metrics, name), deleted });
  clusterQueues.addHandler({ added: ({ metadata: { name } }) => beginQueue(metrics, name, kinds), deleted });
  submissionQueues.addHandler({ deleted });
  return {
    run: (signal) =>
      new Promise((resolve) =>
        onAbort(signal, () => {
          stopped = true;
          timer?.cancel();
          resolve();
        }),
      ),
  };
}

/** '' is said where a name is not known. */
function isGone(objects: Named, key: string): boolean {
  const [name = '', namespace = ''] = key.split('/').toReversed();
  return name !== '' && objects.get({ namespace, name }) === undefined;
}

/** Gauges are told anew all the time, and taken away by whoever tells them. */
const countsWith = (registry: Registry, label: string): Metric[] =>
  registry.getMetricsAsArray().flatMap(({ name }) => {
    const metric = registry.getSingleMetric(name);
    if (!(metric instanceof Counter) && !(metric instanceof Histogram)) return [];
    // The library keeps them where its types do not show them.
    const labels: unknown = Reflect.get(metric, 'labelNames');
    return Array.isArray(labels) && labels.includes(label) ? [metric] : [];
  });

function beginCluster({ dispatch }: Pick<ManagerMetrics, 'dispatch'>, cluster: string): void {
  for (const counter of [dispatch.reconnects, dispatch.clusterRestores, dispatch.orphansDeleted]) fromZero(counter, { cluster });
  fromZero(dispatch.clusterFaults, { cluster, reason: ANSWER_FAULTS });
  fromZero(dispatch.statusWrites, { cluster, terminal: ['true', 'false'] });
  fromZero(dispatch.dispatchFailures, { cluster, verb: WRITES, reason: WRITE_FAILURES });
}

function beginQueue({ admission }: Pick<ManagerMetrics, 'admission'>, cluster_queue: string, kind: readonly string[]): void {
  fromZero(admission.evicted, { cluster_queue, reason: Object.values(EvictionReason) });
  fromZero(admission.finished, { cluster_queue, result: ['Complete', 'Failed', 'Deleted'], kind });
}
