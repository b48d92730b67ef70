import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { ZERO, type Requests } from '../api/amount.ts';
import { ClusterCondition, type WorkerCluster } from '../api/worker-cluster.ts';
import { amountIn, byImportance, fillOf } from './fill.ts';
import type { ClusterItem, Fill, Health, JobLine } from './views.ts';

/**
 * A WorkerCluster as a row, with its running Jobs; `held` is the sum of requests of all Jobs there, including those that the viewer may not
 * see.
 */
export function clusterItem(cluster: DeepReadonly<WorkerCluster>, held: Requests, jobs: number, running: readonly JobLine[]): ClusterItem {
  const { metadata, status } = cluster;
  return {
    kind: 'Cluster',
    name: metadata.name,
    ...healthOf(cluster),
    ...omitUndefined({ roundTripMs: coarse(status?.roundTripMs), version: status?.version }),
    fills: fillsOf(cluster, held),
    jobs,
    running,
  };
}

/** Rounds to two digits, so that a jittering measurement is not sent every time. */
function coarse(ms: number | undefined): number | undefined {
  if (ms === undefined || ms < 10) return ms;
  const step = 10 ** (Math.floor(Math.log10(ms)) - 1);
  return Math.round(ms / step) * step;
}

/** The state in one word, with its health. */
export function healthOf({ metadata, spec, status }: DeepReadonly<WorkerCluster>): {
  readonly state: string;
  readonly health: Health;
  readonly problem?: string;
} {
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  const why = ready === undefined || ready.status === 'True' ? undefined : `${ready.reason}: ${ready.message}`;
  if (metadata.deletionTimestamp !== undefined) return { state: 'Being removed', health: 'Warning', ...omitUndefined({ problem: why }) };
  if (status?.lostSince !== undefined)
    return { state: 'Lost', health: 'Bad', problem: `does not answer since ${status.lostSince}${why === undefined ? '' : ` (${why})`}` };
  if (spec.state !== undefined && spec.state !== 'Active')
    return { state: spec.state, health: 'Warning', ...omitUndefined({ problem: why }) };
  if (ready === undefined) return { state: 'Not known yet', health: 'Idle' };
  if (ready.status !== 'True') return { state: 'Not ready', health: 'Bad', ...omitUndefined({ problem: why }) };
  const worker = findCondition(status?.conditions, ClusterCondition.WorkerAlive);
  return worker?.status === 'False'
    ? { state: 'Worker silent', health: 'Bad', problem: `${worker.reason}: ${worker.message}` }
    : { state: 'Ready', health: 'Good' };
}

/** The requests of Jobs there, against its capacity: its own report of use is updated from time to time only. */
function fillsOf(cluster: DeepReadonly<WorkerCluster>, held: Requests): Fill[] {
  const capacity = capacityOf(cluster);
  return [...new Set([...held.keys(), ...capacity.keys()])]
    .filter((resource) => (held.get(resource) ?? ZERO) > ZERO || isAlwaysShown(resource))
    .toSorted(byImportance)
    .map((resource) => fillOf(resource, held.get(resource) ?? ZERO, capacity.get(resource)));
}

/** The capacity of a cluster now; there is no limit for other resources. */
export const capacityOf = ({ spec, status }: DeepReadonly<WorkerCluster>): Requests =>
  new Map(
    Object.entries<string | number>({ ...status?.allocatable, ...spec.capacity }).map(([resource, quantity]) => [
      resource,
      amountIn(resource, quantity),
    ]),
  );

/** Whether a resource is shown of which no Job requests anything: devices are, and what every Job requests. */
export const isAlwaysShown = (resource: string): boolean => ['cpu', 'memory'].includes(resource) || resource.includes('/');
