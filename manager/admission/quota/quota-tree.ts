import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import type { ClusterQueue } from '../../api/cluster-queue.ts';
import type { Cohort } from '../../api/cohort.ts';
import { weightOf } from '../../api/fair-weight.ts';
import type { ResourceGroup } from '../../api/quota.ts';
import { larger, minus, parseAmount, plus, smaller, ZERO, type Amount } from '../../api/amount.ts';
import type { Usage } from './usage.ts';

/**
 * The quota arithmetic of ClusterQueues and Cohorts, after Kueue's resource_node.go and KEP-79.
 *
 * A node keeps the *guaranteed* part of its subtree quota (what exceeds its lendingLimit) and pools the rest with its parent. Its usage
 * fills the guaranteed part first; only the overflow counts as usage of the parent. So the parent's subtree quota is its own nominal quota
 * plus what its children pool. A node's availability is the unused guaranteed part plus the parent's availability, the latter limited by
 * borrowingLimit. Availability is negative if quota was reduced below usage.
 */
export type QuotaTree = {
  readonly clusterQueues: ReadonlyMap<string, QuotaNode>;
  /** Cohorts by name, without those in a cycle. */
  readonly cohorts: ReadonlyMap<string, QuotaNode>;
  /** ClusterQueues that are inactive because the Cohorts above them form a cycle, with the cycle as text. */
  readonly cycles: ReadonlyMap<string, string>;
};

export type QuotaNode = {
  /** Unique in the tree: `ClusterQueue/name` or `Cohort/name`. */
  readonly id: string;
  /** The name of the ClusterQueue; undefined for a Cohort. */
  readonly clusterQueue: string | undefined;
  readonly parent: QuotaNode | undefined;
  readonly children: readonly QuotaNode[];
  /** The topmost node above; all nodes with the same root share quota. */
  readonly rootId: string;
  readonly quotas: ReadonlyMap<FlavorResource, Quota>;
  /** Nominal quota of the node and what its children pool with it. */
  readonly subtree: ReadonlyMap<FlavorResource, Amount>;
  /** Distance to the furthest node below: 0 for a ClusterQueue, 1 for a Cohort with only ClusterQueues. */
  readonly height: number;
  /** The weight that divides the node's share, with fair sharing. */
  readonly weight: number;
  /** What the parent could lend with nothing used, by resource, whatever the flavor. Empty without a parent. */
  readonly lendable: ReadonlyMap<string, Amount>;
};

/** One resource of one flavor: `flavor/resource`. Flavor names contain no slash. */
export type FlavorResource = `${string}/${string}`;
export const flavorResource = (flavor: string, resource: string): FlavorResource => `${flavor}/${resource}`;
export function splitFlavorResource(key: FlavorResource): { readonly flavor: string; readonly resource: string } {
  const slash = key.indexOf('/');
  return { flavor: key.slice(0, slash), resource: key.slice(slash + 1) };
}

export type Quota = { readonly nominal: Amount; readonly borrowingLimit?: Amount; readonly lendingLimit?: Amount };

/** What the node can still use now. */
export function available(node: QuotaNode, usage: Usage, key: FlavorResource): Amount {
  if (node.parent === undefined) return minus(subtreeQuota(node, key), usage.get(node.id, key));
  const fromParent = available(node.parent, usage, key);
  const quota = node.quotas.get(key);
  const limit = quota?.borrowingLimit;
  // Most ClusterQueues lend all that they have, and borrow without limit.
  if (limit === undefined && quota?.lendingLimit === undefined) return fromParent;
  const used = usage.get(node.id, key);
  const guaranteed = guaranteedQuota(node, key);
  const local = larger(ZERO, minus(guaranteed, used));
  if (limit === undefined) return plus(local, fromParent);
  const pooled = minus(subtreeQuota(node, key), guaranteed);
  const usedOfPool = larger(ZERO, minus(used, guaranteed));
  return plus(local, smaller(fromParent, plus(minus(pooled, usedOfPool), limit)));
}

/** What the node can use if nothing is used. A Workload that requests more can never be admitted. */
export function potentialAvailable(node: QuotaNode, key: FlavorResource): Amount {
  if (node.parent === undefined) return subtreeQuota(node, key);
  const reachable = plus(guaranteedQuota(node, key), potentialAvailable(node.parent, key));
  const limit = node.quotas.get(key)?.borrowingLimit;
  return limit === undefined ? reachable : smaller(reachable, plus(subtreeQuota(node, key), limit));
}

/**
 * The height in the tree that the node reaches to use `amount` more: that of the lowest subtree whose quota has room, or of the whole tree
 * if none has. 0: no borrowing. `reclaimable`: the subtree is not the whole tree, so what it lacks has been borrowed by other nodes.
 * Kueue's FindHeightOfLowestSubtreeThatFits.
 */
