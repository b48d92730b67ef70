import { compareQueued, type QueuedWorkload } from './ordering.ts';

/** Amounts in the order of the resources of a tree; 0 of those that are missing at its end. */
export type Vector = readonly number[];

/**
 * Workloads in queue order, in a balanced tree of which every node knows the least amounts asked for below it: the first for which something holds
 * that also holds for whoever asks for less is found without looking at the others.
 *
 * A treap: the shape of the tree is that of random insertions, whatever order they come in.
 */
export class RequestTree {
  #root: Node | undefined;
  #state = 0x9e3779b9;

  get size(): number {
    return this.#root?.size ?? 0;
  }

  /** The least amounts of all. */
  get least(): Vector | undefined {
    return this.#root?.least;
  }

  /** None goes before this one. */
  get earliest(): QueuedWorkload | undefined {
    let node = this.#root;
    while (node?.left !== undefined) node = node.left;
    return node?.queued;
  }

  insert(queued: QueuedWorkload, own: Vector): void {
    this.#root = insert(this.#root, { queued, own, rank: this.#nextRank(), left: undefined, right: undefined, size: 1, least: own });
  }

  delete(queued: QueuedWorkload): void {
    this.#root = remove(this.#root, queued);
  }

  /** The first in order for which it holds. */
  firstWhere(holds: Holds): QueuedWorkload | undefined {
    const { earliest } = this;
    return earliest && firstWhere(this.#root, holds, earliest)?.queued;
  }

  /** All of them, in order; nothing may be added or taken out meanwhile. */
  inOrder(): Iterable<QueuedWorkload> {
    return inOrder(this.#root);
  }

  /** How many go before this one. */
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

  /** An xorshift: the shape does not depend on chance, and nobody can choose it. */
  #nextRank(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state;
  }
}

/**
 * Something that holds for amounts of Workloads that are not before `from` in order. What holds for some must hold for whoever asks for less and comes earlier.
 */
export type Holds = (amounts: Vector, from: QueuedWorkload) => boolean;

type Node = {
  readonly queued: QueuedWorkload;
  readonly own: Vector;
  /** Greater than those of the nodes below. */
  readonly rank: number;
  left: Node | undefined;
  right: Node | undefined;
  size: number;
  least: Vector;
};

/** Nobody is equal to another one. */
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

/** Those before `at`, and those after it. */
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

/** All of `left` go before all of `right`. */
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

/** Whether nowhere more is asked for than there. */
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
