import { minus, plus, ZERO, type Amount } from '../../api/amount.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import type { FlavorResource } from '../quota/quota-tree.ts';
import { localQueueOf } from '../fair-sharing/local-queue-order.ts';
import type { Workload } from '../workload/workload.ts';

/** The number of Workloads of each queue, maintained incrementally, because counting anew costs too much. */
export interface QueueCounts {
  /** Moves one Workload from one queue to another; undefined: no queue. */
  replace(before: string | undefined, next: string | undefined): void;
  /** Counts of queues that have Workloads. A live view: do not keep it. */
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

/** The quota that the Workloads of each queue hold, maintained incrementally. */
export interface QueueHoldings {
  add(queue: string | undefined, charges: readonly Charge[], sign: 1 | -1): void;
  /** The quota held from a queue. A live view: do not keep it. */
  of(queue: string): ReadonlyMap<FlavorResource, Amount>;
}

export function createQueueHoldings(): QueueHoldings {
  const holdings = new Map<string, Map<FlavorResource, Amount>>();
  return {
    add: (queue, charges, sign) => {
      if (queue === undefined) return;
      const held = holdings.get(queue) ?? new Map<FlavorResource, Amount>();
      holdings.set(queue, held);
      for (const [key, amount] of charges) {
        const left = sign === 1 ? plus(held.get(key) ?? ZERO, amount) : minus(held.get(key) ?? ZERO, amount);
        if (left === ZERO) held.delete(key);
        else held.set(key, left);
      }
      if (held.size === 0) holdings.delete(queue);
    },
    of: (queue) => holdings.get(queue) ?? NOTHING,
  };
}
const NOTHING: ReadonlyMap<FlavorResource, Amount> = new Map();

/** The LocalQueue that a Workload names; undefined if it names none. */
export const namedQueueOf = (workload: Pick<Workload, 'namespace' | 'queue'> | undefined): string | undefined =>
  workload?.queue === undefined ? undefined : localQueueOf(workload);
