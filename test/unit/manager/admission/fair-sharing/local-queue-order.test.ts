/**
 * Whose Jobs of a ClusterQueue go first where what LocalQueues have used orders them: after the cases of Kueue's TestCandidatesOrdering.
 */
import { describe, expect, test } from 'vitest';
import { mostUsedFirst, type LocalQueueUsage } from '../../../../../manager/admission/fair-sharing/local-queue-order.ts';
import { compareAdmitted, type Admitted } from '../../../../../manager/admission/workload/admitted-index.ts';
import { findVictims } from '../../../../../manager/admission/preemption/preemption.ts';
import { admittedOf, incoming, told, type Holding } from '../preemption/preemption-world.ts';

const job = (name: string, localQueue: string, parts: Partial<Holding> = {}): Admitted =>
  admittedOf({ name, queue: 'main', requests: { cpu: '1' }, localQueue, ...parts });
const usages =
  (used: Readonly<Record<string, number>>): LocalQueueUsage =>
  (localQueue) =>
    used[localQueue];
const order = (all: readonly Admitted[], usage?: LocalQueueUsage): string[] =>
  mostUsedFirst(all.toSorted(compareAdmitted), usage).map(({ reservation }) => reservation.workload.name);

describe('of two LocalQueues', () => {
  const all = [job('low', 'a', { priority: -1 }), job('high', 'b', { priority: 9 }), job('lower', 'b', { priority: 1 })];

  test('the Jobs of the one that has used more go first, whatever their priorities; in it the lower priority', () => {
    expect(order(all, usages({ 'team/a': 0.5, 'team/b': 1 }))).toEqual(['lower', 'high', 'low']);
    expect(order(all, usages({ 'team/a': 1, 'team/b': 0.5 }))).toEqual(['low', 'lower', 'high']);
  });

  test('that have used the same, or of which nothing is known, the priorities decide', () => {
    expect(order(all, usages({ 'team/a': 1, 'team/b': 1 }))).toEqual(['low', 'lower', 'high']);
    expect(order(all, usages({}))).toEqual(['low', 'lower', 'high']);
    expect(order(all)).toEqual(['low', 'lower', 'high']);
  });

  test('the Jobs of one that is deleted have used nothing: those of the others go first, and among equals the priority decides', () => {
    expect(order(all, usages({ 'team/b': 1 }))).toEqual(['lower', 'high', 'low']);
    expect(order(all, usages({ 'team/a': 1 }))).toEqual(['low', 'lower', 'high']);
    expect(order(all, usages({ 'team/a': 0 }))).toEqual(['low', 'lower', 'high']);
  });

  test('those that leave anyway go first, whatever they have used', () => {
    const leaving = job('leaving', 'a', { priority: 9, leaving: true });
    expect(order([...all, leaving], usages({ 'team/a': 0, 'team/b': 1 }))).toEqual(['leaving', 'lower', 'high', 'low']);
  });
});

describe('whom a Job displaces', () => {
  const holdings: readonly Holding[] = [
    { name: 'light-low', queue: 'main', requests: { cpu: '1' }, priority: 0, localQueue: 'light' },
    { name: 'heavy-mid', queue: 'main', requests: { cpu: '1' }, priority: 2, localQueue: 'heavy' },
    { name: 'heavy-top', queue: 'main', requests: { cpu: '1' }, priority: 9, localQueue: 'heavy' },
  ];
  const setting = {
    queues: { main: { quota: { cpu: '3' }, preemption: { withinClusterQueue: 'LowerPriority' as const } } },
    admitted: holdings,
  };
  const found = (usage: LocalQueueUsage | undefined, fair: boolean): readonly string[] => {
    const { preemptor, charges, world } = incoming(setting, { queue: 'main', priority: 5, requests: { cpu: '1' } });
    const fairSharing = fair ? { preemptionStrategies: ['LessThanOrEqualToFinalShare' as const] } : undefined;
    return told(findVictims({ preemptor, charges, cluster: undefined }, { ...world, fairSharing, localQueueUsage: usage }));
  };
  test.each([false, true])(
    'in its own queue is one of the LocalQueue that has used most, never one of a higher priority (fair sharing: %j)',
    (fair) => {
      expect(found(undefined, fair)).toEqual(['light-low InClusterQueue']);
      expect(found(usages({ 'team/light': 1, 'team/heavy': 7 }), fair)).toEqual(['heavy-mid InClusterQueue']);
      expect(found(usages({ 'team/light': 7, 'team/heavy': 1 }), fair)).toEqual(['light-low InClusterQueue']);
    },
  );
});
