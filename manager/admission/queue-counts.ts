import { localQueueOf } from './local-queue-order.ts';
import type { Workload } from './workload.ts';

/** How many there are of each queue, kept up as they come and go: there may be too many to be counted anew. */
export interface QueueCounts {
  /** One leaves a queue, and one comes to another; undefined: to none. */
  replace(before: string | undefined, next: string | undefined): void;
  /** Of those queues that have any. Not to be kept: it changes. */
  readonly all: () => ReadonlyMap<string, number>;
}

export function createQueueCounts(): QueueCounts {
  const counts = new Map<string, number>();
  const add = (queue: string | undefined, change: number): void => {
    if (queue === undefined) return;
    const count = (counts.get(queue) ?? 0) + change;
    if (count === 0) counts.delete(queue);
    else counts.set(queue, count);
  };
  return {
    replace: (before, next) => {
      if (before === next) return;
      add(before, -1);
      add(next, 1);
    },
    all: () => counts,
  };
}

/** The LocalQueue that a Workload names; undefined where it names none. */
export const namedQueueOf = (workload: Pick<Workload, 'namespace' | 'queue'> | undefined): string | undefined =>
  workload?.queue === undefined ? undefined : localQueueOf(workload);
