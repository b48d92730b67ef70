import { isJsonObject } from './json-value.ts';

/** The preemptor of a suspended Job, kept in its record until the Job is admitted again. */
export type Preempted = {
  /**
   * The preempting Job, `namespace/name`; its UID where it is in another namespace, whose Jobs readers of this record may not know by name.
   */
  readonly by: string;
  /** The ClusterQueue of the preempting Job. */
  readonly clusterQueue: string;
  /** The rule: one of Kueue's reasons, such as `InClusterQueue`. */
  readonly rule: string;
};

export const isPreempted = (value: unknown): value is Preempted =>
  isJsonObject(value) && ['by', 'clusterQueue', 'rule'].every((field) => typeof value[field] === 'string' && value[field] !== '');

/** The preemptor, as shown to a Job of this namespace. */
export const preemptedBy = (
  { key, uid, clusterQueue }: { readonly key: string; readonly uid: string; readonly clusterQueue: string },
  rule: string,
  namespace: string,
): Preempted => ({ by: key.startsWith(`${namespace}/`) ? key : uid, clusterQueue, rule });

/** `preempted by Job team-a/train of cluster queue research (InClusterQueue: by priority in the same cluster queue)` */
export const preemptedMessage = ({ by, clusterQueue, rule }: Preempted): string =>
  `preempted by ${by.includes('/') ? workOf(by) : `a Job of another namespace (UID ${by})`} of cluster queue ${clusterQueue} (${rule}${MEANINGS[rule] === undefined ? '' : `: ${MEANINGS[rule]}`})`;

/** `Job team/train`, and of another kind its resource: `jobsets.jobset.x-k8s.io team/train`. */
function workOf(key: string): string {
  const [, namespace, resource, name] = /^([^/]+)\/([^/:]+):(.+)$/.exec(key) ?? [];
  return namespace === undefined ? `Job ${key}` : `${resource} ${namespace}/${name}`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  InClusterQueue: 'it goes first in the same cluster queue',
  InCohortReclamation: 'its cluster queue gets its quota back',
  InCohortReclaimWhileBorrowing: 'both borrow, and it goes first',
  InCohortFairSharing: 'its cluster queue has borrowed less for its weight',
};
