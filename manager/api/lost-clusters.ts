import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { LostCluster } from './fenced-off.ts';
import { ClusterCondition, type WorkerCluster } from './worker-cluster.ts';

/**
 * The clusters that are lost, and for how long. What passed before this process saw it is what the leaders before it have counted (`lostCounted`); from
 * then on a clock counts that nobody sets. `lostSince` is compared with no other time: a wall clock that is put forward, or that of the next leader's
 * host, must not move a Job early.
 */
export interface LostClusters {
  of(name: string): LostCluster | undefined;
  names(): readonly string[];
  /** To be told of every WorkerCluster. */
  readonly handler: Readonly<Record<'added' | 'updated' | 'deleted', (cluster: DeepReadonly<WorkerCluster>) => void>>;
}

type Known = Omit<LostCluster, 'since' | 'lostMs' | 'givenUpMs'> & {
  readonly since: string | undefined;
  readonly countedSeconds: number;
  /** On the clock that never steps. */
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

/** What a cluster has told of its fence, and whether that is carried out. */
export const fenceThere = ({
  status,
}: DeepReadonly<WorkerCluster>): Pick<LostCluster, 'fenceAfterSeconds' | 'workerAlive' | 'otherManager'> => ({
  fenceAfterSeconds: status?.worker?.fenceAfterSeconds,
  workerAlive: hasTrueCondition(status?.conditions, ClusterCondition.WorkerAlive),
  otherManager: findCondition(status?.conditions, ClusterCondition.Ready)?.reason === 'OtherManager',
});

/** For how long it has been lost at least, by the clocks of those that have led. */
export const countedSeconds = (status: DeepReadonly<WorkerCluster>['status']): number =>
  status?.lostCounted !== undefined && status.lostCounted.since === status.lostSince ? status.lostCounted.seconds : 0;

function lostAt(loss: Pick<Known, 'since' | 'countedSeconds'>, before: Known | undefined, steadyMs: number): number {
  // Seen for the first time: nobody else here has counted.
  if (before === undefined) return steadyMs - loss.countedSeconds * 1000;
  // It answered when it was last looked at here, or was heard of later than was thought: a renewal may have got there.
  if (before.since !== loss.since || loss.countedSeconds < before.countedSeconds) return steadyMs;
  return before.lostAtMs;
}
