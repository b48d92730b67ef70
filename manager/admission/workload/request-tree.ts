import { compareQueued, type QueuedWorkload } from './ordering.ts';

/**
 * The expected run time in milliseconds, in vectors of Workloads of which it is known: like a resource, the less of it the easier a
 * Workload is admitted. No resource has this name.
 */
export const DURATION = ' duration';

/** Amounts in the order of a tree's resources; missing amounts at the end count as 0. */
export type Vector = readonly number[];

/**
 * Workloads in queue order, in a balanced tree whose nodes know the smallest requests below them. The first Workload for which a condition
 * holds is found without visiting the others, if the condition also holds for smaller requests.
 *
 * A treap: the tree has the shape of random insertions, whatever the order of insertion.
 */
export class RequestTree {
  #root: Node | undefined;
  #earliest: QueuedWorkload | undefined;
  #state = 0x9e3779b9;

  get size(): number {
    return this.#root?.size ?? 0;
  }

  /** The smallest amounts of all Workloads. */
  get least(): Vector | undefined {
    return this.#root?.least;
  }

  /** The first Workload in order. */
  get earliest(): QueuedWorkload | undefined {
    return this.#earliest;
  }

  insert(queued: QueuedWorkload, own: Vector): void {
    this.#root = insert(this.#root, { queued, own, rank: this.#nextRank(), left: undefined, right: undefined, size: 1, least: own });
    if (this.#earliest === undefined || compare(queued, this.#earliest) < 0) this.#earliest = queued;
  }

  delete(queued: QueuedWorkload): void {
    this.#root = remove(this.#root, queued);
    if (this.#earliest !== undefined && compare(queued, this.#earliest) <= 0) this.#earliest = firstOf(this.#root);
  }

  /** The first Workload in order for which the condition holds. */
  firstWhere(holds: Holds): QueuedWorkload | undefined {
    const { earliest } = this;
    return earliest && firstWhere(this.#root, holds, earliest)?.queued;
  }

  /** All Workloads in order; the tree must not change during iteration. */
  inOrder(): Iterable<QueuedWorkload> {
    return inOrder(this.#root);
  }

  /** How many Workloads go before this one. */
  before(queued: QueuedWorkload): number {
    let count = 0;
    for (let node = this.#root; node !== undefined; ) {
      if (compare(queued, node.queued) <= 0) node = node.left;
      else {
        count += (node.left?.size ?? 0) + 1;
        node = node.right;
      }
    }
    return count;
  }

  /** An xorshift: deterministic, and not for users to choose. */
  #nextRank(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state;
  }
}

/**
 * A condition on amounts of Workloads at or after `from` in order. If it holds, it must also hold for smaller amounts and an earlier
 * `from`.
 */
export type Holds = (amounts: Vector, from: QueuedWorkload) => boolean;

type Node = {
  readonly queued: QueuedWorkload;
  readonly own: Vector;
  /** Greater than the ranks of the nodes below. */
  readonly rank: number;
  left: Node | undefined;
  right: Node | undefined;
  size: number;
  least: Vector;
};

/** A strict order: no two Workloads are equal. */
const compare = (a: QueuedWorkload, b: QueuedWorkload): number =>
  compareQueued(a, b) || (a.workload.key < b.workload.key ? -1 : a.workload.key > b.workload.key ? 1 : 0);

function insert(node: Node | undefined, added: Node): Node {
  if (node === undefined) return added;
  if (added.rank > node.rank) {
    const [left, right] = split(node, added.queued);
    added.left = left;
    added.right = right;
    return renewed(added);
  }
  if (compare(added.queued, node.queued) < 0) node.left = insert(node.left, added);
  else node.right = insert(node.right, added);
  return renewed(node);
}

function firstOf(root: Node | undefined): QueuedWorkload | undefined {
  let node = root;
  while (node?.left !== undefined) node = node.left;
  return node?.queued;
}

/** The nodes before `at`, and those after it. */
function split(node: Node | undefined, at: QueuedWorkload): [Node | undefined, Node | undefined] {
  if (node === undefined) return [undefined, undefined];
  if (compare(node.queued, at) < 0) {
    const [left, right] = split(node.right, at);
    node.right = left;
    return [renewed(node), right];
  }
  const [left, right] = split(node.left, at);
  node.left = right;
  return [left, renewed(node)];
}

function remove(node: Node | undefined, queued: QueuedWorkload): Node | undefined {
  if (node === undefined) return undefined;
  const order = compare(queued, node.queued);
  if (order === 0) return merge(node.left, node.right);
  if (order < 0) node.left = remove(node.left, queued);
  else node.right = remove(node.right, queued);
  return renewed(node);
}

/** Joins two trees; all of `left` go before all of `right`. */
function merge(left: Node | undefined, right: Node | undefined): Node | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  if (left.rank > right.rank) {
    left.right = merge(left.right, right);
    return renewed(left);
  }
  right.left = merge(left, right.left);
  return renewed(right);
}

function renewed(node: Node): Node {
  const { left, right } = node;
  node.size = 1 + (left?.size ?? 0) + (right?.size ?? 0);
  node.least = lesser(lesser(node.own, left?.least), right?.least);
  return node;
}

function lesser(a: Vector, b: Vector | undefined): Vector {
  if (b === undefined || isWithin(a, b)) return a;
  if (isWithin(b, a)) return b;
  return a.map((amount, index) => Math.min(amount, b[index] ?? 0));
}

/** Whether no amount exceeds its bound. */
export function isWithin(amounts: Vector, bounds: Vector): boolean {
  for (let index = 0; index < amounts.length; index++) if ((amounts[index] ?? 0) > (bounds[index] ?? 0)) return false;
  return true;
}

function* inOrder(node: Node | undefined): Generator<QueuedWorkload> {
  if (node === undefined) return;
  yield* inOrder(node.left);
  yield node.queued;
  yield* inOrder(node.right);
}

function firstWhere(node: Node | undefined, holds: Holds, from: QueuedWorkload): Node | undefined {
  if (node === undefined || !holds(node.least, from)) return undefined;
  const earlier = firstWhere(node.left, holds, from);
  if (earlier !== undefined) return earlier;
  return holds(node.own, node.queued) ? node : firstWhere(node.right, holds, node.queued);
}
