import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { LostCluster } from './fenced-off.ts';
import { ClusterCondition, type WorkerCluster } from './worker-cluster.ts';

/**
 * The clusters that are lost, and for how long. What passed before this process saw it is taken from `lostSince`; from then on a clock counts that
 * nobody sets: a wall clock that is put forward must not move a Job early.
 */
export interface LostClusters {
  of(name: string): LostCluster | undefined;
  names(): readonly string[];
  /** To be told of every WorkerCluster. */
  readonly handler: Readonly<Record<'added' | 'updated' | 'deleted', (cluster: DeepReadonly<WorkerCluster>) => void>>;
}

type Known = Omit<LostCluster, 'since' | 'lostMs' | 'givenUpMs'> & {
  readonly since: string | undefined;
  /** On the clock that never steps. */
  readonly lostAtMs: number;
  readonly givenUpAtMs: number | undefined;
};

export function createLostClusters(clock: Clock): LostClusters {
  const clusters = new Map<string, Known>();
  const see = (cluster: DeepReadonly<WorkerCluster>): void => {
    const { name } = cluster.metadata;
    clusters.set(name, known(cluster, clusters.get(name), { nowMs: clock.now(), steadyMs: clock.monotonic() }));
  };
  return {
    of: (name) => {
      const found = clusters.get(name);
      if (found?.since === undefined) return undefined;
      const { since, lostAtMs, givenUpAtMs, ...rest } = found;
      const steadyMs = clock.monotonic();
      return { ...rest, since, lostMs: steadyMs - lostAtMs, givenUpMs: givenUpAtMs === undefined ? undefined : steadyMs - givenUpAtMs };
    },
    names: () => [...clusters].flatMap(([name, { since }]) => (since === undefined ? [] : [name])),
    handler: { added: see, updated: see, deleted: ({ metadata }) => void clusters.delete(metadata.name) },
  };
}

function known(
  cluster: DeepReadonly<WorkerCluster>,
  before: Known | undefined,
  { nowMs, steadyMs }: { readonly nowMs: number; readonly steadyMs: number },
): Known {
  const { spec, status } = cluster;
  const since = status?.lostSince;
  return {
    since,
    lostAtMs: since === undefined ? steadyMs : lostAt(since, before, nowMs, steadyMs),
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

function lostAt(since: string, before: Known | undefined, nowMs: number, steadyMs: number): number {
  // Seen for the first time: nobody else has counted.
  if (before === undefined) return steadyMs - Math.max(0, nowMs - Date.parse(since));
  // It answered when it was last looked at here.
  if (before.since === undefined) return steadyMs;
  // It was heard of a little later than was thought at first.
  return Math.min(steadyMs, before.lostAtMs + Math.max(0, Date.parse(since) - Date.parse(before.since)));
}
