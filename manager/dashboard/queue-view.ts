import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { formatAmount, minus, smaller, ZERO, type Amount } from '../api/amount.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import { conditionViews } from './condition-view.ts';
import { amountIn } from './fill.ts';
import { namespaceOf } from './job-line.ts';
import { queueNode } from './queue-tree.ts';
import { seesIt, type Rights } from './rights.ts';
import { localQueueUse } from './shared-figures.ts';
import type { JobLine, Loan, Place, QueueView } from './views.ts';
import { queuedIn, type OverviewSources } from './overview.ts';

/** The order of a ClusterQueue, with waiting Jobs that the viewer may not see; or why the order is unknown. */
export type Order =
  | { readonly kind: 'Order'; readonly waiting: number; readonly first: readonly { readonly key: string; readonly priority: number }[] }
  | { readonly kind: 'NoOrder'; readonly problem: string };

const PLACES_SHOWN = 100;
const LENDERS_SHOWN = 50;

/** All about a ClusterQueue, for a viewer who may see that queue. */
export function queueView(sources: OverviewSources, queue: DeepReadonly<ClusterQueue>, order: Order, rights: Rights): QueueView {
  const { index, localQueues } = sources;
  const { name } = queue.metadata;
  const leading = localQueues.list().filter(({ spec }) => spec.clusterQueue === name);
  const visible = leading.filter(({ metadata }) => seesIt(rights.namespaces, metadata.namespace));
  return {
    node: queueNode(queue, queuedIn(sources, name, rights)),
    localQueues: visible.map((each) => localQueueUse(sources, each)).toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    weight: String(queue.spec.fairSharing?.weight ?? 1),
    loans: loansOf(sources, queue, rights),
    order: order.kind === 'NoOrder' ? [] : placesOf(order.first, (key) => index.get(key), rights),
    waiting: order.kind === 'NoOrder' ? (queue.status?.pendingWorkloads ?? 0) : order.waiting,
    conditions: conditionViews(queue.status?.conditions),
    ...omitUndefined({ otherLocalQueues: rights.queues === 'All' ? leading.length - visible.length : undefined }),
    ...omitUndefined({ orderProblem: order.kind === 'NoOrder' ? order.problem : undefined }),
  };
}

function placesOf(
  first: readonly { readonly key: string; readonly priority: number }[],
  lineOf: (key: string) => JobLine | undefined,
  rights: Rights,
): Place[] {
  const places: Place[] = [];
  for (const [before, { key, priority }] of first.entries()) {
    if (places.length >= PLACES_SHOWN) break;
    const job = seesIt(rights.namespaces, namespaceOf({ key })) ? lineOf(key) : undefined;
    if (job !== undefined) places.push({ place: before + 1, priority, job });
  }
  return places;
}

/**
 * What the queue borrows of each flavor, and which queues and cohorts have unused quota. Which of them lends is undefined: a tree lends as
 * a whole.
 */
function loansOf({ clusterQueues, cohorts }: OverviewSources, queue: DeepReadonly<ClusterQueue>, rights: Rights): Loan[] {
  const borrowed = (queue.status?.flavorsUsage ?? []).flatMap(({ name: flavor, resources }) =>
    resources.flatMap(({ name: resource, borrowed: quantity }) => {
      const amount = amountIn(resource, quantity);
      return amount > ZERO ? [{ flavor, resource, amount }] : [];
    }),
  );
  if (borrowed.length === 0) return [];
  const parents = new Map(cohorts.list().map(({ metadata, spec }) => [metadata.name, spec?.parentName]));
  const root = rootOf(queue.spec.cohortName, parents);
  const related = <T>(all: readonly T[], cohortOf: (one: T) => string | undefined): T[] =>
    all.filter((each) => root !== undefined && rootOf(cohortOf(each), parents) === root);
  const queues = related(clusterQueues.list(), ({ spec }) => spec.cohortName).filter(
    ({ metadata }) => metadata.name !== queue.metadata.name && seesIt(rights.queues, metadata.name),
  );
  const groups = rights.queues === 'All' ? related(cohorts.list(), ({ metadata }) => metadata.name) : [];
  return borrowed.map(({ flavor, resource, amount }) => ({
    flavor,
    resource,
    borrowed: formatAmount(resource, amount),
    lenders: [
      ...queues.map((each) => ({ kind: 'Queue' as const, name: each.metadata.name, unused: unusedOf(each, flavor, resource) })),
      ...groups.map((each) => ({
        kind: 'Cohort' as const,
        name: each.metadata.name,
        unused: lent(each.spec?.resourceGroups, flavor, resource),
      })),
    ]
      .filter(({ unused }) => unused > ZERO)
      .toSorted((a, b) => b.unused - a.unused)
      .slice(0, LENDERS_SHOWN)
      .map(({ unused, ...lender }) => ({ ...lender, unused: formatAmount(resource, unused) })),
  }));
}

/** A tree with a cycle, which admits nothing, has any of its nodes as root. */
function rootOf(cohort: string | undefined, parents: ReadonlyMap<string, string | undefined>): string | undefined {
  const seen = new Set<string>();
  let at = cohort;
  for (let above = at; above !== undefined && !seen.has(above); above = parents.get(above)) {
    seen.add(above);
    at = above;
  }
  return at;
}

function unusedOf({ spec, status }: DeepReadonly<ClusterQueue>, flavor: string, resource: string): Amount {
  const usage = status?.flavorsUsage?.find(({ name }) => name === flavor)?.resources.find(({ name }) => name === resource);
  const quota = quotaIn(spec.resourceGroups, flavor, resource);
  const unused = minus(amountIn(resource, quota?.nominalQuota), amountIn(resource, usage?.total));
  return quota?.lendingLimit === undefined ? unused : smaller(unused, amountIn(resource, quota.lendingLimit));
}

function lent(groups: Groups | undefined, flavor: string, resource: string): Amount {
  const quota = quotaIn(groups, flavor, resource);
  return amountIn(resource, quota?.lendingLimit ?? quota?.nominalQuota);
}

type Groups = NonNullable<DeepReadonly<ClusterQueue>['spec']['resourceGroups']>;

const quotaIn = (groups: Groups | undefined, flavor: string, resource: string) =>
  groups
    ?.flatMap(({ flavors }) => flavors)
    .find(({ name }) => name === flavor)
    ?.resources.find(({ name }) => name === resource);
