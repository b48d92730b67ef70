import { isJsonObject } from './json-value.ts';

/** For whose sake a Job was suspended. It stands in its record until it is admitted again. */
export type Preempted = {
  /** The other Job, `namespace/name`; its UID where it is of another namespace, whose Jobs those who read this may not know by name. */
  readonly by: string;
  /** The ClusterQueue of that. */
  readonly clusterQueue: string;
  /** By which rule: one of Kueue's reasons, such as `InClusterQueue`. */
  readonly rule: string;
};

export const isPreempted = (value: unknown): value is Preempted =>
  isJsonObject(value) && ['by', 'clusterQueue', 'rule'].every((field) => typeof value[field] === 'string' && value[field] !== '');

/** What a Job of this namespace is told of the one for whose sake it is suspended. */
export const preemptedBy = (
  { key, uid, clusterQueue }: { readonly key: string; readonly uid: string; readonly clusterQueue: string },
  rule: string,
  namespace: string,
): Preempted => ({ by: key.startsWith(`${namespace}/`) ? key : uid, clusterQueue, rule });

/** `preempted by Job team-a/train of cluster queue research (InClusterQueue: by priority in the same cluster queue)` */
export const preemptedMessage = ({ by, clusterQueue, rule }: Preempted): string =>
  `preempted by ${by.includes('/') ? `Job ${by}` : `a Job of another namespace (UID ${by})`} of cluster queue ${clusterQueue} (${rule}${MEANINGS[rule] === undefined ? '' : `: ${MEANINGS[rule]}`})`;

const MEANINGS: Readonly<Record<string, string>> = {
  InClusterQueue: 'it goes first in the same cluster queue',
  InCohortReclamation: 'its cluster queue gets its quota back',
  InCohortReclaimWhileBorrowing: 'both borrow, and it goes first',
  InCohortFairSharing: 'its cluster queue has borrowed less for its weight',
};
