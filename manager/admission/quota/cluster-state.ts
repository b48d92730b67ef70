import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { AbleReason, ClusterCondition, type WorkerCluster } from '../../api/worker-cluster.ts';
import type { ClusterData } from '../../api/data-names.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { isFloating, parseRequests, UNLIMITED, ZERO, type Amount, type Requests } from '../../api/amount.ts';

/** A WorkerCluster as placement sees it. */
export type ClusterState = {
  readonly name: string;
  /** The UID of the cluster from its status; undefined while it is not known. */
  readonly uid: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Why the cluster accepts no new Jobs now; undefined if it accepts them. */
  readonly closed: string | undefined;
  /** The manager is in contact with the cluster. */
  readonly connected: boolean;
  /** The cluster does not answer, and the state of its copies is not known. */
  readonly lost: boolean;
  /** Since when the cluster is reachable, in epoch milliseconds; 0 if that is not known. */
  readonly reachableSinceMs: number;
  /** Since when single Jobs probe whether the cluster is usable again, in epoch milliseconds; undefined if it is usable. */
  readonly tryingSinceMs: number | undefined;
  /** Copies on the cluster were stopped repeatedly: Jobs that can run elsewhere leave it. */
  readonly unsteady: boolean;
  /** Whether its Jobs must leave. */
  readonly draining: boolean;
  /** Clusters with a greater preference are filled first. */
  readonly preference: number;
  /** The data sets that it has; absent: none. */
  readonly data?: readonly ClusterData[];
  /** What all Jobs may use together; a resource that is not listed has {@link otherCapacity}. */
  readonly capacity: Requests;
  readonly otherCapacity: Amount;
  /** Its nodes by what they offer; undefined if they are not known, or are created on demand. */
  readonly nodeShapes: readonly NodeShapeState[] | undefined;
  /** Namespaces whose Jobs the cluster accepts; undefined: all. */
  readonly servedNamespaces: readonly string[] | undefined;
  /** Namespaces of spec.servedNamespaces that it does not accept because the manager may not list Jobs there. */
  readonly unreadableNamespaces?: readonly string[] | undefined;
  /** The PriorityClasses of the cluster without system classes; undefined if they are not known. */
  readonly priorityClasses: readonly string[] | undefined;
  /** The kinds of work beside Jobs that its API server serves. */
  readonly workKinds: readonly string[];
  /** The RuntimeClasses of the cluster; undefined if they are not known. */
  readonly runtimeClasses: readonly string[] | undefined;
};

/** Nodes that offer the same. */
export type NodeShapeState = { readonly count: number; readonly allocatable: Requests };

export function clusterStateOf(cluster: DeepReadonly<WorkerCluster>): ClusterState {
  const { spec, status, metadata } = cluster;
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  const able = findCondition(status?.conditions, ClusterCondition.Able);
  return {
    name: metadata.name,
    uid: status?.clusterUID,
    labels: metadata.labels ?? {},
    closed: closedBecause(cluster),
    // A worker that is not alive does not affect contact with the cluster.
    connected: ready?.status === 'True' || ready?.reason === 'WorkerNotAlive',
    lost: status?.lostSince !== undefined,
    reachableSinceMs: Date.parse(findCondition(status?.conditions, ClusterCondition.Reachable)?.lastTransitionTime ?? '') || 0,
    tryingSinceMs: able?.reason === AbleReason.Trying ? Date.parse(able.lastTransitionTime) || 0 : undefined,
    unsteady: able?.reason === AbleReason.Unsteady,
    // While a cluster that was given up is unreachable, its Jobs cannot be suspended there.
    draining:
      spec.state === 'Draining' || metadata.deletionTimestamp !== undefined || (spec.state === 'Lost' && status?.lostSince === undefined),
    preference: spec.preference ?? 0,
    ...(spec.data === undefined ? {} : { data: spec.data.map(({ name, weight = 1 }) => ({ name, weight })) }),
    capacity: new Map([...parseRequests(status?.allocatable), ...parseRequests(spec.capacity)]),
    // A resource missing from listed allocatable is 0; a cluster without allocatable is taken as unlimited.
    otherCapacity: status?.allocatable === undefined ? UNLIMITED : ZERO,
    nodeShapes: nodeShapesOf(cluster),
    servedNamespaces: spec.servedNamespaces?.filter((namespace) => status?.unreadableNamespaces?.includes(namespace) !== true),
    unreadableNamespaces: status?.unreadableNamespaces,
    priorityClasses: status?.priorityClasses,
    workKinds: status?.workKinds ?? [],
    runtimeClasses: status?.runtimeClasses,
  };
}

/** A capacity beyond that of the present nodes means that nodes are created on demand: what these offer is not known. */
function nodeShapesOf({ spec, status }: DeepReadonly<WorkerCluster>): readonly NodeShapeState[] | undefined {
  const present = parseRequests(status?.allocatable);
  for (const [resource, amount] of parseRequests(spec.capacity)) if (amount > (present.get(resource) ?? ZERO)) return undefined;
  return status?.nodeShapes?.map(({ count, allocatable }) => ({ count, allocatable: parseRequests(allocatable) }));
}

/** Floating resources are not of a cluster: only quota bounds them. */
export const capacityOf = (cluster: ClusterState, resource: string): Amount =>
  cluster.capacity.get(resource) ?? (isFloating(resource) ? UNLIMITED : cluster.otherCapacity);

/** Whether a record names this cluster, even under a former name. */
export const isRecordedOn = ({ cluster, clusterUID }: AdmissionRecord, { name, uid }: Pick<ClusterState, 'name' | 'uid'>): boolean =>
  clusterUID === undefined || uid === undefined ? cluster === name : clusterUID === uid;

/**
 * The restricted clusters that serve a namespace. Jobs with equal requests find the same clusters if their namespaces have the same list.
 */
export const placesOf = (clusters: readonly ClusterState[], namespace: string): readonly string[] =>
  clusters.flatMap(({ name, servedNamespaces }) => (servedNamespaces?.includes(namespace) === true ? [name] : []));

function closedBecause({ metadata, spec, status }: DeepReadonly<WorkerCluster>): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'being removed';
  if (spec.state === 'Cordoned') return 'cordoned';
  if (spec.state === 'Draining') return 'draining';
  if (spec.state === 'Lost') return 'given up';
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  if (ready === undefined && status?.lostSince === undefined) return 'not ready yet';
  const why = ready === undefined || ready.status === 'True' ? '' : ` (${reasonOf(ready)})`;
  if (status?.lostSince !== undefined) return `lost since ${status.lostSince}${why}`;
  return why === '' ? undefined : `not ready${why}`;
}

/**
 * The Ready reason as in conditions of thousands of Jobs. Messages of connection errors change with every attempt and add nothing, so they
 * are omitted.
 */
function reasonOf({ reason, message }: DeepReadonly<{ reason: string; message: string }>): string {
  if (message === '' || CHANGING.includes(reason)) return reason;
  return `${reason}: ${message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…` : message}`;
}
const CHANGING: readonly string[] = ['ConnectionFailed', 'Connecting', 'Listing'];
const MESSAGE_LENGTH_MAX = 200;
