import { ZERO } from '../../api/amount.ts';
import { forPods } from '../../api/job-requests.ts';
import type { Inadmissibility } from '../scheduling/decision.ts';
import { isRepeatedlyPreempted } from '../preemption/repeated-preemption.ts';
import { compareQueued, type QueuedWorkload } from '../workload/ordering.ts';
import { DURATION, isWithin, RequestTree, type Vector } from '../workload/request-tree.ts';
import type { Workload } from '../workload/workload.ts';
import { digestOfPodSets } from '../workload/workload-pod-sets.ts';

/**
 * Workloads of one ClusterQueue that differ only in amounts. If a Workload does not fit, no later Workload with the same or larger requests
 * does. Failures are recorded until capacity becomes free.
 */
export class PendingClass {
  readonly id: string;
  /** Resources that the Workloads request. */
  readonly resources: readonly string[];
  readonly #tree = new RequestTree();
  /** Failures that hold until quota, room, or a claim becomes free. */
  #failures: Failure[] = [];
  /** Failures that hold until queues or clusters change. */
  #hopeless: Failure[] = [];
  /** The last result for nominated Workloads, by scheduling hash. It outlives the failure on which it rests. */
  readonly #results = new Map<string, Inadmissibility>();
  /** When a retry is scheduled, in epoch milliseconds. */
  retryAtMs: number | undefined;

  /** The LocalQueue, if the ClusterQueue orders Workloads by the usage of their LocalQueues; else empty. */
  readonly lane: string;

  constructor(id: string, resources: readonly string[], lane = '') {
    this.id = id;
    this.lane = lane;
    this.resources = resources;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** The smallest request of any Workload, in the order of `resources`. */
  get least(): Vector {
    return this.#tree.least ?? [];
  }

  /** A Workload that no Workload of the class goes before. */
  get earliest(): QueuedWorkload | undefined {
    return this.#tree.earliest;
  }

  /** Whether a Workload of the class had quota and found no room on a cluster. */
  get waitsForRoom(): boolean {
    return this.#failures.some(({ inadmissibility }) => inadmissibility.waitsFor === 'cluster');
  }

  add(queued: QueuedWorkload): void {
    this.#tree.insert(queued, this.#vectorOf(queued));
  }

  delete(queued: QueuedWorkload): void {
    this.#tree.delete(queued);
  }

  /** All Workloads in order; the class must not change during iteration. */
  inOrder(): Iterable<QueuedWorkload> {
    return this.#tree.inOrder();
  }

  /** How many Workloads of the class go before this one. */
  before(queued: QueuedWorkload): number {
    return this.#tree.before(queued);
  }

  /** The first Workload that may fit under the current setup. */
  first(): QueuedWorkload | undefined {
    return this.#hopeless.length === 0
      ? this.#tree.firstWhere(() => true)
      : this.#tree.firstWhere((amounts) => !isHopeless(this.#hopeless, amounts));
  }

  /** The first Workload that no recorded failure and no obstacle blocks. */
  firstWithin(
    obstacle: (resources: readonly string[], amounts: Vector, from: QueuedWorkload | undefined) => boolean,
  ): QueuedWorkload | undefined {
    return this.#tree.firstWhere(
      (amounts, from) =>
        !isHopeless(this.#hopeless, amounts) && !isKnown(this.#failures, amounts, from) && !obstacle(this.resources, amounts, from),
    );
  }

  hasFailed(queued: QueuedWorkload): boolean {
    return isKnown(this.#failures, this.#vectorOf(queued), queued);
  }

  fail(queued: QueuedWorkload, inadmissibility: Inadmissibility): void {
    const failure = { amounts: this.#vectorOf(queued), by: queued, inadmissibility };
    const list = inadmissibility.waitsFor === 'setup' ? this.#hopeless : this.#failures;
    if (!isKnown(list, failure.amounts, queued)) list.push(failure);
    if (this.#results.size > 2 * this.#tree.size + RESULTS_MIN) this.#results.clear();
    this.#results.set(queued.workload.schedulingHash, inadmissibility);
  }

  /** Drops the failures for which `hasEnded` is true. True if there were any. */
  forgive(hasEnded: (inadmissibility: Inadmissibility) => boolean): boolean {
    const before = this.#failures.length + this.#hopeless.length;
    if (before === 0) return false;
    this.#failures = this.#failures.filter(({ inadmissibility }) => !hasEnded(inadmissibility));
    this.#hopeless = this.#hopeless.filter(({ inadmissibility }) => !hasEnded(inadmissibility));
    return this.#failures.length + this.#hopeless.length < before;
  }

  /** The last result for this Workload, or for one with the same scheduling hash; undefined if neither was nominated. */
  lastResult({ workload }: QueuedWorkload): Inadmissibility | undefined {
    return this.#results.get(workload.schedulingHash);
  }

  /** The smallest requests with which the Workload may be admitted. */
  #vectorOf({ workload: { requests, minPods, expectedMs } }: QueuedWorkload): Vector {
    const least = forPods(requests, minPods);
    return this.resources.map((resource) => (resource === DURATION ? (expectedMs ?? 0) : (least.get(resource) ?? ZERO)));
  }
}

type Failure = { readonly amounts: Vector; readonly by: QueuedWorkload; readonly inadmissibility: Inadmissibility };

const RESULTS_MIN = 16;

/**
 * A failure also covers later Workloads with the same or larger requests. It does not cover earlier ones, because fewer claims may go
 * before them.
 */
const isKnown = (failures: readonly Failure[], amounts: Vector, from: QueuedWorkload): boolean =>
  failures.some(({ by, amounts: failed }) => compareQueued(from, by) >= 0 && isWithin(failed, amounts));

const isHopeless = (failures: readonly Failure[], amounts: Vector): boolean =>
  failures.some((failure) => isWithin(failure.amounts, amounts));

/** The class of a Workload: what its Workloads have in common, and the resources that they request. `apart`: further distinctions. */
export function classOf(
  { requests, wish, nodeWish, record, expectedMs, podSets }: Workload,
  apart: readonly string[],
): { id: string; resources: string[] } {
  // Pod sets share no flavor by rule, so that their sum is bounded by none: such Workloads are alike only if they ask for the same.
  if (podSets !== undefined) return { id: JSON.stringify([digestOfPodSets(podSets), wish, pastOf(record), apart]), resources: [] };
  const resources = [...requests].filter(([, amount]) => amount > ZERO).map(([resource]) => resource);
  resources.sort();
  if (expectedMs !== undefined) resources.push(DURATION);
  return { id: JSON.stringify([resources, wish, nodeWish.digest, pastOf(record), apart]), resources };
}

/** Earlier clusters, which decide where a Workload may go, and its last preemption, which decides whom it may preempt. */
function pastOf(record: Workload['record']): readonly unknown[] {
  if (record === undefined) return [];
  const { cluster, clusterUID, avoid, preempted } = record;
  return [cluster, clusterUID ?? null, avoid ?? null, preempted?.clusterQueue ?? null, isRepeatedlyPreempted(record)];
}
