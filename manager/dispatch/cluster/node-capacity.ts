import type { DeepReadonly, Node } from '../../../shared/api/kubernetes.ts';
import { addQuantities, formatQuantity, parseQuantity, QuantityError, type Quantity } from '../../../shared/kube/quantity.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';

/** The capacity of a cluster. */
export type Capacity = {
  readonly allocatable: Record<string, string>;
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

/** The sum of allocatable resources of the schedulable, ready nodes of a cluster. */
export function capacityOf(nodes: readonly DeepReadonly<Node>[]): Capacity {
  const sums = new Map<string, Quantity>();
  let problem: string | undefined;
  for (const node of nodes.filter(takesPods)) {
    for (const [resource, text] of Object.entries(node.status?.allocatable ?? {})) {
      const sum = sums.get(resource);
      const amount = sum === undefined && sums.size === RESOURCES_MAX ? `there are more than ${RESOURCES_MAX} resources` : amountOf(text);
      if (typeof amount === 'string')
        problem ??= `allocatable ${sanitizeText(resource, 64)} of node "${sanitizeText(node.metadata.name, 64)}" does not count: ${amount}`;
      else sums.set(resource, sum === undefined ? amount : addQuantities(sum, amount));
    }
  }
  const sorted = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    allocatable: Object.fromEntries(sorted.map(([resource, sum]) => [resource, formatQuantity(sum)])),
    ...omitUndefined({ problem }),
  };
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