export function borrowingReach(
  node: QuotaNode,
  usage: Usage,
  key: FlavorResource,
  amount: Amount,
): { readonly height: number; readonly reclaimable: boolean } {
  const { parent } = node;
  if (parent === undefined || !wouldBorrow(node, usage, key, amount)) return { height: 0, reclaimable: parent !== undefined };
  let missing = minus(amount, unusedGuarantee(node, usage, key));
  let root = parent;
  for (let above: QuotaNode | undefined = parent; above !== undefined; above = above.parent) {
    if (!exceedsOwn(above, usage, key, missing)) return { height: above.height, reclaimable: above.parent !== undefined };
    missing = minus(missing, unusedGuarantee(above, usage, key));
    root = above;
  }
  return { height: root.height, reclaimable: false };
}

/** Whether using `amount` more exceeds the node's own quota. */
export const wouldBorrow = (node: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount): boolean =>
  node.parent !== undefined && exceedsOwn(node, usage, key, amount);

const exceedsOwn = (node: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount): boolean =>
  plus(usage.get(node.id, key), amount) > subtreeQuota(node, key);

const unusedGuarantee = (node: QuotaNode, usage: Usage, key: FlavorResource): Amount =>
  node.quotas.get(key)?.lendingLimit === undefined ? ZERO : larger(ZERO, minus(guaranteedQuota(node, key), usage.get(node.id, key)));

export function addUsage(node: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount): void {
  const used = usage.get(node.id, key);
  const local = unusedGuarantee(node, usage, key);
  usage.set(node.id, key, plus(used, amount));
  if (node.parent !== undefined && amount > local) addUsage(node.parent, usage, key, minus(amount, local));
}

export function removeUsage(node: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount): void {
  const used = usage.get(node.id, key);
  const overflow = minus(used, guaranteedQuota(node, key));
  usage.set(node.id, key, minus(used, amount));
  if (node.parent !== undefined && overflow > ZERO) removeUsage(node.parent, usage, key, smaller(amount, overflow));
}

/** The usage of a node once a ClusterQueue at or below it uses `amount` more. */
export function usageAfter(node: QuotaNode, queue: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount): Amount {
  let more = amount;
  for (let below = queue; below !== node && below.parent !== undefined; below = below.parent)
    more = larger(ZERO, minus(more, unusedGuarantee(below, usage, key)));
  return plus(usage.get(node.id, key), more);
}

/** The usage of a node once a ClusterQueue at or below it uses `amount` less. */
export function usageWithout(node: QuotaNode, queue: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount): Amount {
  let less = amount;
  for (let below = queue; below !== node && below.parent !== undefined; below = below.parent)
    less = larger(ZERO, smaller(less, minus(usage.get(below.id, key), guaranteedQuota(below, key))));
  return minus(usage.get(node.id, key), less);
}

export const nominalQuota = (node: QuotaNode, key: FlavorResource): Amount => node.quotas.get(key)?.nominal ?? ZERO;

export const subtreeQuota = (node: QuotaNode, key: FlavorResource): Amount => node.subtree.get(key) ?? ZERO;

/** The unused guaranteed part of the node; no other node sees it. */
export const locallyAvailable = (node: QuotaNode, usage: Usage, key: FlavorResource): Amount =>
  larger(ZERO, minus(guaranteedQuota(node, key), usage.get(node.id, key)));

/** Whether the node's usage of any of these exceeds its own quota. */
export const isBorrowingAny = (node: QuotaNode, usage: Usage, keys: Iterable<FlavorResource>): boolean => {
  for (const key of keys) if (usage.get(node.id, key) > subtreeQuota(node, key)) return true;
  return false;
};

/** The part of its quota that a node does not lend: 0 without a lendingLimit. */
const guaranteedQuota = (node: QuotaNode, key: FlavorResource): Amount =>
  guaranteedPart(subtreeQuota(node, key), node.quotas.get(key)?.lendingLimit);

const guaranteedPart = (subtree: Amount, lendingLimit: Amount | undefined): Amount =>
  lendingLimit === undefined ? ZERO : larger(ZERO, minus(subtree, lendingLimit));

