import { compareAdmitted, type Admitted } from '../workload/admitted-index.ts';

/** The usage of a LocalQueue, by `namespace/name`; undefined if its ClusterQueue does not order by usage. */
export type LocalQueueUsage = (localQueue: string) => number | undefined;

export const localQueueOf = ({ namespace, queue }: Pick<Admitted['reservation']['workload'], 'namespace' | 'queue'>): string =>
  `${namespace}/${queue ?? ''}`;

/**
 * The Workloads of one ClusterQueue in the order in which they are preempted if usage orders its LocalQueues. Leaving Workloads go first,
 * then those of the LocalQueue with the highest usage, whatever their priority (Kueue's CandidatesOrdering). `list` is in the order of
 * compareAdmitted, and is returned if no usage is known.
 */
export function mostUsedFirst(list: readonly Admitted[], usageOf: LocalQueueUsage | undefined): readonly Admitted[] {
  if (usageOf === undefined) return list;
  const usages = new Map<string, number | undefined>();
  const usage = ({ reservation: { workload } }: Admitted): number | undefined => {
    const localQueue = localQueueOf(workload);
    if (!usages.has(localQueue)) usages.set(localQueue, usageOf(localQueue));
    return usages.get(localQueue);
  };
  if (list.length < 2 || !list.some((each) => usage(each) !== undefined)) return list;
  return list.toSorted((a, b) => {
    if (a.leaving !== b.leaving) return a.leaving ? -1 : 1;
    // A deleted LocalQueue has used nothing, as in Kueue: its deletion stops none of its Jobs before others.
    const [used, other] = [usage(a) ?? 0, usage(b) ?? 0];
    return used === other ? compareAdmitted(a, b) : other > used ? 1 : -1;
  });
}
