import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { LostCluster } from './fenced-off.ts';
import { ClusterCondition, type WorkerCluster } from './worker-cluster.ts';

/**
 * The lost clusters, and how long each has been lost. The time before this process saw the loss is what earlier leaders have counted
 * (`lostCounted`); from then on a monotonic clock counts. `lostSince` is compared with no other time: a wall clock that steps, or that of
 * the next leader's host, must not move a Job early.
 */
export interface LostClusters {
  of(name: string): LostCluster | undefined;
  names(): readonly string[];
  /** Handles every WorkerCluster. */
  readonly handler: Readonly<Record<'added' | 'updated' | 'deleted', (cluster: DeepReadonly<WorkerCluster>) => void>>;
}

type Known = Omit<LostCluster, 'since' | 'lostMs' | 'givenUpMs'> & {
  readonly since: string | undefined;
  readonly countedSeconds: number;
  /** On the clock's `monotonic`. */
  readonly lostAtMs: number;
  readonly givenUpAtMs: number | undefined;
};

export function createLostClusters(clock: Clock): LostClusters {
  const clusters = new Map<string, Known>();
  const see = (cluster: DeepReadonly<WorkerCluster>): void => {
    const { name } = cluster.metadata;
    clusters.set(name, known(cluster, clusters.get(name), clock.monotonic()));
  };
  return {
    of: (name) => {
      const found = clusters.get(name);
      if (found?.since === undefined) return undefined;
      const { since, lostAtMs, givenUpAtMs, countedSeconds: _counted, ...rest } = found;
      const steadyMs = clock.monotonic();
      return { ...rest, since, lostMs: steadyMs - lostAtMs, givenUpMs: givenUpAtMs === undefined ? undefined : steadyMs - givenUpAtMs };
    },
    names: () => [...clusters].flatMap(([name, { since }]) => (since === undefined ? [] : [name])),
    handler: { added: see, updated: see, deleted: ({ metadata }) => void clusters.delete(metadata.name) },
  };
}

function known(cluster: DeepReadonly<WorkerCluster>, before: Known | undefined, steadyMs: number): Known {
  const { spec, status } = cluster;
  const loss = { since: status?.lostSince, countedSeconds: countedSeconds(status) };
  return {
    ...loss,
    lostAtMs: loss.since === undefined ? steadyMs : lostAt(loss, before, steadyMs),
    givenUpAtMs: spec.state === 'Lost' ? (before?.givenUpAtMs ?? steadyMs) : undefined,
    ...fenceThere(cluster),
  };
}

/** The announced fence of a cluster, and whether it is carried out. */
export const fenceThere = ({
  status,
}: DeepReadonly<WorkerCluster>): Pick<LostCluster, 'fenceAfterSeconds' | 'fencedKinds' | 'workerAlive' | 'otherManager'> => ({
  fenceAfterSeconds: status?.worker?.fenceAfterSeconds,
  fencedKinds: status?.worker?.fencedKinds,
  workerAlive: hasTrueCondition(status?.conditions, ClusterCondition.WorkerAlive),
  otherManager: findCondition(status?.conditions, ClusterCondition.Ready)?.reason === 'OtherManager',
});

/** The least seconds that the cluster has been lost, by the clocks of its leaders. */
export const countedSeconds = (status: DeepReadonly<WorkerCluster>['status']): number =>
  status?.lostCounted !== undefined && status.lostCounted.since === status.lostSince ? status.lostCounted.seconds : 0;

function lostAt(loss: Pick<Known, 'since' | 'countedSeconds'>, before: Known | undefined, steadyMs: number): number {
  // First seen: only earlier leaders have counted.
  if (before === undefined) return steadyMs - loss.countedSeconds * 1000;
  // The cluster answered since it was last seen here, or its loss began later than assumed: a renewal may have arrived.
  if (before.since !== loss.since || loss.countedSeconds < before.countedSeconds) return steadyMs;
  return before.lostAtMs;
}
