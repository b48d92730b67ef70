import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { createFairOrder, type Contender } from './fair-order.ts';
import { chargesOf, type FlavorOption } from '../flavors/flavor-assigner.ts';
import type { Turn, Unnominated } from './nominate.ts';
import { compareNominated } from '../workload/ordering.ts';
import type { QuotaNode } from '../quota/quota-tree.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** The nominees of a cycle, in order. */
export type NomineeOrder = {
  /** The next nominee; undefined after the last. The decision about the previous nominee must be charged by then. */
  next(): Turn | undefined;
  /** The usage of this ClusterQueue has changed otherwise: some of its Workloads are preempted. */
  changed(queue: QuotaNode): void;
};

/**
 * With fair sharing, the least weighted share goes first and changes with every decision; otherwise the nearest borrowing, then
 * priority and age. Nominees of one ClusterQueue keep that queue's own order, by the usage of their LocalQueues if the queue asks for
 * that. `unnominated`: with fair sharing, heads to nominate when their turn may come, each the only one of its ClusterQueue.
 */
export function orderNominees(
  nominees: readonly Turn[],
  { fairSharing, usage }: Pick<Snapshot, 'fairSharing' | 'usage'>,
  unnominated: readonly Unnominated[] = [],
): NomineeOrder {
  const queues = new Map<string, Turn[]>();
  for (const nominee of nominees) {
    const others = queues.get(nominee.head.clusterQueue);
    if (others === undefined) queues.set(nominee.head.clusterQueue, [nominee]);
    else others.push(nominee);
  }
  for (const list of queues.values()) list.sort(compareInQueue);
  return fairSharing === undefined ? classically(queues) : fairly([...[...queues.values()].flat(), ...unnominated], usage);
}

function compareInQueue(a: Turn, b: Turn): number {
  const [theirs, others] = [a.head.usage ?? 0, b.head.usage ?? 0];
  return Number(hasPreempted(b)) - Number(hasPreempted(a)) || (theirs === others ? compareNominees(a, b) : theirs - others);
}

/**
 * A nominee for which Workloads have been preempted goes first. If another nominee took the capacity, the preemption would have served
 * that one, and its victims might return and be preempted without end.
 */
const compareNominees = (a: Turn, b: Turn): number =>
  Number(hasPreempted(b)) - Number(hasPreempted(a)) ||
  compareNominated({ head: a.head.queued, borrowing: a.borrowing }, { head: b.head.queued, borrowing: b.borrowing });
const hasPreempted = ({ kind, head }: Turn): boolean => kind !== 'ReservingHead' && head.claim?.preempts === true;

type Turns = { readonly clusterQueue: string; readonly first: Turn; readonly rest: readonly Turn[] };

function classically(queues: ReadonlyMap<string, readonly Turn[]>): NomineeOrder {
  const turns = new IndexedHeap<Turns>(
    ({ clusterQueue }) => clusterQueue,
    (a, b) => compareNominees(a.first, b.first),
  );
  const put = (clusterQueue: string, [first, ...rest]: readonly Turn[]): void => {
    if (first === undefined) turns.delete(clusterQueue);
    else turns.set({ clusterQueue, first, rest });
  };
  for (const [clusterQueue, list] of queues) put(clusterQueue, list);
  return {
    next: () => {
      const next = turns.peek();
      if (next !== undefined) put(next.clusterQueue, next.rest);
      return next?.first;
    },
    changed: () => undefined,
  };
}

type Contending = Contender & { readonly turn: Turn };
type Waiting = Contender & { readonly turn: Unnominated; readonly isWaiting: true };

function fairly(turns: readonly (Turn | Unnominated)[], usage: Snapshot['usage']): NomineeOrder {
  const order = createFairOrder<Contending, Waiting>(
    turns.map((turn) => (turn.kind === 'Unnominated' ? waiting(turn) : contending(turn))),
    usage,
    ({ turn: { nominate } }) => {
      const nominee = nominate();
      return nominee && contending(nominee);
    },
  );
  return { next: () => order.next()?.turn, changed: order.changed };
}

const contending = (turn: Turn): Contending => ({
  turn,
  node: turn.queue.node,
  charges: chargesOf(flavorsOf(turn)),
  head: turn.head.queued,
  goesFirst: hasPreempted(turn),
});

const waiting = (turn: Unnominated): Waiting => ({
  turn,
  node: turn.queue.node,
  charges: turn.charges,
  head: turn.head.queued,
  isWaiting: true,
});

const flavorsOf = (nominee: Turn): readonly FlavorOption[] =>
  nominee.kind === 'ReservingHead' || nominee.kind === 'Standing' ? nominee.flavors : nominee.placement.flavors;
