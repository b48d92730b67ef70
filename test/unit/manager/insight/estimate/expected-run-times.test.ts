import { expect, test } from 'vitest';
import { createExpectedRunTimes, withExpectedTimes } from '../../../../../manager/insight/estimate/expected-run-times.ts';
import { createRunTimes } from '../../../../../manager/insight/estimate/run-times.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';
import { aWorld, holding } from '../explain/explained-world.ts';

const known = (...runs: readonly number[]) => {
  const expected = createExpectedRunTimes(createRunTimes());
  for (const [endedMs, ranMs] of runs.entries()) expected.observe({ clusterQueue: 'main', family: 'team/train', ranMs, endedMs });
  return expected;
};

test('without history the limit is expected; with it the middle of what was seen, and the limit at most', () => {
  expect([known().of('main', 'team/train', undefined), known().of('main', 'team/train', 50)]).toEqual([undefined, 50]);
  const seen = known(10, 90, 20, 30, 80);
  expect([seen.of('main', 'team/train', undefined), seen.of('main', 'team/train', 25)]).toEqual([30, 25]);
});

test('a family whose Job outlived the time by which it went in front is charged for it, until one ends in time again', () => {
  const expected = known(...Array.from({ length: 9 }, () => 10));
  expected.outlived('main', 'team/train');
  expected.outlived('main', 'team/train');
  expect(expected.of('main', 'team/train', undefined)).toBe(40);
  expect(expected.of('main', 'team/other', undefined)).toBe(10);
  expected.observe({ clusterQueue: 'main', family: 'team/train', ranMs: 99, endedMs: 20 });
  expect(expected.of('main', 'team/train', undefined)).toBe(40);
  for (let index = 0; index < 2; index++) expected.observe({ clusterQueue: 'main', family: 'team/train', ranMs: 10, endedMs: 30 + index });
  expect(expected.of('main', 'team/train', undefined)).toBe(10);
});

test('in a world with a ClusterQueue that backfills, Jobs that run or wait are expected to run as those before; in another, nothing is expected', () => {
  const runTimes = createRunTimes();
  for (let endedMs = 0; endedMs < 9; endedMs++) runTimes.observe({ clusterQueue: 'main', family: 'team/train', ranMs: 10, endedMs });
  const facts = { family: 'team/train', longestMs: () => 7 };
  const past = { runTimes, factsOf: (key: string) => (key === 'team/unknown' ? undefined : (facts as never)) };
  const workloads = [holding('runs', '1'), aWorkload('waits'), aWorkload('unknown'), aWorkload('lost', {}, { queue: undefined })];
  const expectedIn = (queueingStrategy: 'Backfill' | 'StrictFIFO') => {
    const world = aWorld([aClusterQueue('main', { default: '4' }, { queueingStrategy })], [aCluster('eu')], workloads);
    return withExpectedTimes(world, past).workloads.map(({ name, expectedMs }) => [name, expectedMs]);
  };
  expect(expectedIn('Backfill')).toEqual([
    ['runs', 7],
    ['waits', 7],
    ['unknown', undefined],
    ['lost', undefined],
  ]);
  expect(new Set(expectedIn('StrictFIFO').map(([, expectedMs]) => expectedMs))).toEqual(new Set([undefined]));
});
