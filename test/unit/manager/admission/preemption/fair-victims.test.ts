/** Preemption with fair sharing, played: who goes, for quota and for room, and that it comes to rest. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import { capacityOf } from '../../../../../manager/admission/quota/cluster-state.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { available } from '../../../../../manager/admission/quota/quota-tree.ts';
import { clusterHolder } from '../../../../../manager/admission/quota/usage.ts';
import { aPreemptingWorld, type PreemptingWorld } from './preempting-world.ts';
import { aCohort, aQueue, type QueueOf } from './preemption-world.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aCluster, aWorkload } from '../setup.ts';

const BOTH = Object.values(FairStrategy);
const preemption: QueueOf['preemption'] = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' };
const room = (name: string, cpu: string): ClusterState => aCluster(name, { capacity: { cpu } });
const world = (
  queues: Readonly<Record<string, QueueOf>>,
  {
    pool,
    clusters = [aCluster('only')],
    strategies = BOTH,
  }: { pool?: string; clusters?: readonly ClusterState[]; strategies?: readonly FairStrategy[] } = {},
): PreemptingWorld =>
  aPreemptingWorld(
    {
      clusterQueues: Object.entries(queues).map(([name, spec]) => aQueue(name, spec)),
      cohorts: [aCohort('all', undefined, pool === undefined ? undefined : { cpu: pool })],
    },
    clusters,
    { preemptionStrategies: strategies },
  );
const borrower = (weight?: string | number): QueueOf => ({
  cohort: 'all',
  quota: { cpu: '0' },
  preemption,
  ...(weight === undefined ? {} : { fairSharing: { weight } }),
});
/** So many Jobs of one cpu. */
const fill = (yard: PreemptingWorld, queue: string, count: number, priority = 0): void => {
  for (let index = 0; index < count; index++) yard.arrive(queue, `${queue}${index}`, '1', priority);
  yard.settle();
};
const countOf = (yard: PreemptingWorld, queue: string): number =>
  [...yard.running.values()].filter(({ clusterQueue }) => clusterQueue === queue).length;
/** Whoever was suspended stops, and what follows happens, until nothing more follows. */
function playOut(yard: PreemptingWorld): void {
  for (let steps = 0; yard.stopping().length > 0; steps++) {
    if (steps > 200) throw new Error(`it goes in circles: ${yard.preemptions.slice(-6).join('; ')}`);
    yard.stop(yard.stopping()[0] ?? '');
    yard.settle();
  }
}

describe('whose victims were told to stop', () => {
  const all = { cohort: 'all', quota: { cpu: '0', memory: '0' } };
  const waitingForB = (): PreemptingWorld => {
    const yard = aPreemptingWorld(
      {
        clusterQueues: [aQueue('a', { ...all, preemption }), aQueue('b', all), aQueue('c', all)],
        cohorts: [aCohort('all', undefined, { cpu: '7', memory: '10' })],
      },
      [aCluster('only')],
      { preemptionStrategies: BOTH },
    );
    fill(yard, 'b', 4);
    fill(yard, 'c', 3);
    yard.arrive('a', 'one', '1');
    yard.settle();
    expect(yard.preemptions).toEqual(['b3 for one (InCohortFairSharing)']);
    return yard;
  };

  test('keeps to them while it fits once they have, though by now another queue has the greater share', () => {
    const yard = waitingForB();
    yard.arrive('c', 'c-memory', '0', 0, { requests: parseRequests({ memory: '8', pods: '1' }) });
    expect(yard.settle()).toEqual(['c-memory']);
    yard.arrive('c', 'next', '1');
    yard.settle();
    expect(yard.preemptions).toHaveLength(1);
    yard.stop('b3');
    expect(yard.settle()).toEqual(['one']);
    expect(yard.preemptions).toHaveLength(1);
  });

  test('looks for others where one of them is gone and its place is taken', () => {
    const yard = waitingForB();
    yard.cache.forget('team/b3');
    yard.running.delete('b3');
    const late = aWorkload('late', { cpu: '1' });
    const record = { ...(yard.running.get('b1')?.record ?? expect.fail()), since: new Date(0).toISOString() };
    yard.cache.admit({ ...late, phase: 'Admitted', record }, record);
    yard.arrive('c', 'next', '1');
    yard.settle();
    expect(yard.preemptions).toEqual(['b3 for one (InCohortFairSharing)', 'b2 for one (InCohortFairSharing)']);
  });
});

