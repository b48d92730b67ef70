import { Gauge, type Registry } from 'prom-client';

/** State that the leader observes. It is read at each scrape, so its cost must depend only on the number of queues and clusters. */
export type ObservedState = {
  readonly clusters: Iterable<ObservedCluster>;
  readonly clusterQueues: Iterable<ObservedClusterQueue>;
  readonly localQueues: readonly ObservedLocalQueue[];
};
/** Amounts are in the base unit of the resource. */
export type ObservedCluster = {
  readonly name: string;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly allocatable: ReadonlyMap<string, number>;
  /** Requests of admitted Jobs on the cluster. */
  readonly used: ReadonlyMap<string, number>;
  /** When the watch of copies last received anything, in epoch seconds; undefined while there is no watch. */
  readonly heardSeconds: number | undefined;
};
export type ObservedClusterQueue = {
  readonly name: string;
  /** Since when the first Workload in order waits, in epoch seconds; undefined if none is pending. */
  readonly headSinceSeconds: number | undefined;
  readonly pendingByReason: ReadonlyMap<string, number>;
};
export type ObservedLocalQueue = {
  readonly namespace: string;
  readonly name: string;
  readonly pending: number;
  readonly admitted: number;
  readonly usage: Iterable<{ readonly flavor: string; readonly resource: string; readonly amount: number }>;
};

export interface StateMetrics {
  /** Sets the source of the state; undefined: this process does not lead. */
  observe(look: (() => ObservedState) | undefined): void;
}

export type StateLimits = {
  /**
   * LocalQueues that have series, the first by namespace and name. Tenants create LocalQueues, so the number is bounded; ClusterQueues
   * count all.
   */
  readonly localQueuesMax: number;
};
export const DEFAULT_LOCAL_QUEUES_MAX = 1_000;

/**
 * Call once for a registry. No series is kept between scrapes, so none outlives its queue or cluster. The first gauge reads the state and
 * sets all gauges: a scrape collects it first, so there is one read per scrape.
 */
export function createStateMetrics(
  registry: Registry,
  now: () => number,
  { localQueuesMax }: StateLimits = { localQueuesMax: DEFAULT_LOCAL_QUEUES_MAX },
): StateMetrics {
  let look: (() => ObservedState) | undefined;
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[], collect?: () => void): Gauge<L> =>
    new Gauge<L>({
      name: `switchyard_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      ...(collect && { collect }),
    });
  const collect = (): void => {
    for (const each of all) each.reset();
    withoutSeries.remove({});
    if (look === undefined) return;
    const { clusters, clusterQueues, localQueues } = look();
    for (const cluster of clusters) setCluster(cluster);
    for (const queue of clusterQueues) setClusterQueue(queue);
    for (const queue of firstByName(localQueues, localQueuesMax)) setLocalQueue(queue);
    withoutSeries.set(Math.max(0, localQueues.length - localQueuesMax));
  };

  const condition = gauge(
    'cluster_condition',
    '1 where a condition of the WorkerCluster is True, else 0.',
    ['cluster', 'condition'],
    collect,
  );
  const allocatable = gauge('cluster_allocatable', 'What Jobs may use on a cluster.', ['cluster', 'resource']);
  const used = gauge('cluster_used', 'What admitted Jobs request on a cluster.', ['cluster', 'resource']);
  const heard = gauge('cluster_last_watch_event_seconds', 'When the watch of a cluster last sent something, in seconds since 1970.', [
    'cluster',
  ]);
  const headWaiting = gauge('admission_head_waiting_seconds', 'For how long the first Job of a ClusterQueue has waited.', [
    'cluster_queue',
  ]);
  const byReason = gauge('pending_workloads_by_reason', 'Jobs that wait, by the reason of QuotaReserved; Pending: none yet.', [
    'cluster_queue',
    'reason',
  ]);
  const ofLocalQueue = ['namespace', 'local_queue'] as const;
  const pending = gauge('local_queue_pending_workloads', 'Jobs of a LocalQueue that wait for admission.', ofLocalQueue);
  const admitted = gauge(
    'local_queue_admitted_active_workloads',
    'Jobs of a LocalQueue that are admitted and have not finished.',
    ofLocalQueue,
  );
  const usage = gauge('local_queue_resource_usage', 'Quota that Jobs of a LocalQueue use.', [...ofLocalQueue, 'flavor', 'resource']);
  const withoutSeries = gauge('local_queues_without_series', 'LocalQueues without series, beyond --metrics-local-queues-max.', []);
  withoutSeries.remove({});
  const all: readonly Pick<Gauge, 'reset'>[] = [condition, allocatable, used, heard, headWaiting, byReason, pending, admitted, usage];

  function setCluster({ name, conditions, allocatable: offered, used: asked, heardSeconds }: ObservedCluster): void {
    for (const { type, status } of conditions) condition.set({ cluster: name, condition: type }, status === 'True' ? 1 : 0);
    for (const [resource, amount] of offered) allocatable.set({ cluster: name, resource }, amount);
    for (const [resource, amount] of asked) used.set({ cluster: name, resource }, amount);
    if (heardSeconds !== undefined) heard.set({ cluster: name }, heardSeconds);
  }
  function setClusterQueue({ name, headSinceSeconds, pendingByReason }: ObservedClusterQueue): void {
    const seconds = headSinceSeconds === undefined ? 0 : Math.max(0, now() / 1000 - headSinceSeconds);
    headWaiting.set({ cluster_queue: name }, seconds);
    for (const [reason, count] of pendingByReason) byReason.set({ cluster_queue: name, reason }, count);
  }
  function setLocalQueue({ namespace, name, pending: waiting, admitted: running, usage: held }: ObservedLocalQueue): void {
    pending.set({ namespace, local_queue: name }, waiting);
    admitted.set({ namespace, local_queue: name }, running);
    for (const { flavor, resource, amount } of held) usage.set({ namespace, local_queue: name, flavor, resource }, amount);
  }
  return { observe: (next) => void (look = next) };
}

/** The LocalQueues that have series. */
export function firstByName<Q extends { readonly namespace: string; readonly name: string }>(all: readonly Q[], max: number): readonly Q[] {
  if (all.length <= max) return all;
  const keyed = all.map((each) => ({ key: `${each.namespace}/${each.name}`, each })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return keyed.slice(0, max).map(({ each }) => each);
}
