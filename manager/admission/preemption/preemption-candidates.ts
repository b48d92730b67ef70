import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { compareAdmitted, type Admitted, type AdmittedIndex } from '../workload/admitted-index.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { mostUsedFirst, type LocalQueueUsage } from '../fair-sharing/local-queue-order.ts';
import { highestInCohort, highestInQueue, standingInCohort, standingInQueue, type Preemptor, type Standing } from './preemption-rules.ts';
import { isBorrowingAny, locallyAvailable, subtreeQuota, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import { larger, minus, plus, ZERO, type Amount } from '../../api/amount.ts';
import type { Usage } from '../quota/usage.ts';

/** A Workload that may be preempted for the preemptor. */
export type Candidate = {
  readonly admitted: Admitted;
  readonly standing: Standing;
  /** For a Workload of another ClusterQueue, the nodes that must still exceed their quota when the Workload is considered. */
  readonly borrowers: readonly QuotaNode[];
};

/** Candidates in Kueue's order, found on demand. */
export type Candidates = {
  readonly inOrder: (accepts: (standing: Standing) => boolean) => Iterable<Candidate>;
  /** Whether other ClusterQueues have candidates, and whether the preemptor has hierarchical advantage over any. */
  readonly fromOthers: boolean;
  readonly fromFarther: boolean;
  /** Upper bounds of the quota, and of the room on a cluster, that all candidates hold together. */
  readonly quotaHeld: (key: FlavorResource) => Amount;
  readonly roomHeld: (cluster: string, resource: string) => Amount;
};

export type CandidateSearch = {
  readonly preemptor: Preemptor;
  /** All requests of the preemptor, as charges to its ClusterQueue. */
  readonly charges: readonly Charge[];
  /** The flavor resources that preemption must free. */
  readonly contested: ReadonlySet<FlavorResource>;
  readonly usage: Usage;
  readonly admitted: AdmittedIndex;
  /** Whether preempting this Workload helps. `own`: it belongs to the preemptor's ClusterQueue. */
  readonly helps: (candidate: Admitted, own: boolean) => boolean;
  /** Only candidates on this cluster; undefined: on any. */
  readonly cluster: string | undefined;
  /** If it orders the LocalQueues of a ClusterQueue, it orders the queue's candidates too. */
  readonly localQueueUsage?: LocalQueueUsage | undefined;
};

/**
 * Candidates of Kueue's classical preemption. From its ClusterQueue upwards, the preemptor searches the subtree of each Cohort and skips
 * nodes within their own quota. Once its requests fit the quota of a node below, it has hierarchical advantage over all candidates found
 * from there on.
 *
 * Order: Workloads that leave anyway, then the others. Within both: candidates under hierarchical advantage, other ClusterQueues, the
 * preemptor's own. Within each: compareAdmitted, and within a ClusterQueue the usage of its LocalQueues if the queue asks for that.
 */
export function findCandidates(search: CandidateSearch): Candidates {
  const { preemptor, admitted, cluster, helps } = search;
  const listOf = (clusterQueue: string, upTo: number): readonly Admitted[] => {
    const list = cluster === undefined ? admitted.of(clusterQueue) : admitted.on(clusterQueue, cluster);
    const ordered = mostUsedFirst(list, search.localQueueUsage);
    return ordered === list ? list : ordered.filter(({ priority }) => priority <= upTo);
  };
  const { name, preemption } = preemptor.queue;
  const [ownUpTo, othersUpTo] = [highestInQueue(preemptor), highestInCohort(preemptor)];
  const own = new Group(
    preemption.withinClusterQueue === 'Never' ? [] : [{ list: listOf(name, ownUpTo), borrowers: [] }],
    ownUpTo,
    (candidate) => (helps(candidate, true) ? standingInQueue(preemptor, candidate) : undefined),
  );
  const nodes = preemption.reclaimWithinCohort === 'Never' ? { near: [], far: [] } : borrowersAround(search);
  const others = (found: readonly Borrower[], advantage: boolean): Group =>
    new Group(
      found.map(({ clusterQueue, borrowers }) => ({ list: listOf(clusterQueue, othersUpTo), borrowers })),
      othersUpTo,
      (candidate) => (helps(candidate, false) ? standingInCohort(preemptor, candidate, advantage) : undefined),
    );
  const far = others(nodes.far, true);
  const near = others(nodes.near, false);
  const fromFarther = far.hasAny();
  const sumOf = (held: (clusterQueue: string, upTo: number) => Amount): Amount =>
    [...nodes.far, ...nodes.near].reduce(
      (sum, { clusterQueue }) => plus(sum, held(clusterQueue, othersUpTo)),
      preemption.withinClusterQueue === 'Never' ? ZERO : held(name, ownUpTo),
    );
  return {
    fromFarther,
    fromOthers: fromFarther || near.hasAny(),
    quotaHeld: (key) => sumOf((clusterQueue, upTo) => admitted.quotaHeld(clusterQueue, cluster, key, upTo)),
    roomHeld: (there, resource) => sumOf((clusterQueue, upTo) => admitted.roomHeld(clusterQueue, there, resource, upTo)),
    *inOrder(accepts) {
      for (const leaving of [true, false]) for (const group of [far, near, own]) yield* group.inOrder(leaving, accepts);
    },
  };
}

type Borrower = { readonly clusterQueue: string; readonly borrowers: readonly QuotaNode[] };

/**
 * ClusterQueues of the cohort that exceed their quota of what is contested. `far`: those over which the preemptor has hierarchical
 * advantage.
 */
function borrowersAround({ preemptor, charges, contested, usage }: CandidateSearch): {
  readonly near: readonly Borrower[];
  readonly far: readonly Borrower[];
} {
  const near: Borrower[] = [];
  const far: Borrower[] = [];
  const collect = (cohort: QuotaNode, from: QuotaNode, borrowers: readonly QuotaNode[], result: Borrower[]): void => {
    for (const child of cohort.children) {
      if (child === from || !isBorrowingAny(child, usage, contested)) continue;
      const path = [...borrowers, child];
      if (child.clusterQueue === undefined) collect(child, from, path, result);
      else result.push({ clusterQueue: child.clusterQueue, borrowers: path });
    }
  };
  let advantage = false;
  let remaining = charges;
  for (let node = preemptor.queue.node; node.parent !== undefined; node = node.parent) {
    const below = node;
    advantage ||= remaining.every(([key, amount]) => plus(usage.get(below.id, key), amount) <= subtreeQuota(below, key));
    remaining = remaining.map(([key, amount]) => [key, larger(ZERO, minus(amount, locallyAvailable(below, usage, key)))]);
    collect(node.parent, node, [], advantage ? far : near);
  }
  return { near, far };
}

/** Candidates of several ClusterQueues, in the order of the index. */
class Group {
  readonly #sources: readonly Source[];
  readonly #upTo: number;
  readonly #standing: (candidate: Admitted) => Standing | undefined;

  /** `upTo`: the highest priority of a candidate. */
  constructor(sources: readonly Source[], upTo: number, standing: (candidate: Admitted) => Standing | undefined) {
    this.#sources = sources;
    this.#upTo = upTo;
    this.#standing = standing;
  }

  hasAny(): boolean {
    return [true, false].some((leaving) => this.#sources.some((source) => this.#next(source, 0, leaving, () => true) !== undefined));
  }

  /** Candidates that leave anyway, or those that do not. */
  *inOrder(leaving: boolean, accepts: (standing: Standing) => boolean): Generator<Candidate> {
    const heap = new IndexedHeap<Cursor>(({ id }) => id, compareCursors);
    for (const [index, source] of this.#sources.entries())
      this.#advance(heap, { id: String(index), source, at: 0, next: undefined }, leaving, accepts);
    for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
      if (first.next !== undefined) yield first.next;
      this.#advance(heap, first, leaving, accepts);
    }
  }

  #advance(heap: IndexedHeap<Cursor>, { id, source, at }: Cursor, leaving: boolean, accepts: (standing: Standing) => boolean): void {
    const found = this.#next(source, at, leaving, accepts);
    if (found === undefined) heap.delete(id);
    else heap.set({ id, source, ...found });
  }

  /**
   * A list has leaving Workloads first, and lower priorities first in both parts, so the search stops at the first priority above `upTo`.
   */
  #next(source: Source, at: number, leaving: boolean, accepts: (standing: Standing) => boolean): Pick<Cursor, 'at' | 'next'> | undefined {
    for (let index = at; index < source.list.length; index++) {
      const admitted = source.list[index];
      if (admitted === undefined || (leaving && !admitted.leaving)) return undefined;
      if (admitted.leaving !== leaving) continue;
      if (admitted.priority > this.#upTo) return undefined;
      const standing = this.#standing(admitted);
      if (standing === undefined || !accepts(standing)) continue;
      return { at: index + 1, next: { admitted, standing, borrowers: source.borrowers } };
    }
    return undefined;
  }
}

type Source = { readonly list: readonly Admitted[]; readonly borrowers: readonly QuotaNode[] };
type Cursor = { readonly id: string; readonly source: Source; readonly at: number; readonly next: Candidate | undefined };

const compareCursors = (a: Cursor, b: Cursor): number =>
  a.next === undefined || b.next === undefined ? 0 : compareAdmitted(a.next.admitted, b.next.admitted);
