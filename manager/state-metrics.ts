import { Gauge, type Registry } from 'prom-client';

/** How things stand, as whoever leads sees it. Asked for at each scrape, so it must cost no more than what there is of queues and clusters. */
export type ObservedState = {
  readonly clusters: () => Iterable<ObservedCluster>;
  readonly clusterQueues: () => Iterable<ObservedClusterQueue>;
  readonly localQueues: () => Iterable<ObservedLocalQueue>;
};
/** Amounts are in the base unit of the resource. */
export type ObservedCluster = {
  readonly name: string;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly allocatable: ReadonlyMap<string, number>;
  /** What admitted Jobs ask for there. */
  readonly used: ReadonlyMap<string, number>;
  /** When its watch of copies last gave a sign of life, in epoch seconds; undefined while it is not watched. */
  readonly heardSeconds: number | undefined;
};
export type ObservedClusterQueue = {
  readonly name: string;
  /** Since when the first in order waits, in epoch seconds; undefined: nobody waits. */
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
  /** What to tell from now on; undefined: this process does not lead. */
  observe(state: ObservedState | undefined): void;
}

/** LocalQueues are made by tenants: so many have series, the first by namespace and name, and all are counted with their ClusterQueues. */
export const LOCAL_QUEUES_MAX = 1_000;

/** Call once for a registry. Nothing is kept up between scrapes, so that no series outlives its queue or cluster. */
export function createStateMetrics(registry: Registry, now: () => number): StateMetrics {
  let state: ObservedState | undefined;
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (gauge: Gauge<L>, from: ObservedState) => void,
  ): void =>
    void new Gauge<L>({
      name: `switchyard_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        if (state !== undefined) collect(this, state);
      },
    });

  gauge(
    'cluster_condition',
    '1 where a condition of the WorkerCluster is True, else 0.',
    ['cluster', 'condition'],
    (each, { clusters }) => {
      for (const { name, conditions } of clusters())
        for (const { type, status } of conditions) each.set({ cluster: name, condition: type }, status === 'True' ? 1 : 0);
    },
  );
  gauge(
    'cluster_allocatable',
    'What Jobs of ours may use together on a cluster, in the base unit of the resource.',
    ['cluster', 'resource'],
    (each, { clusters }) => {
      for (const { name, allocatable } of clusters())
        for (const [resource, amount] of allocatable) each.set({ cluster: name, resource }, amount);
    },
  );
  gauge(
    'cluster_used',
    'What admitted Jobs ask for on a cluster, in the base unit of the resource.',
    ['cluster', 'resource'],
    (each, { clusters }) => {
      for (const { name, used } of clusters()) for (const [resource, amount] of used) each.set({ cluster: name, resource }, amount);
    },
  );
  gauge(
    'cluster_last_watch_event_seconds',
    'When the watch of a cluster last gave a sign of life, in seconds since 1970.',
    ['cluster'],
    (each, { clusters }) => {
      for (const { name, heardSeconds } of clusters()) if (heardSeconds !== undefined) each.set({ cluster: name }, heardSeconds);
    },
  );
  gauge(
    'admission_head_waiting_seconds',
    'For how long the Job has waited that is the first of its ClusterQueue; 0 where nobody waits.',
    ['cluster_queue'],
    (each, { clusterQueues }) => {
      for (const { name, headSinceSeconds } of clusterQueues())
        each.set({ cluster_queue: name }, headSinceSeconds === undefined ? 0 : Math.max(0, now() / 1000 - headSinceSeconds));
    },
  );
  gauge(
    'pending_workloads_by_reason',
    'Jobs that wait, by the reason of their condition QuotaReserved; Pending: they have not been told one yet.',
    ['cluster_queue', 'reason'],
    (each, { clusterQueues }) => {
      for (const { name, pendingByReason } of clusterQueues())
        for (const [reason, count] of pendingByReason) each.set({ cluster_queue: name, reason }, count);
    },
  );
  gauge('local_queue_pending_workloads', 'Jobs of a LocalQueue that wait for admission.', ['namespace', 'local_queue'], (each, from) => {
    for (const { namespace, name, pending } of firstOf(from)) each.set({ namespace, local_queue: name }, pending);
  });
  gauge(
    'local_queue_admitted_active_workloads',
    'Jobs of a LocalQueue that are admitted and have not finished.',
    ['namespace', 'local_queue'],
    (each, from) => {
      for (const { namespace, name, admitted } of firstOf(from)) each.set({ namespace, local_queue: name }, admitted);
    },
  );
  gauge(
    'local_queue_resource_usage',
    'Quota that Jobs of a LocalQueue use, in the base unit of the resource.',
    ['namespace', 'local_queue', 'flavor', 'resource'],
    (each, from) => {
      for (const { namespace, name, usage } of firstOf(from))
        for (const { flavor, resource, amount } of usage) each.set({ namespace, local_queue: name, flavor, resource }, amount);
    },
  );
  return { observe: (next) => void (state = next) };
}

const firstOf = ({ localQueues }: ObservedState): readonly ObservedLocalQueue[] => {
  const all = [...localQueues()];
  if (all.length <= LOCAL_QUEUES_MAX) return all;
  const keyed = all.map((each) => ({ key: `${each.namespace}/${each.name}`, each })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return keyed.slice(0, LOCAL_QUEUES_MAX).map(({ each }) => each);
};
