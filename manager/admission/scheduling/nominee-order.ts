import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { createFairOrder, type Contender } from './fair-order.ts';
import { chargesOf, type FlavorOption } from '../flavors/flavor-assigner.ts';
import type { Turn, WaitingHead } from './nominate.ts';
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
 * that. With fair sharing, who is not nominated yet is nominated when its turn may come.
 */
export function orderNominees(
  turns: readonly (Turn | WaitingHead)[],
  { fairSharing, usage }: Pick<Snapshot, 'fairSharing' | 'usage'>,
): NomineeOrder {
  const queues = Map.groupBy(turns, ({ head }) => head.clusterQueue);
  return fairSharing === undefined ? classically(queues) : fairly(queues, usage);
}

/** The turns of one ClusterQueue in order. */
const nominated = (turns: readonly (Turn | WaitingHead)[]): readonly Turn[] =>
  turns.flatMap((turn) => (turn.kind === 'WaitingHead' ? (turn.nominate() ?? []) : turn)).toSorted(compareInQueue);

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

function classically(queues: ReadonlyMap<string, readonly (Turn | WaitingHead)[]>): NomineeOrder {
  const turns = new IndexedHeap<Turns>(
    ({ clusterQueue }) => clusterQueue,
    (a, b) => compareNominees(a.first, b.first),
  );
  const put = (clusterQueue: string, [first, ...rest]: readonly Turn[]): void => {
    if (first === undefined) turns.delete(clusterQueue);
    else turns.set({ clusterQueue, first, rest });
  };
  for (const [clusterQueue, list] of queues) put(clusterQueue, nominated(list));
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
type Waiting = Contender & { readonly turn: Turn | WaitingHead; readonly isWaiting: true };

function fairly(queues: ReadonlyMap<string, readonly (Turn | WaitingHead)[]>, usage: Snapshot['usage']): NomineeOrder {
  const order = createFairOrder<Contending, Waiting>(
    [...queues.values()].flatMap((turns): readonly (Contending | Waiting)[] =>
      mayWait(turns) ? turns.map(waiting) : nominated(turns).map(contending),
    ),
    usage,
    (all) => nominated(all.map(({ turn }) => turn)).map(contending),
  );
  return { next: () => order.next()?.turn, changed: (queue) => order.changed(queue) };
}

const mayWait = (turns: readonly (Turn | WaitingHead)[]): boolean =>
  turns.some(({ kind }) => kind === 'WaitingHead') && turns.every(({ kind }) => kind === 'WaitingHead' || kind === 'Standing');

const contending = (turn: Turn): Contending => ({ turn, ...contenderOf(turn), goesFirst: hasPreempted(turn) });
const waiting = (turn: Turn | WaitingHead): Waiting => ({ turn, ...contenderOf(turn), isWaiting: true });
const contenderOf = (turn: Turn | WaitingHead): Contender => ({
  node: turn.queue.node,
  charges: turn.kind === 'WaitingHead' ? turn.charges : chargesOf(flavorsOf(turn)),
  head: turn.head.queued,
});

const flavorsOf = (nominee: Turn): readonly FlavorOption[] =>
  nominee.kind === 'ReservingHead' || nominee.kind === 'Standing' ? nominee.flavors : nominee.placement.flavors;