describe('who borrows less than its share', () => {
  test('takes from who borrows more, until both have as much, and then nobody takes anything', () => {
    const yard = world({ a: borrower(), b: borrower() }, { pool: '8' });
    fill(yard, 'a', 8);
    fill(yard, 'b', 8);
    expect(yard.preemptions).toHaveLength(1);
    playOut(yard);
    expect([countOf(yard, 'a'), countOf(yard, 'b')]).toEqual([4, 4]);
    expect(yard.preemptions.every((each) => each.endsWith('(InCohortFairSharing)'))).toBe(true);
    expect(yard.preemptions).toHaveLength(4);
  });

  test('may take as much as its weight says', () => {
    const yard = world({ a: borrower(), b: borrower(3) }, { pool: '8' });
    fill(yard, 'a', 8);
    fill(yard, 'b', 8);
    playOut(yard);
    expect([countOf(yard, 'a'), countOf(yard, 'b')]).toEqual([2, 6]);
  });

  test('takes nothing where the other has no more priority to give, if its policy asks for that', () => {
    const yard = world({ a: borrower(), b: { ...borrower(), preemption: { reclaimWithinCohort: 'LowerPriority' } } }, { pool: '4' });
    fill(yard, 'a', 4, 1);
    fill(yard, 'b', 1, 1);
    expect(yard.preemptions).toEqual([]);
    yard.arrive('b', 'urgent', '1', 2);
    yard.settle();
    expect(yard.preemptions).toHaveLength(1);
  });

  test('takes back its own from whoever borrows it, by that rule', () => {
    const yard = world({ a: { ...borrower(), quota: { cpu: '4' } }, b: borrower() });
    fill(yard, 'b', 4);
    yard.arrive('a', 'own', '4');
    yard.settle();
    expect(yard.preemptions).toHaveLength(4);
    expect(yard.preemptions.every((each) => each.endsWith('(InCohortReclamation)'))).toBe(true);
    playOut(yard);
    expect(yard.running.has('own')).toBe(true);
  });

  test('has those of its own queue go that are of lower priority', () => {
    const yard = world({ a: { quota: { cpu: '2' }, preemption } });
    fill(yard, 'a', 2);
    yard.arrive('a', 'high', '1', 5);
    yard.settle();
    expect(yard.preemptions).toEqual(['a1 for high (InClusterQueue)']);
  });
});

describe('room on clusters', () => {
  test('is made by those who run there, and borrow more', () => {
    const yard = world({ a: borrower(), b: borrower() }, { pool: '100', clusters: [room('east', '2'), room('west', '2')] });
    fill(yard, 'a', 4);
    yard.arrive('b', 'wide', '2');
    yard.settle();
    expect(yard.preemptions).toHaveLength(2);
    const clusters = yard.stopping().map((name) => yard.running.get(name)?.record.cluster);
    expect(new Set(clusters).size).toBe(1);
    playOut(yard);
    expect(yard.running.get('wide')?.record.cluster).toBe(clusters[0]);
  });

  test('is not made by those who borrow as much or less', () => {
    const yard = world({ a: borrower(), b: borrower() }, { pool: '100', clusters: [room('east', '4')] });
    fill(yard, 'a', 2);
    fill(yard, 'b', 2);
    yard.arrive('b', 'more', '1');
    yard.settle();
    expect(yard.preemptions).toEqual([]);
  });
});

describe('whatever comes', () => {
  const names = ['a', 'b', 'c'] as const;
  const weight = fc.constantFrom(0, '500m', 1, 2);
  const policy = fc.record({
    withinClusterQueue: fc.constantFrom<'Never' | 'LowerPriority'>('Never', 'LowerPriority'),
    reclaimWithinCohort: fc.constantFrom<'Never' | 'LowerPriority' | 'Any'>('Never', 'LowerPriority', 'Any'),
  });
  const stories = fc.record({
    queues: fc.tuple(...names.map(() => fc.record({ cpu: fc.integer({ min: 0, max: 3 }), weight, policy }))),
    pool: fc.integer({ min: 0, max: 6 }),
    clusters: fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })),
    strategies: fc.constantFrom<readonly FairStrategy[]>(
      BOTH,
      [FairStrategy.LessThanInitialShare],
      [FairStrategy.LessThanOrEqualToFinalShare],
    ),
    jobs: fc.array(
      fc.record({
        queue: fc.constantFrom(...names),
        cpu: fc.integer({ min: 1, max: 4 }),
        priority: fc.integer({ min: 0, max: 2 }),
        end: fc.boolean(),
        restart: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  });

  test('quota and room are never exceeded, nobody of its own queue goes for an equal, and it comes to rest', () => {
    fc.assert(
      fc.property(stories, ({ queues, pool, clusters, strategies, jobs }) => {
        const yard = world(
          Object.fromEntries(
            names.map((name, index) => {
              const { cpu, weight: own, policy: allowed } = queues[index] ?? expect.fail();
              return [name, { cohort: 'all', quota: { cpu: String(cpu) }, preemption: allowed, fairSharing: { weight: own } }];
            }),
          ),
          { pool: String(pool), strategies, clusters: clusters.map((cpu, index) => room(['east', 'west'][index] ?? '', String(cpu))) },
        );
        for (const [index, { queue, cpu, priority, end, restart }] of jobs.entries()) {
          yard.arrive(queue, `j${index}-${priority}`, String(cpu), priority);
          yard.settle();
          holds(yard);
          if (restart) yard.restart();
          const [first] = end ? yard.running.keys() : [];
          if (first !== undefined && !yard.stopping().includes(first)) yard.end(first);
          yard.settle();
          holds(yard);
        }
        playOut(yard);
        holds(yard);
        for (const each of yard.preemptions) {
          const [, victim = 0, preemptor = 0, rule] = /-(\d+) for j\d+-(\d+) \((\w+)\)/.exec(each) ?? [];
          if (rule === 'InClusterQueue') expect(Number(victim)).toBeLessThan(Number(preemptor));
        }
      }),
      { numRuns: 500 },
    );
  });

  function holds({ cache }: PreemptingWorld): void {
    for (const node of cache.queueing().tree.clusterQueues.values())
      expect(available(node, cache.usage(), 'default/cpu')).toBeGreaterThanOrEqual(0);
    for (const cluster of cache.clusters())
      expect(cache.usage().get(clusterHolder(cluster.name), 'cpu')).toBeLessThanOrEqual(capacityOf(cluster, 'cpu'));
  }
});
