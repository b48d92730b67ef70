import { ZERO } from '../../api/amount.ts';
import { forPods } from '../../api/job-requests.ts';
import type { Inadmissibility } from '../scheduling/decision.ts';
import { compareQueued, type QueuedWorkload } from '../workload/ordering.ts';
import { isWithin, RequestTree, type Vector } from '../workload/request-tree.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Workloads of one ClusterQueue that differ in nothing but how much they ask for: where one does not fit, none fits that asks for as much or more and
 * comes after it. What did not fit is remembered until something has become free.
 */
export class PendingClass {
  readonly id: string;
  /** That its Workloads ask for. */
  readonly resources: readonly string[];
  readonly #tree = new RequestTree();
  /** Not again until something has become free, of quota, of room, or of what is kept for others. */
  #failures: Failure[] = [];
  /** Not again until the queues or the clusters are other ones. */
  #hopeless: Failure[] = [];
  /** What was said of those that were tried, by what they ask for; it outlives what it was found out by. */
  readonly #told = new Map<string, Inadmissibility>();
  /** Somebody waits for this time to have it tried again. */
  retryAtMs: number | undefined;

  /** The LocalQueue, where those of the ClusterQueue share it by what they have used. */
  readonly lane: string;

  constructor(id: string, resources: readonly string[], lane = '') {
    this.id = id;
    this.lane = lane;
    this.resources = resources;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** The least amounts that any of them asks for. */
  get least(): Vector {
    return this.#tree.least ?? [];
  }

  /** None of them goes before this one. */
  get earliest(): QueuedWorkload | undefined {
    return this.#tree.earliest;
  }

  /** One of them has had quota and found no room. */
  get waitsForRoom(): boolean {
    return this.#failures.some(({ inadmissibility }) => inadmissibility.waitsFor === 'cluster');
  }

  add(queued: QueuedWorkload): void {
    this.#tree.insert(queued, this.#vectorOf(queued));
  }

  delete(queued: QueuedWorkload): void {
    this.#tree.delete(queued);
  }

  /** All of them, in order; nothing may be added or taken out meanwhile. */
  inOrder(): Iterable<QueuedWorkload> {
    return this.#tree.inOrder();
  }

  /** How many of them go before this one. */
  before(queued: QueuedWorkload): number {
    return this.#tree.before(queued);
  }

  /** The first that is not out of the question. */
  first(): QueuedWorkload | undefined {
    return this.#hopeless.length === 0
      ? this.#tree.firstWhere(() => true)
      : this.#tree.firstWhere((amounts) => !isHopeless(this.#hopeless, amounts));
  }

  /** The first for which nothing is known to be in its way. */
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
    if (this.#told.size > 2 * this.#tree.size + TOLD_MIN) this.#told.clear();
    this.#told.set(queued.workload.schedulingHash, inadmissibility);
  }

  /** Forgets those failures that it is said of. True when there were any. */
  forgive(hasEnded: (inadmissibility: Inadmissibility) => boolean): boolean {
    const before = this.#failures.length + this.#hopeless.length;
    if (before === 0) return false;
    this.#failures = this.#failures.filter(({ inadmissibility }) => !hasEnded(inadmissibility));
    this.#hopeless = this.#hopeless.filter(({ inadmissibility }) => !hasEnded(inadmissibility));
    return this.#failures.length + this.#hopeless.length < before;
  }

  /** What was said of a Workload, or of one like it, when it was last tried; undefined: neither was. */
  toldOf({ workload }: QueuedWorkload): Inadmissibility | undefined {
    return this.#told.get(workload.schedulingHash);
  }

  /** The least that it may be admitted with. */
  #vectorOf({ workload: { requests, minPods } }: QueuedWorkload): Vector {
    const least = forPods(requests, minPods);
    return this.resources.map((resource) => least.get(resource) ?? ZERO);
  }
}

type Failure = { readonly amounts: Vector; readonly by: QueuedWorkload; readonly inadmissibility: Inadmissibility };

const TOLD_MIN = 16;

/** What is not enough for one is not enough for those after it that ask for as much: from an earlier one less may be kept. */
const isKnown = (failures: readonly Failure[], amounts: Vector, from: QueuedWorkload): boolean =>
  failures.some(({ by, amounts: failed }) => compareQueued(from, by) >= 0 && isWithin(failed, amounts));

const isHopeless = (failures: readonly Failure[], amounts: Vector): boolean =>
  failures.some((failure) => isWithin(failure.amounts, amounts));

/** What Workloads of one class have in common, and the resources that they ask for. `apart`: what else sets them apart. */
export function classOf({ requests, wish, nodeWish, record }: Workload, apart: readonly string[]): { id: string; resources: string[] } {
  const resources = [...requests].filter(([, amount]) => amount > ZERO).map(([resource]) => resource);
  resources.sort();
  const places = record === undefined ? [] : [record.cluster, record.clusterUID ?? null, record.avoid ?? null];
  return { id: JSON.stringify([resources, wish, nodeWish.digest, places, apart]), resources };
}
