/**
 * Goal: the queries of docs/slo.md by which the goals for the Job controller are read give what the series say. Played by promtool, where
 * there is one.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { playReadings, promtoolProblem, type Reading } from '../support/promtool.ts';

const DOCUMENT = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'slo.md'), 'utf8');
/** The queries under a heading, in their order. */
const queriesUnder = (heading: string): string[] => {
  const section = DOCUMENT.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return /```promql\n(.*?)```/s.exec(section)?.[1]?.trim().split('\n') ?? [];
};

const [ratio = ''] = queriesUnder('Sync of Jobs');
const [p99 = '', created = '', ended = '', atOnce = ''] = queriesUnder("The goals of upstream's KEPs");
const problem = promtoolProblem();

const SYNC = 'job_controller_job_sync_duration_seconds';
/** Of a hundred syncs a minute so many take 8.192 s at most, and the others up to 16.384 s, in two workers. */
const syncs = (fast: number): Record<string, string> =>
  Object.fromEntries(
    ['east', 'west'].flatMap((job) => [
      [`${SYNC}_bucket{job="${job}", le="4.096"}`, `0+${fast}x60`],
      [`${SYNC}_bucket{job="${job}", le="8.192"}`, `0+${fast}x60`],
      [`${SYNC}_bucket{job="${job}", le="16.384"}`, '0+100x60'],
      [`${SYNC}_bucket{job="${job}", le="+Inf"}`, '0+100x60'],
      [`${SYNC}_count{job="${job}"}`, '0+100x60'],
    ]),
  );
const pods = {
  'job_controller_job_pods_creation_total{reason="new", status="succeeded"}': '0+2500x60',
  'job_controller_job_pods_creation_total{reason="new", status="failed"}': '0+10x60',
};
const finished = { 'job_controller_job_pods_finished_total{completion_mode="Indexed", result="succeeded"}': '0+1460x60' };

const READINGS: readonly Reading[] = [
  { name: 'all syncs are in time', series: syncs(100), expr: ratio, at: '60m', value: 1 },
  { name: 'two of a hundred syncs are late, over both workers', series: syncs(98), expr: ratio, at: '60m', value: 0.98 },
  // Interpolated within the bucket: half of its last two syncs.
  { name: 'the 99th percentile of syncs', series: syncs(98), expr: `round(${p99}, 0.001)`, at: '60m', value: 12.288 },
  { name: 'pods created in a minute, without those that failed to be', series: pods, expr: created, at: '60m', value: 2500 },
  { name: 'pods that ended in a minute', series: finished, expr: ended, at: '60m', value: 1460 },
  { name: 'pods that there are at once', series: { ...pods, ...finished }, expr: `round(${atOnce})`, at: '60m', value: 62_400 },
];

test('the page has a query for each goal', () => {
  expect(queriesUnder('Sync of Jobs')).toHaveLength(1);
  expect(queriesUnder("The goals of upstream's KEPs")).toHaveLength(4);
});

describe.skipIf(problem !== undefined)(`queries${problem === undefined ? '' : ` (skipped: ${problem})`}`, () => {
  let wrong: ReadonlyMap<string, string>;
  beforeAll(() => {
    wrong = playReadings(READINGS);
  }, 120_000);
  test.each(READINGS.map(({ name }) => name))('%s', (name) => {
    expect(wrong.get(name) ?? 'as it should be').toBe('as it should be');
  });
});
