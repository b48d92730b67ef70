import { expect, test } from 'vitest';
import { createRunTimeSampler, type Past } from '../../../../../manager/insight/estimate/run-time-sampler.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { createRunTimes } from '../../../../../manager/insight/estimate/run-times.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { holding, NOW_MS } from '../explain/explained-world.ts';
import { aWorkload } from '../../admission/setup.ts';

const MINUTE_MS = 60_000;
/** Is admitted since so long ago. */
function running(name: string, minutesAgo: number): Reservation {
  const workload = holding(name, '1');
  if (workload.record === undefined) throw new Error('it holds nothing');
  const record = { ...workload.record, since: new Date(NOW_MS - minutesAgo * MINUTE_MS).toISOString() };
  return { workload: { ...workload, record }, record, held: parseRequests(record.requests), assumed: false };
}
function past(minutes: readonly number[], longestMs?: number): Past {
  const runTimes = createRunTimes();
  for (const each of minutes) runTimes.observe({ clusterQueue: 'main', family: 'team/x', ranMs: each * MINUTE_MS, endedMs: 0 });
  return { runTimes, factsOf: () => ({ family: 'team/y', longestMs: () => longestMs }) };
}
const stage = (...reservations: readonly Reservation[]) => ({ running: reservations, nowMs: NOW_MS });
const plays = Array.from({ length: 50 }, (_, play) => play);

test('nobody ends before now, and what a Job draws follows from its key and the play', () => {
  const each = running('a', 10);
  const fates = createRunTimeSampler(stage(each), past([5, 20, 30, 40]));
  const ends = plays.map((play) => fates.of(play).endMs(each));
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(NOW_MS);
  expect(new Set(ends).size).toBeGreaterThan(40);
  expect(
    plays.map((play) =>
      createRunTimeSampler(stage(each), past([5, 20, 30, 40]))
        .of(play)
        .endMs(each),
    ),
  ).toEqual(ends);
  expect([fates.unknown(), fates.basis(), fates.limits()]).toEqual([undefined, [{ runTimes: 4, clusterQueue: 'main' }], []]);
});

test('its own deadline bounds what it draws, and is enough where nothing has ended yet', () => {
  const each = running('a', 10);
  for (const of of [past([500], 20 * MINUTE_MS), past([], 20 * MINUTE_MS)]) {
    const fates = createRunTimeSampler(stage(each), of);
    for (const play of plays) expect(fates.of(play).endMs(each)).toBeLessThanOrEqual(NOW_MS + 10 * MINUTE_MS);
    expect(fates.unknown()).toBeUndefined();
  }
});

test('of whom nothing at all is known, that is said', () => {
  const each = running('a', 10);
  const fates = createRunTimeSampler(stage(each), past([]));
  fates.of(0).endMs(each);
  expect(fates.unknown()).toContain('no Job of cluster queue main has ended yet');
});

test('Jobs that outran all before them are counted, and queues for which others tell are named', () => {
  const fates = createRunTimeSampler(stage(running('old', 100), running('young', 1)), past([5, 6]));
  expect(fates.limits()).toEqual(['1 of 2 Jobs run longer already than any that ended before']);
  const { record } = running('a', 0);
  fates.of(0).holdMs(aWorkload('new'), { ...record, clusterQueue: 'fresh' });
  expect(fates.limits()).toContain('no Job of cluster queue fresh has ended yet: the estimate uses other queues');
  fates.of(0).holdMs(aWorkload('newer'), { ...record, clusterQueue: 'clean' });
  expect(fates.limits()).toContain('no Job of cluster queues clean, fresh has ended yet: the estimate uses other queues');
});

test('who gives its place up stops within the time that its pods may take', () => {
  const { workload } = running('a', 0);
  for (const play of plays) {
    const ms = createRunTimeSampler(stage(), past([1]))
      .of(play)
      .stopMs(workload);
    expect(ms >= 0 && ms <= 30_000).toBe(true);
  }
});
