import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { ZERO, formatAmount, type Requests } from '../api/amount.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import type { Cohort } from '../api/cohort.ts';
import { amountIn, byImportance, fillOf, shareOf, sumOf } from './fill.ts';
import type { CohortNode, Fill, QueueNode, QuotaFill } from './views.ts';

/** Queued Jobs that the viewer may see. */
export type Queued = Pick<QueueNode, 'first' | 'causes'>;

/** A ClusterQueue as a leaf of the tree of cohorts. */
export function queueNode(queue: DeepReadonly<ClusterQueue>, queued: Queued): QueueNode {
  const { metadata, spec, status } = queue;
  const active = findCondition(status?.conditions, 'Active');
  const stopped = spec.stopPolicy === undefined || spec.stopPolicy === 'None' ? undefined : `stopped (stopPolicy: ${spec.stopPolicy})`;
  const problem = stopped ?? (active?.status === 'False' ? active.message : undefined);
  const waiting = status?.pendingWorkloads ?? 0;
  return {
    kind: 'Queue',
    name: metadata.name,
    health: problem !== undefined ? 'Bad' : waiting > 0 ? 'Warning' : (status?.admittedWorkloads ?? 0) > 0 ? 'Good' : 'Idle',
    strategy: spec.queueingStrategy ?? 'BestEffortFIFO',
    waiting,
    admitted: status?.admittedWorkloads ?? 0,
    quota: quotaOf(queue),
    ...queued,
    ...omitUndefined({ cohort: spec.cohortName, problem, weightedShare: status?.fairSharing?.weightedShare }),
  };
}

function quotaOf({ spec, status }: DeepReadonly<ClusterQueue>): QuotaFill[] {
  return (spec.resourceGroups ?? []).flatMap(({ flavors }) =>
    flavors.flatMap(({ name: flavor, resources }) =>
      resources.map(({ name: resource, nominalQuota }): QuotaFill => {
        const usage = status?.flavorsUsage?.find(({ name }) => name === flavor)?.resources.find(({ name }) => name === resource);
        const nominal = amountIn(resource, nominalQuota);
        const borrowed = amountIn(resource, usage?.borrowed);
        return {
          flavor,
          ...fillOf(resource, amountIn(resource, usage?.total), nominal),
          ...(borrowed > ZERO ? { borrowed: formatAmount(resource, borrowed), borrowedShare: shareOf(borrowed, nominal) } : {}),
        };
      }),
    ),
  );
}

/**
 * Cohorts, including those without an object. The quota of a cohort is that of its own object and of all queues below it. In a tree with a
 * cycle, which admits nothing, each node counts once.
 */
export function cohortNodes(cohorts: readonly DeepReadonly<Cohort>[], queues: readonly DeepReadonly<ClusterQueue>[]): CohortNode[] {
  const objects = new Map(cohorts.map((cohort) => [cohort.metadata.name, cohort]));
  const names = new Set([
    ...objects.keys(),
    ...cohorts.flatMap(({ spec }) => spec?.parentName ?? []),
    ...queues.flatMap(({ spec }) => spec.cohortName ?? []),
  ]);
  const children = Map.groupBy(names, (name) => objects.get(name)?.spec?.parentName);
  const members = Map.groupBy(queues, ({ spec }) => spec.cohortName);
  const below = (name: string): Set<string> => {
    const seen = new Set([name]);
    for (const each of seen) for (const child of children.get(each) ?? []) seen.add(child);
    return seen;
  };
  return [...names].toSorted().map((name) => {
    const all = [...below(name)];
    const own = all.flatMap((each) => objects.get(each)?.spec?.resourceGroups ?? []);
    return {
      kind: 'Cohort',
      name,
      quota: totalOf(
        own,
        all.flatMap((each) => members.get(each) ?? []),
      ),
      ...omitUndefined({ parent: objects.get(name)?.spec?.parentName }),
    };
  });
}

type Groups = NonNullable<DeepReadonly<ClusterQueue>['spec']['resourceGroups']>;

/** The nominal quota of all flavors, by resource, the important resources first. */
export function nominalOf(groups: Groups | undefined): Requests {
  const quotas = (groups ?? []).flatMap(({ flavors }) => flavors.flatMap(({ resources }) => resources));
  const resources = [...new Set(quotas.map(({ name }) => name))].toSorted(byImportance);
  return new Map(
    resources.map((resource) => [
      resource,
      sumOf(quotas.filter(({ name }) => name === resource).map(({ nominalQuota }) => amountIn(resource, nominalQuota))),
    ]),
  );
}

function totalOf(own: Groups, queues: readonly DeepReadonly<ClusterQueue>[]): Fill[] {
  const given = [...own, ...queues.flatMap(({ spec }) => spec.resourceGroups ?? [])].flatMap(({ flavors }) =>
    flavors.flatMap(({ resources }) => resources),
  );
  const used = queues.flatMap(({ status }) => (status?.flavorsUsage ?? []).flatMap(({ resources }) => resources));
  return [...new Set(given.map(({ name }) => name))]
    .toSorted(byImportance)
    .map((resource) =>
      fillOf(
        resource,
        sumOf(used.filter(({ name }) => name === resource).map(({ total }) => amountIn(resource, total))),
        sumOf(given.filter(({ name }) => name === resource).map(({ nominalQuota }) => amountIn(resource, nominalQuota))),
      ),
    );
}
