import { beforeEach, expect, test } from 'vitest';
import type { WorkerClusterStatus } from '../../../../../manager/api/worker-cluster.ts';
import { NEVER_PROBED, type ClusterHealth } from '../../../../../manager/dispatch/cluster/cluster-health.ts';
import type { Finding } from '../../../../../manager/dispatch/cluster/cluster-status.ts';
import { createLossCount, type LossCount } from '../../../../../manager/dispatch/cluster/loss-count.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
let clock: FakeClock;
let count: LossCount;
let shown: WorkerClusterStatus;
beforeEach(() => {
  clock = new FakeClock(START);
  count = createLossCount(clock);
  shown = {};
});

const running = (health: Partial<ClusterHealth>): Finding => ({
  kind: 'Running',
  health: { ...NEVER_PROBED, ...health },
  ability: { kind: 'Able' },
  capacity: { allocatable: {} },
  worker: { kind: 'OutOfSight' },
});
const lost = (health: Partial<ClusterHealth> = {}): Finding => running({ contact: 'Lost', failingSinceMs: START, ...health });
const MISCONFIGURED: Finding = { kind: 'Misconfigured', problem: { reason: 'KubeconfigMissing', message: 'gone' } };
/** What is found is written. */
const found = (finding: Finding): readonly (string | number | undefined)[] => {
  shown = count.after('eu-1', shown, finding) ?? {};
  return shown.lostSince === undefined ? [] : [shown.lostSince, shown.lostCounted?.seconds];
};
/** Another process leads, on a host whose clock is ahead by so much. */
const nextLeader = (aheadMs: number): void => {
  clock.stepTimeOfDay(aheadMs);
  count = createLossCount(clock);
};

test('a loss counts from its first failure, whatever the cause, until the cluster is ready', async () => {
  expect(found(running({ contact: 'Ready' }))).toEqual([]);
  expect(found(running({ contact: 'Connecting' }))).toEqual([]);
  await clock.advance(10_000);
  expect(found(lost())).toEqual(['2026-01-01T00:00:00Z', 0]);
  await clock.advance(90_000);
  expect(found(running({ contact: 'Connecting' }))).toEqual(['2026-01-01T00:00:00Z', 60]);
  await clock.advance(30_000);
  expect(found(MISCONFIGURED)).toEqual(['2026-01-01T00:00:00Z', 120]);
  expect(found(running({ contact: 'Ready' }))).toEqual([]);
  expect(found(MISCONFIGURED)).toEqual(['2026-01-01T00:02:10Z', 0]);
});

test('is written down each minute of the first hour', async () => {
  found(lost());
  const written = new Set<unknown>();
  for (let minutes = 0; minutes < 180; minutes++) {
    written.add(found(lost())[1]);
    await clock.advance(MINUTE);
  }
  expect(written.size).toBe(61);
  expect(Math.max(...[...written].map(Number))).toBe(60 * 60);
});

test.each([20 * MINUTE, -20 * MINUTE])(
  'the next leader goes on from what was written down, though its clock is %i ms ahead',
  async (aheadMs) => {
    found(lost());
    await clock.advance(150_000);
    expect(found(lost())).toEqual(['2026-01-01T00:00:00Z', 120]);
    nextLeader(aheadMs);
    // While nobody leads nothing is counted.
    await clock.advance(10 * MINUTE);
    expect(found(running({ contact: 'Connecting' }))).toEqual(['2026-01-01T00:00:00Z', 120]);
    await clock.advance(MINUTE);
    expect(found(lost())).toEqual(['2026-01-01T00:00:00Z', 180]);
  },
);

test.each([20 * MINUTE, -20 * MINUTE])(
  'a renewal that the worker may have seen has it count anew, though the clock is %i ms ahead',
  async (aheadMs) => {
    found(lost());
    await clock.advance(5 * MINUTE);
    expect(found(lost())[1]).toBe(300);
    nextLeader(aheadMs);
    await clock.advance(MINUTE);
    const renewalSentMs = clock.monotonic();
    const [since, seconds] = found(running({ contact: 'Connecting', renewalSentMs }));
    expect([since === '2026-01-01T00:00:00Z', seconds]).toEqual([false, 0]);
    await clock.advance(2 * MINUTE);
    expect(found(lost({ renewalSentMs }))).toEqual([since, 120]);
  },
);

test('what was counted of an earlier loss is nothing to this one', () => {
  shown = { lostSince: '2026-01-01T00:00:00Z', lostCounted: { since: '2025-12-01T00:00:00Z', seconds: 900 } };
  expect(found(lost())).toEqual(['2026-01-01T00:00:00Z', 0]);
});

test('a WorkerCluster that is made anew is another one', async () => {
  found(lost());
  await clock.advance(5 * MINUTE);
  count.forget('eu-1');
  shown = {};
  expect(found(lost({ failingSinceMs: clock.now() }))).toEqual(['2026-01-01T00:05:00Z', 0]);
});
