import { compareAdmitted, type Admitted } from '../workload/admitted-index.ts';

/** What a LocalQueue, by `namespace/name`, has used; undefined where that orders nothing in its ClusterQueue. */
export type LocalQueueUsage = (localQueue: string) => number | undefined;

export const localQueueOf = ({ namespace, queue }: Pick<Admitted['reservation']['workload'], 'namespace' | 'queue'>): string =>
  `${namespace}/${queue ?? ''}`;

/**
 * The Workloads of one ClusterQueue in the order in which they would be displaced where usage orders its LocalQueues: those of the one that has used most go first, whatever their
 * priority; of two that are known, that is. Those that leave anyway stand before (Kueue's CandidatesOrdering). `list` is in the order of compareAdmitted, and is returned where nothing is known.
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
    // A LocalQueue that is gone has used nothing that is known: its Jobs go first.
    const [used, other] = [usage(a) ?? Number.POSITIVE_INFINITY, usage(b) ?? Number.POSITIVE_INFINITY];
    return used === other ? compareAdmitted(a, b) : other > used ? 1 : -1;
  });
}
