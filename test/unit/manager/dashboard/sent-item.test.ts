import { expect, test } from 'vitest';
import { linesOf, receivedItem, sentItem } from '../../../../manager/dashboard/sent-item.ts';
import type { JobLine, OverviewItem } from '../../../../manager/dashboard/views.ts';
import { aLine } from './lines.ts';

const lines: readonly JobLine[] = [aLine({ key: 'team/a' }), aLine({ key: 'team/b', state: 'Running' })];
const items: readonly OverviewItem[] = [
  { kind: 'Cluster', name: 'east', health: 'Good', state: 'Ready', fills: [], jobs: 7, running: lines },
  { kind: 'Queue', name: 'main', health: 'Good', strategy: 'StrictFIFO', waiting: 2, admitted: 0, quota: [], causes: [], first: lines },
  { kind: 'LocalQueue', key: 'team/main', clusterQueue: 'main', waiting: 2, causes: [], first: lines },
  { kind: 'Ended', jobs: lines },
  { kind: 'Cohort', name: 'company', quota: [] },
  { kind: 'Totals', states: { Running: 1 }, namespaces: 1 },
];

test.each(items)('what is sent of a $kind names Jobs, and is the same again with their lines', (item) => {
  const sent = sentItem(item);
  expect(JSON.stringify(sent)).not.toContain('uid-');
  const byKey = new Map(lines.map((line) => [line.key, line]));
  expect(receivedItem(JSON.parse(JSON.stringify(sent)) as typeof sent, (key) => byKey.get(key))).toEqual(item);
  expect(linesOf(receivedItem(sent, () => undefined))).toEqual([]);
});
