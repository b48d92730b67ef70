import { QuotaReservedReason } from '../../api/reasons.ts';
import type { ClaimOfHead } from '../scheduling/claims-by-queue.ts';
import type { Inadmissibility } from '../scheduling/decision.ts';
import type { PendingQueue } from './pending-queue.ts';

/**
 * Claims that no longer hold what they held, and the ClusterQueues of which claims of other queues have blocked a Workload: such a Workload
 * may fit once these have ended.
 */
export class EndedClaims {
  readonly #ended: ClaimOfHead[] = [];
  /** Roots of trees in which Workloads may go before claims now that went before them. */
  readonly #reordered = new Set<string>();
  /** The blocked ClusterQueues, by what claims have taken from them. */
  readonly #behindOthers = { quota: new Set<PendingQueue>(), cluster: new Set<PendingQueue>() };

  /** How often a ClusterQueue was nominated from again because claims had ended. */
  readonly #followed = new Map<PendingQueue, number>();

  add(claim: ClaimOfHead): void {
    this.#ended.push(claim);
  }

  /** The order of the tree with this root has changed. */
  reordered(root: string): void {
    this.#reordered.add(root);
  }

  /**
   * Counts that the Workloads of a ClusterQueue are nominated again for ended claims. Claims can chase each other from cluster to cluster,
   * each ended by the next. So that is done only so often until capacity becomes free; where a claim waits for capacity, that comes.
   */
  mayFollow(queue: PendingQueue): boolean {
    const times = (this.#followed.get(queue) ?? 0) + 1;
    this.#followed.set(queue, times);
    return times <= FOLLOWED_MAX;
  }

  /** Capacity has become free, or a claim has ended by no decision of a cycle. */
  followAnew(): void {
    this.#followed.clear();
  }

  /** A Workload of the ClusterQueue does not fit. */
  markInadmissible(queue: PendingQueue, inadmissibility: Inadmissibility): void {
    const { waitsFor } = inadmissibility;
    if (isBehindOthers(inadmissibility) && waitsFor !== 'setup') this.#behindOthers[waitsFor].add(queue);
  }

  /**
   * Calls `forgive` for the ClusterQueues that the ended claims may have blocked, with the failures that have ended. Returns the roots of
   * the claims' cohort trees, and whether any held room; undefined if no claim has ended since the last call.
   */
  forgiveBlocked(
    rootOf: (clusterQueue: string) => string,
    forgive: Forgive,
  ): { readonly roots: ReadonlySet<string>; readonly heldRoom: boolean } | undefined {
    if (this.#ended.length === 0 && this.#reordered.size === 0) return undefined;
    const all = this.#ended.splice(0);
    const ended = new Set(all.map(({ clusterQueue }) => clusterQueue));
    const reordered = new Set(this.#reordered);
    this.#reordered.clear();
    const roots = new Set([...[...ended].map(rootOf), ...reordered]);
    const heldRoom = all.some(({ claim: { holds } }) => holds !== 'Quota');
    /** Its own claim has never blocked a ClusterQueue. */
    const concerns = (queue: PendingQueue): boolean => ended.size > 1 || !ended.has(queue.name);
    const { quota, cluster } = this.#behindOthers;
    for (const queue of [...quota, ...cluster]) {
      const root = rootOf(queue.name);
      if (!reordered.has(root) && (!roots.has(root) || !concerns(queue))) continue;
      quota.delete(queue);
      cluster.delete(queue);
      if (this.mayFollow(queue)) forgive(queue, isBehindOthers);
    }
    // Other trees do not share the quota, only the room.
    for (const queue of heldRoom ? cluster : []) {
      if (!concerns(queue)) continue;
      cluster.delete(queue);
      if (this.mayFollow(queue))
        forgive(queue, (inadmissibility) => isBehindOthers(inadmissibility) && inadmissibility.waitsFor === 'cluster');
    }
    return { roots, heldRoom };
  }
}

/** Claims that follow each other settle after two or three. */
const FOLLOWED_MAX = 8;

/** Drops the failures of a ClusterQueue for which `hasEnded` is true. */
type Forgive = (queue: PendingQueue, hasEnded: (inadmissibility: Inadmissibility) => boolean) => void;

const isBehindOthers = ({ reason }: Inadmissibility): boolean => reason === QuotaReservedReason.BehindOtherQueues;