/** Builds the tree. Cohorts that are only referenced exist too, without quota of their own. */
export function buildQuotaTree(clusterQueues: Iterable<DeepReadonly<ClusterQueue>>, cohorts: Iterable<DeepReadonly<Cohort>>): QuotaTree {
  const cohortByName = new Map([...cohorts].map((cohort) => [cohort.metadata.name, cohort]));
  const cycles = new Map<string, string>();
  const drafts = new Map<string, Draft>();
  const roots: Draft[] = [];
  const cohortDraft = (name: string): Draft => {
    const known = drafts.get(name);
    if (known !== undefined) return known;
    const spec = cohortByName.get(name)?.spec;
    const draft: Draft = {
      kind: 'Cohort',
      name,
      quotas: quotasOf(spec?.resourceGroups ?? []),
      weight: weightOf(spec?.fairSharing),
      children: [],
    };
    drafts.set(name, draft);
    attach(draft, spec?.parentName);
    return draft;
  };
  const attach = (draft: Draft, parentName: string | undefined): void => {
    (parentName === undefined ? roots : cohortDraft(parentName).children).push(draft);
  };
  for (const queue of clusterQueues) {
    const cycle = cycleAbove(queue.spec.cohortName, cohortByName);
    if (cycle !== undefined) {
      cycles.set(queue.metadata.name, cycle);
      continue;
    }
    const draft: Draft = {
      kind: 'ClusterQueue',
      name: queue.metadata.name,
      quotas: quotasOf(queue.spec.resourceGroups ?? []),
      weight: weightOf(queue.spec.fairSharing),
      children: [],
    };
    attach(draft, queue.spec.cohortName);
  }
  for (const [name, cohort] of cohortByName) {
    // A Cohort without ClusterQueues below it can still lend.
    if (cycleAbove(cohort.metadata.name, cohortByName) === undefined) cohortDraft(name);
  }
  const nodes: Nodes = { ClusterQueue: new Map(), Cohort: new Map() };
  for (const root of roots) finish(root, undefined, NOTHING, nodes);
  return { clusterQueues: nodes.ClusterQueue, cohorts: nodes.Cohort, cycles };
}

type Nodes = Readonly<Record<'ClusterQueue' | 'Cohort', Map<string, QuotaNode>>>;
const NOTHING: ReadonlyMap<string, Amount> = new Map();

type Draft = {
  readonly kind: 'ClusterQueue' | 'Cohort';
  readonly name: string;
  readonly quotas: ReadonlyMap<FlavorResource, Quota>;
  readonly weight: number;
  readonly children: Draft[];
};

/** The Cohorts of a cycle at or above `start`; undefined if there is none. */
function cycleAbove(start: string | undefined, cohorts: ReadonlyMap<string, DeepReadonly<Cohort>>): string | undefined {
  const path: string[] = [];
  for (let name = start; name !== undefined; name = cohorts.get(name)?.spec?.parentName) {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name].join(' -> ');
    path.push(name);
  }
  return undefined;
}

function finish(draft: Draft, parent: QuotaNode | undefined, lendable: ReadonlyMap<string, Amount>, nodes: Nodes): QuotaNode {
  const { kind, name, quotas, weight } = draft;
  const id = `${kind}/${name}`;
  const children: QuotaNode[] = [];
  const node: QuotaNode = {
    id,
    clusterQueue: kind === 'ClusterQueue' ? name : undefined,
    parent,
    children,
    rootId: parent?.rootId ?? id,
    quotas,
    subtree: subtreeOf(draft),
    height: heightOf(draft),
    weight,
    lendable,
  };
  nodes[kind].set(name, node);
  if (draft.children.length === 0) return node;
  const ofChildren = lendableBy(node);
  for (const child of draft.children) children.push(finish(child, node, ofChildren, nodes));
  return node;
}

function lendableBy(node: QuotaNode): Map<string, Amount> {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  const total = new Map<string, Amount>();
  // The root has every flavor resource of the tree, including those that other nodes do not lend.
  for (const key of root.subtree.keys()) {
    const { resource } = splitFlavorResource(key);
    total.set(resource, plus(total.get(resource) ?? ZERO, potentialAvailable(node, key)));
  }
  return total;
}

const heightOf = ({ children }: Draft): number => children.reduce((height, child) => Math.max(height, heightOf(child) + 1), 0);

function subtreeOf(draft: Draft): Map<FlavorResource, Amount> {
  const total = new Map<FlavorResource, Amount>();
  for (const [key, { nominal }] of draft.quotas) total.set(key, nominal);
  for (const child of draft.children) {
    for (const [key, amount] of subtreeOf(child)) {
      const pooled = minus(amount, guaranteedPart(amount, child.quotas.get(key)?.lendingLimit));
      total.set(key, plus(total.get(key) ?? ZERO, pooled));
    }
  }
  return total;
}

function quotasOf(groups: DeepReadonly<ResourceGroup[]>): Map<FlavorResource, Quota> {
  const quotas = new Map<FlavorResource, Quota>();
  for (const flavor of groups.flatMap((group) => group.flavors)) {
    for (const { name, nominalQuota, borrowingLimit, lendingLimit } of flavor.resources) {
      quotas.set(flavorResource(flavor.name, name), {
        nominal: parseAmount(name, nominalQuota),
        ...(borrowingLimit === undefined ? {} : { borrowingLimit: parseAmount(name, borrowingLimit) }),
        ...(lendingLimit === undefined ? {} : { lendingLimit: parseAmount(name, lendingLimit) }),
      });
    }
  }
  return quotas;
}
