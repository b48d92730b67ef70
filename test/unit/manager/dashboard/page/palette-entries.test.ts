import { expect, test } from 'vitest';
import type { OverviewItem } from '../../../../../manager/dashboard/views.ts';
import { entriesFor, entryOf, PAGES } from '../../../../../manager/dashboard/page/palette-entries.ts';

const queue = (name: string): OverviewItem => ({
  kind: 'Queue',
  name,
  health: 'Good',
  strategy: 'BestEffortFIFO',
  waiting: 0,
  admitted: 0,
  quota: [],
  causes: [],
  first: [],
});
const cluster = (name: string): OverviewItem => ({
  kind: 'Cluster',
  name,
  health: 'Good',
  state: 'Ready',
  fills: [],
  jobs: 0,
  running: [],
});
const overview = new Map(
  [queue('vision-gpu'), queue('gpu'), queue('biggpu'), cluster('gpu-east'), cluster('west')].map((item, at) => [String(at), item] as const),
);
const names = (text: string): string[] => entriesFor(overview, text).map(({ kind, name }) => `${kind} ${name}`);

test('without a text all pages come first', () => {
  expect(entriesFor(overview, ' ').slice(0, PAGES.length)).toEqual(PAGES);
});

test('what begins with the text comes first, then what has a word that does, then the rest', () => {
  expect(names('GPU')).toEqual(['queue gpu', 'cluster gpu-east', 'queue vision-gpu', 'queue biggpu']);
  expect(names('usa')).toEqual(['page Usage']);
  expect(names('nothing')).toEqual([]);
});

test('a Job leads to its page under its kind', () => {
  expect(entryOf({ key: 'team/train' })).toEqual({ kind: 'Job', name: 'team/train', href: '#/jobs/team/train' });
  expect(entryOf({ key: 'team/crews.example.com/argo', kind: 'Crew' }).href).toBe('#/jobs/team/crews.example.com/argo');
});
