import { linesOf, receivedItem, sentItem } from '../sent-item.ts';
import type { ClusterItem, CohortNode, Ended, JobLine, LocalQueueNode, QueueNode, Totals, OverviewChange, OverviewItem } from '../views.ts';

/** The overview as the page has it: items by id. */
export type Overview = ReadonlyMap<string, OverviewItem>;

/** The overview after a change; what has not changed stays the same object. */
export function changed(overview: Overview, { items, jobs, lines }: Pick<OverviewChange, 'items' | 'jobs' | 'lines'>): Overview {
  const news = new Map([...lines, ...jobs].map((line) => [line.key, line]));
  const known = new Map([...overview.values()].flatMap(linesOf).map((line) => [line.key, line]));
  const lineOf = (key: string): JobLine | undefined => news.get(key) ?? known.get(key);
  const next = new Map(overview);
  for (const [id, item] of overview) if (linesOf(item).some(({ key }) => news.has(key))) next.set(id, receivedItem(sentItem(item), lineOf));
  for (const [id, item] of Object.entries(items)) {
    if (item === null) next.delete(id);
    else next.set(id, receivedItem(item, lineOf));
  }
  return next;
}

export const itemsOf = <K extends OverviewItem['kind']>(overview: Overview, kind: K): Extract<OverviewItem, { kind: K }>[] =>
  [...overview.values()].filter((item): item is Extract<OverviewItem, { kind: K }> => item.kind === kind);

export const totalsIn = (overview: Overview): Totals | undefined => itemsOf(overview, 'Totals')[0];
export const endedIn = (overview: Overview): Ended | undefined => itemsOf(overview, 'Ended')[0];
export const clustersIn = (overview: Overview): ClusterItem[] => itemsOf(overview, 'Cluster').toSorted(byName);
export const localQueuesIn = (overview: Overview): LocalQueueNode[] =>
  itemsOf(overview, 'LocalQueue').toSorted((a, b) => (a.key < b.key ? -1 : 1));

/** A cohort with what is in it; the one without a name has the queues that are in none. */
export type TreeNode = {
  readonly cohort: CohortNode | undefined;
  readonly queues: readonly QueueNode[];
  readonly children: readonly TreeNode[];
};

/** The tree of cohorts from its roots on. A cohort whose parents go round in a circle is a root. */
export function treeOf(overview: Overview): readonly TreeNode[] {
  const cohorts = itemsOf(overview, 'Cohort').toSorted(byName);
  const queues = Map.groupBy(itemsOf(overview, 'Queue').toSorted(byName), ({ cohort }) => cohort ?? '');
  const byCohort = new Map(cohorts.map((cohort) => [cohort.name, cohort]));
  const isRoot = (cohort: CohortNode): boolean => {
    const seen = new Set<string>();
    for (let each: CohortNode | undefined = cohort; each?.parent !== undefined; each = byCohort.get(each.parent)) {
      if (seen.has(each.name)) return true;
      seen.add(each.name);
    }
    return cohort.parent === undefined || !byCohort.has(cohort.parent);
  };
  const node = (cohort: CohortNode, above: readonly string[]): TreeNode => ({
    cohort,
    queues: queues.get(cohort.name) ?? [],
    children: cohorts
      .filter(({ name, parent }) => parent === cohort.name && name !== cohort.name && !above.includes(name))
      .map((child) => node(child, [...above, cohort.name])),
  });
  const alone = [...queues].flatMap(([cohort, own]) => (byCohort.has(cohort) ? [] : own));
  const roots = cohorts.filter(isRoot).map((cohort) => node(cohort, []));
  return alone.length === 0 ? roots : [...roots, { cohort: undefined, queues: alone, children: [] }];
}

/** Queues of a cohort and of those below it; without one all queues. */
export function inCohort(overview: Overview, cohort: string | undefined): readonly QueueNode[] {
  const queues = itemsOf(overview, 'Queue');
  if (cohort === undefined) return queues;
  const within = new Set([cohort]);
  const cohorts = itemsOf(overview, 'Cohort');
  for (let before = -1; before !== within.size; ) {
    before = within.size;
    for (const { name, parent } of cohorts) if (parent !== undefined && within.has(parent)) within.add(name);
  }
  return queues.filter((queue) => queue.cohort !== undefined && within.has(queue.cohort));
}

/** The query for Jobs that wait in a LocalQueue (namespace/name). */
export function waitingIn(localQueue: string): {
  readonly state: string;
  readonly namespace: string | undefined;
  readonly queue: string | undefined;
} {
  const [namespace, queue] = localQueue.split('/');
  return { state: 'Waiting,NeverFits,Held', namespace, queue };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
