import type { DeepReadonly, Node } from '../../../shared/api/kubernetes.ts';
import { addQuantities, formatQuantity, parseQuantity, QuantityError, type Quantity } from '../../../shared/kube/quantity.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import { NODE_SHAPES_MAX, type NodeShape } from '../../api/node-shape.ts';

/** The capacity of a cluster. */
export type Capacity = {
  readonly allocatable: Record<string, string>;
  /** Its nodes by what they offer; absent if they are too different. */
  readonly nodeShapes?: readonly NodeShape[];
  /** True once the nodes are listed, so that the capacity is complete. */
  readonly isAll?: boolean;
  /** Which amount was left out, and why; absent when none was. */
  readonly problem?: string;
};

/** The most resources that the status of a WorkerCluster may have. */
const RESOURCES_MAX = 64;
/** Prefix, slash and name of a resource. */
const RESOURCE_LENGTH_MAX = 253 + 1 + 63;
const RESOURCE = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/;

/** Capacity of the schedulable, ready nodes of a cluster. */
export function capacityOf(nodes: readonly DeepReadonly<Node>[]): Capacity {
  const sums = new Map<string, Quantity>();
  const offers: Map<string, Quantity>[] = [];
  let problem: string | undefined;
  for (const node of nodes.filter(takesPods)) {
    const offer = new Map<string, Quantity>();
    offers.push(offer);
    for (const [resource, text] of Object.entries(node.status?.allocatable ?? {})) {
      const sum = sums.get(resource);
      const amount = sum === undefined && sums.size === RESOURCES_MAX ? `there are more than ${RESOURCES_MAX} resources` : amountOf(text);
      if (typeof amount === 'string')
        problem ??= `allocatable ${sanitizeText(resource, 64)} of node "${sanitizeText(node.metadata.name, 64)}" does not count: ${amount}`;
      else {
        offer.set(resource, amount);
        sums.set(resource, sum === undefined ? amount : addQuantities(sum, amount));
      }
    }
  }
  return { allocatable: formatted(sums), ...omitUndefined({ problem, nodeShapes: shapesOf(offers.filter(({ size }) => size > 0)) }) };
}

const formatted = (amounts: ReadonlyMap<string, Quantity>): Record<string, string> =>
  Object.fromEntries([...amounts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([resource, each]) => [resource, formatQuantity(each)]));

type Offer = ReadonlyMap<string, Quantity>;

/**
 * The shapes of nodes, the most frequent first. If there are too many, nodes that differ by little count as one shape, which offers the
 * most that one of them does. Undefined without nodes, or if there are still too many.
 */
function shapesOf(offers: readonly Offer[]): readonly NodeShape[] | undefined {
  for (const roundedUp of [(nanos: bigint) => nanos, toThreeBits]) {
    const shapes = new Map<string, { count: number; most: Map<string, Quantity> }>();
    for (const offer of offers) {
      const key = [...offer]
        .map(([resource, { nanos }]) => `${resource}=${roundedUp(nanos)}`)
        .toSorted()
        .join();
      const shape = shapes.get(key);
      if (shape === undefined) shapes.set(key, { count: 1, most: new Map(offer) });
      else {
        shape.count++;
        for (const [resource, amount] of offer)
          if (amount.nanos > (shape.most.get(resource)?.nanos ?? 0n)) shape.most.set(resource, amount);
      }
    }
    if (shapes.size === 0) return undefined;
    if (shapes.size <= NODE_SHAPES_MAX)
      return [...shapes]
        .toSorted(([a, { count: many }], [b, { count: more }]) => more - many || (a < b ? -1 : 1))
        .map(([, { count, most }]) => ({ count, allocatable: formatted(most) }));
  }
  return undefined;
}

const BITS = 3n;
/** Rounds up to three significant binary digits, so that amounts within an eighth of each other are mostly equal. */
function toThreeBits(nanos: bigint): bigint {
  const excess = BigInt(nanos.toString(2).length) - BITS;
  return excess <= 0n ? nanos : ((nanos + (1n << excess) - 1n) >> excess) << excess;
}

/** The parts of a Node that decisions read; the rest is large and changes often. */
export function essentialsOfNode({ metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion } = metadata;
  const ready = Array.isArray(status?.conditions) ? status.conditions.find((each) => each?.type === 'Ready')?.status : undefined;
  return {
    metadata: { name, uid, resourceVersion, creationTimestamp: '' },
    spec: spec?.unschedulable === true ? { unschedulable: true } : {},
    status: {
      ...omitUndefined({ allocatable: essentialsOfAmounts(status?.allocatable) }),
      ...(ready === undefined ? {} : { conditions: [{ type: 'Ready', status: ready === 'True' ? 'True' : 'False' }] }),
    },
  };
}

/** Keeps a mark for a malformed amount, so that it can be reported. */
function essentialsOfAmounts(amounts: unknown): Record<string, string> | undefined {
  if (!isJsonObject(amounts)) return undefined;
  const named = Object.entries(amounts).filter(([resource]) => resource.length <= RESOURCE_LENGTH_MAX && RESOURCE.test(resource));
  const short = (amount: unknown): string =>
    (typeof amount === 'string' || typeof amount === 'number') && String(amount).length <= AMOUNT_LENGTH_MAX ? String(amount) : NO_AMOUNT;
  return Object.fromEntries(named.slice(0, RESOURCES_MAX + 1).map(([resource, amount]) => [resource, short(amount)]));
}

const AMOUNT_LENGTH_MAX = 64;
const NO_AMOUNT = '?';

function amountOf(text: string): Quantity | string {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return text === NO_AMOUNT ? 'it is no quantity, or one that is too long' : error.message;
    throw error;
  }
}

const takesPods = (node: DeepReadonly<Node>): boolean =>
  node.spec?.unschedulable !== true && !(node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status !== 'True');
