import { expect, test } from 'vitest';
import {
  afterAdmission,
  expectedStartMs,
  isLater,
  keptOf,
  mayGoInFront,
  reservationAt,
  timeBefore,
  type ExpectedStart,
} from '../../../../../manager/admission/scheduling/expected-start.ts';
import { charge } from '../../../../../manager/admission/flavors/holding.ts';
import { createReleaseProfile } from '../../../../../manager/admission/workload/release-profile.ts';
import { parseAmount, parseRequests } from '../../../../../manager/api/amount.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, queueOf } from '../setup.ts';

const cpu = (amount: number) => parseAmount('cpu', amount);
const start = (parts: Partial<ExpectedStart>): ExpectedStart => ({
  atMs: 100,
  promisedMs: 100,
  sinceMs: 0,
  clusters: ['eu'],
  room: parseRequests({ cpu: '4' }),
  charges: [['default/cpu', cpu(4)]],
  ...parts,
});

/** A cluster of 8 cpu and two queues; each Job runs there from 0 on for so long. */
function running(jobs: readonly (readonly [queue: string, cpu: number, forMs: number])[]) {
  const all = { cohortName: 'all' };
  const cluster = aCluster('eu', { capacity: { cpu: '8' } });
  const snapshot = aSnapshot([aClusterQueue('a', { default: '4' }, all), aClusterQueue('b', { default: '4' }, all)], [cluster]);
  const releases = createReleaseProfile();
  for (const [index, [clusterQueue, amount, expectedMs]] of jobs.entries()) {
    const amounts = parseRequests({ cpu: amount });
    const charges = [['default/cpu', cpu(amount)] as const];
    charge(snapshot.usage, { node: queueOf(snapshot, clusterQueue).node, charges, cluster: 'eu', amounts });
    releases.set({ key: `team/${index}`, clusterQueue, cluster: 'eu', sinceMs: 0, expectedMs, amounts, charges });
  }
  return { cluster, snapshot: { ...snapshot, releases }, queue: queueOf(snapshot, 'a') };
}
const startOf = (jobs: Parameters<typeof running>[0], asked: number, beforeMs?: number) => {
  const { cluster, snapshot, queue } = running(jobs);
  const workload = aWorkload('large', { cpu: `${asked}` });
  return expectedStartMs(workload, queue, [['default/cpu', cpu(asked)]], cluster, snapshot, 10, beforeMs);
};

test('a Workload is expected to start when enough Workloads are expected to have ended for its room and its quota', () => {
  expect(startOf([], 4)).toBe(10);
  expect(
    startOf(
      [
        ['a', 3, 50],
        ['b', 3, 90],
      ],
      4,
    ),
  ).toBe(50);
  expect(
    startOf(
      [
        ['a', 3, 50],
        ['b', 3, 90],
      ],
      8,
    ),
  ).toBe(90);
  // The cohort lends what the other queue does not use.
  expect(startOf([['b', 6, 70]], 4)).toBe(70);
});

test('without enough known ends, or where another cluster is earlier, no start is expected', () => {
  expect(
    startOf(
      [
        ['a', 3, 50],
        ['b', 3, 90],
      ],
      9,
    ),
  ).toBe(Number.POSITIVE_INFINITY);
  expect(
    startOf(
      [
        ['a', 3, 50],
        ['b', 3, 90],
      ],
      8,
      80,
    ),
  ).toBe(Number.POSITIVE_INFINITY);
});

test('what is given back until the start need not be kept now; of quota only by its own queue', () => {
  const { snapshot, queue } = running([
    ['a', 3, 50],
    ['b', 3, 90],
  ]);
  const kept = [['default/cpu', cpu(7)] as const];
  const at = (ms: number) => reservationAt(ms, aWorkload('large', { cpu: '7' }), queue, 'eu', kept, snapshot);
  expect([at(40).room.get('cpu'), at(50).room.get('cpu'), at(90).room.get('cpu')]).toEqual([cpu(7), cpu(4), cpu(1)]);
  expect([at(40).charges, at(90).charges]).toEqual([[['default/cpu', cpu(7)]], [['default/cpu', cpu(4)]]]);
});

test('one that ends before gives back what it takes: the more may be used by others', () => {
  const after = afterAdmission(start({}), { room: parseRequests({ cpu: '5' }), charges: [['default/cpu', cpu(1)]] });
  expect([after.room.get('cpu'), after.charges]).toEqual([cpu(4) - cpu(5), [['default/cpu', cpu(3)]]]);
  expect(keptOf(after.room)).toEqual([['cpu', 0]]);
  expect(afterAdmission(start({}), { room: undefined, charges: [] })).toEqual(start({}));
});

test('who is expected to end before the start goes in front, and nobody whose run time is not known', () => {
  const may = (expectedMs: number | undefined, nowMs = 40, parts: Partial<ExpectedStart> = {}) =>
    mayGoInFront(expectedMs === undefined ? {} : { expectedMs }, start(parts), nowMs);
  expect([may(60), may(61), may(undefined)]).toEqual([true, false, false]);
  expect(may(1, 40, { atMs: Number.POSITIVE_INFINITY })).toBe(false);
});

test('nobody goes in front any more once the wait is twice as long as promised, however late the start is expected', () => {
  const late = start({ atMs: 1_000, promisedMs: 100, sinceMs: 20 });
  expect([timeBefore(late, 180), timeBefore(late, 181)]).toEqual([820, -1]);
});

test('a start is later than another only where both are known', () => {
  expect([isLater(start({ atMs: 2 }), start({ atMs: 1 })), isLater(start({}), start({})), isLater(undefined, start({}))]).toEqual([
    true,
    false,
    false,
  ]);
});
