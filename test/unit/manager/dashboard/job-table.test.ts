import { beforeEach, expect, test } from 'vitest';
import { createFairScheduler } from '../../../../manager/dashboard/fair-scheduler.ts';
import { createJobTable, type JobTable } from '../../../../manager/dashboard/job-table.ts';
import { parseJobQuery, type JobQuery } from '../../../../manager/dashboard/job-query.ts';
import type { JobLine } from '../../../../manager/dashboard/views.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aLine } from './lines.ts';

let clock: FakeClock;
let lines: readonly JobLine[];
let [version, looks] = [0, 0];
let table: JobTable;
beforeEach(() => {
  [clock, version, looks] = [new FakeClock(), 1, 0];
  lines = [aLine({ key: 'a/new' }), aLine({ key: 'b/old', state: 'Failed' })];
  const index = { ordered: () => (looks++, lines), labelsOf: () => ({}), version: () => version };
  table = createJobTable({ index, clusterQueueOf: () => undefined, turns: createFairScheduler({ clock, waitingMax: 2 }), clock });
});
const query = (text: string): JobQuery => {
  const parsed = parseJobQuery(new URLSearchParams(text));
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed;
};
const keys = async (text: string, namespaces: 'All' | ReadonlySet<string> = 'All') =>
  (await table.page(query(text), namespaces, 'ann'))?.jobs.map(({ key }) => key);

test('what a query finds is looked for once, for all who may see the same and whatever part of it they ask for', async () => {
  expect(await Promise.all([keys('order=name&limit=1'), keys('order=name&offset=1')])).toEqual([['a/new'], ['b/old']]);
  expect(await keys('order=name')).toEqual(['a/new', 'b/old']);
  expect(looks).toBe(1);
  expect(await keys('order=name', new Set(['b']))).toEqual(['b/old']);
  expect(await keys('state=Failed')).toEqual(['b/old']);
  expect(looks).toBe(3);
});

test('while nothing changes nothing is looked for again, and what has changed is seen within a second', async () => {
  await keys('');
  await clock.advance(60_000);
  await keys('');
  expect(looks).toBe(1);
  [lines, version] = [[aLine({ key: 'a/newer' }), ...lines], 2];
  expect(await keys('')).toEqual(['a/newer', 'a/new', 'b/old']);
  [lines, version] = [lines.slice(1), 3];
  expect(await keys('')).toHaveLength(3);
  await clock.advance(1_000);
  expect(await keys('')).toEqual(['a/new', 'b/old']);
  expect(looks).toBe(3);
});

test('whoever asks for very many things at once is refused some; others are not', async () => {
  const many = ['a', 'b', 'c', 'd'].map((text) => table.page(query(`text=${text}`), 'All', 'admin'));
  const other = keys('', new Set(['a']));
  expect((await Promise.all(many)).map((page) => page === undefined)).toEqual([false, false, true, true]);
  expect(await other).toEqual(['a/new']);
});

test('what waits for its turn is not asked for again, however long it waits and whatever changes', async () => {
  const turns = createFairScheduler({ clock, waitingMax: 9 });
  const index = { ordered: () => (looks++, lines), labelsOf: () => ({}), version: () => version };
  table = createJobTable({ index, clusterQueueOf: () => undefined, turns, clock });
  const before = turns.take('other', () => new Promise<void>((resolve) => void clock.schedule(resolve, 10_000)));
  const first = keys('order=name');
  await clock.advance(5_000);
  version = 2;
  const second = keys('order=name');
  await clock.advance(25_000);
  await before;
  expect(await Promise.all([first, second])).toEqual([
    ['a/new', 'b/old'],
    ['a/new', 'b/old'],
  ]);
  expect(looks).toBe(1);
});
