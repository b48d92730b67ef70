import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { AbleReason, ClusterCondition, type WorkerCluster } from '../../api/worker-cluster.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { parseRequests, UNLIMITED, ZERO, type Amount, type Requests } from '../../api/amount.ts';

/** A WorkerCluster as placement sees it. */
export type ClusterState = {
  readonly name: string;
  /** Which cluster it is, as its status tells; undefined while that is not known. */
  readonly uid: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Why it takes no new Jobs now; undefined when it takes them. */
  readonly closed: string | undefined;
  /** The manager is in contact with it. */
  readonly connected: boolean;
  /** It does not answer, and what runs there is not known. */
  readonly lost: boolean;
  /** Since when it has answered, in epoch milliseconds; 0 when that is not known. */
  readonly reachableSinceMs: number;
  /** Since when one Job after the other shows whether it can be used again, in epoch milliseconds; undefined: it can be. */
  readonly tryingSinceMs: number | undefined;
  /** Its copies were stopped again and again: those that can go elsewhere are to leave it. */
  readonly unsteady: boolean;
  /** True when its Jobs must leave. */
  readonly draining: boolean;
  /** What its Jobs may use together; a resource that is not named has {@link otherCapacity}. */
  readonly capacity: Requests;
  readonly otherCapacity: Amount;
  /** Whose Jobs it takes; undefined: everybody's. */
  readonly servedNamespaces: readonly string[] | undefined;
  /** The PriorityClasses that pods may have there, those of the system excepted; undefined: not known. */
  readonly priorityClasses: readonly string[] | undefined;
};

export function clusterStateOf(cluster: DeepReadonly<WorkerCluster>): ClusterState {
  const { spec, status, metadata } = cluster;
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  const able = findCondition(status?.conditions, ClusterCondition.Able);
  return {
    name: metadata.name,
    uid: status?.clusterUID,
    labels: metadata.labels ?? {},
    closed: closedBecause(cluster),
    // A worker that is silent there changes nothing about what the cluster tells.
    connected: ready?.status === 'True' || ready?.reason === 'WorkerNotAlive',
    lost: status?.lostSince !== undefined,
    reachableSinceMs: Date.parse(findCondition(status?.conditions, ClusterCondition.Reachable)?.lastTransitionTime ?? '') || 0,
    tryingSinceMs: able?.reason === AbleReason.Trying ? Date.parse(able.lastTransitionTime) || 0 : undefined,
    unsteady: able?.reason === AbleReason.Unsteady,
    // Where one that was given up is out of reach, its Jobs cannot be asked to leave.
    draining:
      spec.state === 'Draining' || metadata.deletionTimestamp !== undefined || (spec.state === 'Lost' && status?.lostSince === undefined),
    capacity: new Map([...parseRequests(status?.allocatable), ...parseRequests(spec.capacity)]),
    // Nodes that list their resources do not have those they leave out; a cluster that nobody has described is taken on trust.
    otherCapacity: status?.allocatable === undefined ? UNLIMITED : ZERO,
    servedNamespaces: spec.servedNamespaces,
    priorityClasses: status?.priorityClasses,
  };
}

export const capacityOf = (cluster: ClusterState, resource: string): Amount => cluster.capacity.get(resource) ?? cluster.otherCapacity;

/** Whether a record tells of this cluster, whatever it was called then. */
export const isRecordedOn = ({ cluster, clusterUID }: AdmissionRecord, { name, uid }: Pick<ClusterState, 'name' | 'uid'>): boolean =>
  clusterUID === undefined || uid === undefined ? cluster === name : clusterUID === uid;

/**
 * Jobs that ask for the same find the same clusters if this is the same for their namespaces: which of the clusters that do not take
 * everybody's Jobs take theirs.
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

/** Thousands of Jobs wait with these words: of a broken connection they would differ from one try to the next, and say no more than the reason. */
function reasonOf({ reason, message }: DeepReadonly<{ reason: string; message: string }>): string {
  if (message === '' || CHANGING.includes(reason)) return reason;
  return `${reason}: ${message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…` : message}`;
}
const CHANGING: readonly string[] = ['ConnectionFailed', 'Connecting', 'Listing'];
const MESSAGE_LENGTH_MAX = 200;
