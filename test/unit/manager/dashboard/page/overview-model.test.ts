import { expect, test } from 'vitest';
import type { CohortNode, QueueNode, SentItem, OverviewItem } from '../../../../../manager/dashboard/views.ts';
import {
  changed,
  clustersIn,
  endedIn,
  itemsOf,
  localQueuesIn,
  totalsIn,
  inCohort,
  treeOf,
  waitingIn,
  type TreeNode,
  type Overview,
} from '../../../../../manager/dashboard/page/overview-model.ts';
import { aLine } from '../lines.ts';

const cohort = (name: string, parent?: string): CohortNode => ({ kind: 'Cohort', name, quota: [], ...(parent && { parent }) });
const queue = (name: string, cohortName?: string): QueueNode => ({
  kind: 'Queue',
  name,
  health: 'Good',
  strategy: 'BestEffortFIFO',
  waiting: 0,
  admitted: 0,
  quota: [],
  causes: [],
  first: [],
  ...(cohortName && { cohort: cohortName }),
});
const yardOf = (...items: readonly (CohortNode | QueueNode)[]): Overview =>
  new Map(items.map((item) => [`${item.kind}/${item.name}`, item]));
const shape = (nodes: readonly TreeNode[]): unknown[] =>
  nodes.map(({ cohort: node, queues, children }) => [node?.name, queues.map(({ name }) => name), ...shape(children)]);

const NOTHING = { items: {}, jobs: [], lines: [] };
const listing = (name: string, ...keys: readonly string[]): Extract<SentItem, { kind: 'Queue' }> => ({ ...queue(name), first: keys });

test('a change replaces what it names, drops what is gone, and leaves the rest the same objects', () => {
  const yard = yardOf(queue('a'), queue('b'));
  const next = changed(yard, {
    ...NOTHING,
    items: { 'Queue/a': { ...listing('a'), waiting: 3 }, 'Queue/b': null, totals: { kind: 'Totals', states: {}, namespaces: 0 } },
  });
  expect(itemsOf(next, 'Queue')).toMatchObject([{ name: 'a', waiting: 3 }]);
  expect(totalsIn(next)).toBeDefined();
  expect([endedIn(next), clustersIn(next), localQueuesIn(next)]).toEqual([undefined, [], []]);
  const same = changed(yard, NOTHING);
  expect(same.get('Queue/a')).toBe(yard.get('Queue/a') as OverviewItem);
});

test('a Job that is listed somewhere is shown as it was told of last, wherever it is listed by then', () => {
  const [one, two] = [aLine({ key: 'team/one' }), aLine({ key: 'team/two' })];
  const before = changed(new Map(), { items: { a: listing('a', 'team/one', 'team/two'), b: listing('b') }, jobs: [one], lines: [two] });
  const why = { ...two, why: 'there is no room' };
  const after = changed(before, { ...NOTHING, jobs: [why, aLine({ key: 'team/elsewhere' })] });
  expect(itemsOf(after, 'Queue').map(({ first }) => first)).toEqual([[one, why], []]);
  expect(after.get('b')).toBe(before.get('b'));
  const moved = changed(after, { ...NOTHING, items: { a: listing('a', 'team/one', 'team/unheard-of'), b: listing('b', 'team/two') } });
  expect(itemsOf(moved, 'Queue').map(({ first }) => first)).toEqual([[one], [why]]);
});

test('cohorts are a tree, queues without one stand beside it, and a circle is shown once', () => {
  expect(shape(treeOf(yardOf(cohort('org'), cohort('lab', 'org'), queue('gpu', 'lab'), queue('own'), queue('top', 'org'))))).toEqual([
    ['org', ['top'], ['lab', ['gpu']]],
    [undefined, ['own']],
  ]);
  const round = treeOf(yardOf(cohort('a', 'b'), cohort('b', 'a'), queue('q', 'b')));
  expect(JSON.stringify(shape(round))).toContain('"q"');
  expect(JSON.stringify(shape(round)).length).toBeLessThan(200);
});

test('a cohort has its queues and those of the cohorts below it, whatever circle these make', () => {
  const items = [
    cohort('company', 'lab'),
    cohort('lab', 'company'),
    cohort('other'),
    queue('a', 'company'),
    queue('b', 'lab'),
    queue('c', 'other'),
    queue('d'),
  ];
  const overview = new Map(items.map((item) => [item.name, item] as const));
  const names = (of: string | undefined): string[] => inCohort(overview, of).map(({ name }) => name);
  expect(names('lab')).toEqual(['a', 'b']);
  expect(names('other')).toEqual(['c']);
  expect(names('nowhere')).toEqual([]);
  expect(names(undefined)).toEqual(['a', 'b', 'c', 'd']);
});

test('what waits in a LocalQueue is found by its namespace and name, in every state of waiting', () => {
  expect(waitingIn('team/main')).toEqual({ state: 'Waiting,NeverFits,Held', namespace: 'team', queue: 'main' });
});
