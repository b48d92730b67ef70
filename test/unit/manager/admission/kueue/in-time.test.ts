/** Situations that take several cycles: what becomes of those that wait when others come, end or have stopped. */
import { describe, expect, test } from 'vitest';
import { aPreemptingWorld } from '../preemption/preempting-world.ts';
import { aCohort, aQueue, type QueueOf } from '../preemption/preemption-world.ts';
import { aCluster, aFlavor } from '../setup.ts';

const yardOf = (queues: Readonly<Record<string, QueueOf>>) =>
  aPreemptingWorld(
    {
      clusterQueues: Object.entries(queues).map(([name, spec]) => aQueue(name, spec)),
      cohorts: [aCohort('x')],
      resourceFlavors: ['default', 'fast', 'slow'].map((name) => aFlavor(name)),
    },
    [aCluster('only')],
  );
const flavorOf = (yard: ReturnType<typeof yardOf>, name: string) => yard.running.get(name)?.record.flavors['cpu'];
const within = { withinClusterQueue: 'LowerPriority' } as const;
const both = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;

describe('a queue that is strict', () => {
  test('does not let a smaller Job pass the first, one that is not does', () => {
    for (const [queueingStrategy, passes] of [
      ['StrictFIFO', false],
      ['BestEffortFIFO', true],
    ] as const) {
      const yard = yardOf({ a: { quota: { cpu: '4' }, queueingStrategy } });
      yard.arrive('a', 'old', '2');
      yard.settle();
      yard.arrive('a', 'large', '4');
      yard.arrive('a', 'small', '2');
      expect(yard.settle()).toEqual(passes ? ['small'] : []);
    }
  });

  test('lets a Job of higher priority go before those that wait', () => {
    const yard = yardOf({ a: { quota: { cpu: '4' }, queueingStrategy: 'StrictFIFO' } });
    yard.arrive('a', 'old', '2');
    yard.settle();
    yard.arrive('a', 'large', '4');
    yard.arrive('a', 'urgent', '2', 5);
    expect(yard.settle()).toEqual(['urgent']);
  });

  test('gets its own back before the others of the cohort get more', () => {
    const yard = yardOf({
      strict: { cohort: 'x', quota: { cpu: '4' }, queueingStrategy: 'StrictFIFO' },
      guest: { cohort: 'x', quota: { cpu: '0' } },
    });
    for (const name of ['g1', 'g2', 'g3', 'g4']) yard.arrive('guest', name, '1');
    yard.settle();
    yard.arrive('strict', 'large', '4');
    for (const name of ['g5', 'g6', 'g7', 'g8']) yard.arrive('guest', name, '1', 5);
    expect(yard.settle()).toEqual([]);
    for (const name of ['g1', 'g2', 'g3']) {
      yard.end(name);
      expect(yard.settle()).toEqual([]);
    }
    yard.end('g4');
    expect(yard.settle()).toEqual(['large']);
  });
});

describe('a flavor', () => {
  const queues: Readonly<Record<string, QueueOf>> = {
    a: { groups: [{ fast: { cpu: '5' }, slow: { cpu: '1' } }], preemption: within, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } },
  };
  test('that is too small for ever is not waited for, the first is, and had once it is free', () => {
    const yard = yardOf(queues);
    yard.arrive('a', 'old', '5');
    yard.settle();
    yard.arrive('a', 'new', '2');
    expect(yard.settle()).toEqual([]);
    yard.end('old');
    yard.settle();
    expect(flavorOf(yard, 'new')).toBe('fast');
  });

  test('that a preemptor has made room in is the one it gets', () => {
    const yard = yardOf({ a: { ...queues['a'], groups: [{ fast: { cpu: '5' }, slow: { cpu: '5' } }] } as QueueOf });
    yard.arrive('a', 'low', '5', -1);
    yard.settle();
    yard.arrive('a', 'high', '5', 1);
    yard.settle();
    expect(yard.preemptions).toEqual(['low for high (InClusterQueue)']);
    yard.stop('low');
    yard.settle();
    expect([flavorOf(yard, 'high'), flavorOf(yard, 'low')]).toEqual(['fast', 'slow']);
  });

  test('that has become free meanwhile is had at once, and nobody else stops', () => {
    const yard = yardOf({ a: { groups: [{ fast: { cpu: '2' }, slow: { cpu: '2' } }], preemption: within } });
    yard.arrive('a', 'high', '2', 5);
    yard.arrive('a', 'low', '2', -1);
    yard.settle();
    yard.arrive('a', 'mid', '2');
    yard.settle();
    expect(yard.preemptions).toEqual(['low for mid (InClusterQueue)']);
    yard.end('high');
    yard.settle();
    expect(flavorOf(yard, 'mid')).toBe('fast');
    expect(yard.preemptions).toHaveLength(1);
  });
});

describe('a preemptor', () => {
  test('waits until all have stopped, and what one of them leaves is for nobody else', () => {
    const yard = yardOf({ a: { cohort: 'x', quota: { cpu: '4' }, preemption: both }, b: { cohort: 'x', quota: { cpu: '0' } } });
    yard.arrive('b', 'b1', '2');
    yard.arrive('b', 'b2', '2');
    yard.settle();
    yard.arrive('a', 'own', '4');
    yard.settle();
    yard.stop('b1');
    expect(yard.settle()).toEqual([]);
    yard.stop('b2');
    expect(yard.settle()).toEqual(['own']);
    expect(yard.preemptions).toHaveLength(2);
  });

  test('has a victim wait behind it, which runs again where the preemptor ends', () => {
    const yard = yardOf({ a: { quota: { cpu: '4' }, preemption: within } });
    yard.arrive('a', 'low', '4', -1);
    yard.settle();
    yard.arrive('a', 'high', '4', 1);
    yard.settle();
    yard.stop('low');
    expect(yard.settle()).toEqual(['high']);
    yard.end('high');
    expect(yard.settle()).toEqual(['low']);
  });

  test('does nothing twice: two that came for each other leave the first where it is', () => {
    const yard = yardOf({
      a: { cohort: 'x', quota: { cpu: '2' }, preemption: both },
      b: { cohort: 'x', quota: { cpu: '2' }, preemption: both },
    });
    yard.arrive('a', 'a1', '4');
    yard.settle();
    yard.arrive('b', 'b1', '2');
    yard.settle();
    expect(yard.preemptions).toEqual(['a1 for b1 (InCohortReclamation)']);
    yard.stop('a1');
    expect(yard.settle()).toEqual(['b1']);
    expect(yard.stopping()).toEqual([]);
    expect(yard.preemptions).toHaveLength(1);
  });
});
