/**
 * Situations of Kueue's integration tests: queues that share, over several cycles, in which those that are preempted stop one after the
 * other.
 */
import { describe, expect, test } from 'vitest';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { aPreemptingWorld, type PreemptingWorld } from '../preemption/preempting-world.ts';
import { aCohort, aQueue, type QueueOf } from '../preemption/preemption-world.ts';
import { aCluster, aFlavor } from '../setup.ts';

const FAIR = { preemptionStrategies: Object.values(FairStrategy) };
const both = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;
const yardOf = (
  queues: Readonly<Record<string, QueueOf>>,
  { fair = false, pool }: { fair?: boolean; pool?: string } = {},
): PreemptingWorld =>
  aPreemptingWorld(
    {
      clusterQueues: Object.entries(queues).map(([name, spec]) => aQueue(name, spec)),
      cohorts: [aCohort('root'), aCohort('low', fair ? 'root' : undefined, pool === undefined ? undefined : { cpu: pool })],
      resourceFlavors: ['default', 'fast', 'slow'].map((name) => aFlavor(name)),
    },
    [aCluster('only')],
    fair ? FAIR : undefined,
  );
const guest = (rest: Partial<QueueOf> = {}): QueueOf => ({ cohort: 'low', quota: { cpu: '0' }, ...rest });
/** Until nobody is left who is to stop. */
const playOut = (yard: PreemptingWorld): void => {
  yard.settle();
  for (let stops = 0; yard.stopping().length > 0; stops++) {
    if (stops > 50) throw new Error(`it goes in circles: ${yard.preemptions.slice(-6).join('; ')}`);
    for (const name of yard.stopping()) yard.stop(name);
    yard.settle();
  }
};
const runningIn = (yard: PreemptingWorld, queue: string): string[] =>
  [...yard.running.values()]
    .filter(({ clusterQueue }) => clusterQueue === queue)
    .map(({ workload }) => workload.name)
    .toSorted();

describe('with fair sharing', () => {
  test('two queues without weight come to share what both borrow, and stay so', () => {
    const weightless = guest({ fairSharing: { weight: 0 }, preemption: { reclaimWithinCohort: 'Any' } });
    const yard = yardOf({ a: weightless, b: weightless }, { fair: true, pool: '6' });
    yard.arrive('a', 'a-high', '3', 10);
    yard.arrive('a', 'a-low', '3', 1);
    yard.settle();
    yard.arrive('b', 'b1', '3', 1);
    playOut(yard);
    expect(yard.preemptions).toEqual(['a-low for b1 (InCohortFairSharing)']);
    expect([runningIn(yard, 'a'), runningIn(yard, 'b')]).toEqual([['a-high'], ['b1']]);
  });

  describe.each([
    ['nobody', []],
    ['one', ['9']],
    ['two', ['10', '9']],
  ])('behind %s whose share would be too great', (_, before) => {
    test.each([
      ['6', 2],
      ['7', 2],
    ])('a Job of %s cpu preempts as many as it needs', (cpu, stopped) => {
      // Of 13 three each are used by four Jobs.
      const yard = yardOf({ a: guest({ preemption: both }), b: guest({ preemption: both }) }, { fair: true, pool: '13' });
      for (const name of ['a1', 'a2', 'a3', 'a4']) yard.arrive('a', name, '3');
      yard.settle();
      for (const [index, large] of before.entries()) yard.arrive('b', `large${index}`, large, 5);
      playOut(yard);
      expect(yard.preemptions).toEqual([]);
      yard.arrive('b', 'small', cpu);
      playOut(yard);
      expect(runningIn(yard, 'b')).toEqual(['small']);
      expect(runningIn(yard, 'a')).toHaveLength(4 - stopped);
    });
  });

  test('behind one that never fits, a Job takes back what is its cohort’s own', () => {
    const yard = yardOf(
      { near: guest({ preemption: both }), far: { cohort: 'root', quota: { cpu: '0' }, preemption: both } },
      { fair: true, pool: '4' },
    );
    for (const name of ['f1', 'f2', 'f3']) yard.arrive('far', name, '1');
    yard.settle();
    yard.arrive('near', 'never', '5', 10);
    playOut(yard);
    yard.arrive('near', 'fits', '4');
    playOut(yard);
    expect([runningIn(yard, 'near'), runningIn(yard, 'far')]).toEqual([['fits'], []]);
  });

  test('when the one that preempts is deleted, the next of its queue takes its turn, and nobody else stops', () => {
    const yard = yardOf({ near: guest({ preemption: both }), far: { cohort: 'root', quota: { cpu: '0' } } }, { fair: true, pool: '4' });
    for (const name of ['f1', 'f2']) yard.arrive('far', name, '2');
    yard.settle();
    yard.arrive('near', 'first', '4', 5);
    yard.settle();
    yard.arrive('near', 'second', '4');
    yard.settle();
    yard.end('first');
    playOut(yard);
    expect(runningIn(yard, 'near')).toEqual(['second']);
    expect(yard.preemptions).toHaveLength(2);
  });

  test('who takes back its own has no more stop than it needs, the lower priority first', () => {
    const yard = yardOf(
      { owner: { cohort: 'low', quota: { cpu: '6' }, preemption: { reclaimWithinCohort: 'Any' } }, x: guest(), y: guest() },
      { fair: true },
    );
    yard.arrive('x', 'x1', '3', 2);
    yard.arrive('y', 'y1', '3', 1);
    yard.settle();
    yard.arrive('owner', 'own', '3');
    playOut(yard);
    expect(yard.preemptions).toEqual(['y1 for own (InCohortReclamation)']);
    expect(runningIn(yard, 'owner')).toEqual(['own']);
  });

  test('two that could take the same victim share what it leaves, and the other flavor is left alone', () => {
    const of = (fast: string): QueueOf => ({ cohort: 'low', groups: [{ fast: { cpu: fast }, slow: { cpu: '6' } }], preemption: both });
    const yard = yardOf(
      { hero: of('4'), tiny: of('2'), rest: { cohort: 'low', groups: [{ fast: { cpu: '0' }, slow: { cpu: '0' } }] } },
      { fair: true },
    );
    yard.arrive('rest', 'in-fast', '6');
    yard.settle();
    yard.arrive('rest', 'in-slow', '12');
    yard.settle();
    yard.arrive('hero', 'large', '4', 5);
    yard.arrive('tiny', 'small', '2', 4);
    playOut(yard);
    expect(yard.preemptions).toEqual([expect.stringMatching(/^in-fast for /)]);
    expect(['large', 'small', 'in-slow'].map((name) => yard.running.get(name)?.record.flavors['cpu'])).toEqual(['fast', 'fast', 'slow']);
  });
});

describe('a strict queue with quota of its own, and one that has none', () => {
  const foundation = (reclaimWithinCohort: 'Any' | 'LowerPriority'): QueueOf => ({
    cohort: 'low',
    quota: { cpu: '3' },
    queueingStrategy: 'StrictFIFO',
    preemption: { reclaimWithinCohort },
  });
  test('where it can get all of it back, the other uses it until then', () => {
    const yard = yardOf({ foundation: foundation('Any'), spare: guest() });
    yard.arrive('foundation', 'first', '2', 5);
    yard.settle();
    yard.arrive('foundation', 'second', '3', 5);
    yard.arrive('spare', 's1', '1');
    yard.arrive('spare', 's2', '1');
    expect(yard.settle()).toEqual(['s1']);
    yard.end('first');
    playOut(yard);
    expect(yard.preemptions).toEqual(['s1 for second (InCohortReclamation)']);
    expect([...yard.running.keys()]).toEqual(['second']);
  });

  test('where it cannot be sure to, it keeps it', () => {
    const yard = yardOf({ foundation: foundation('LowerPriority'), spare: guest() });
    yard.arrive('foundation', 'first', '2', 5);
    yard.settle();
    yard.arrive('foundation', 'second', '3', 5);
    yard.arrive('spare', 's1', '1');
    expect(yard.settle()).toEqual([]);
    yard.end('first');
    expect(yard.settle()).toEqual(['second']);
    expect(yard.preemptions).toEqual([]);
  });

  test('does not stop others from borrowing from a third, but keeps the rest of its own', () => {
    const yard = yardOf({
      strict: { cohort: 'low', quota: { cpu: '5' }, queueingStrategy: 'StrictFIFO' },
      team: { cohort: 'low', quota: { cpu: '4' } },
      bank: { cohort: 'low', quota: { cpu: '4' } },
    });
    yard.arrive('strict', 'old', '3', 5);
    yard.arrive('team', 'own', '4');
    yard.settle();
    // It would fit by borrowing until the bank is used by one that goes before it.
    yard.arrive('team', 'borrower', '4', 10);
    expect(yard.settle()).toEqual(['borrower']);
    yard.arrive('strict', 'large', '3', 10);
    yard.arrive('team', 'small', '1', 4);
    expect(yard.settle()).toEqual([]);
  });
});

test('one that loses a borrowed flavor has a lower one of its own queue stop in the other', () => {
  const preemption = { ...both, borrowWithinCohort: { policy: 'LowerPriority' } } as const;
  const flavorFungibility = { whenCanBorrow: 'TryNextFlavor', whenCanPreempt: 'TryNextFlavor' } as const;
  const yard = yardOf({
    a: { cohort: 'low', groups: [{ fast: { cpu: '0' }, slow: { cpu: '2' } }], preemption, flavorFungibility },
    b: { cohort: 'low', groups: [{ fast: { cpu: '2' }, slow: { cpu: '0' } }], preemption, flavorFungibility },
  });
  yard.arrive('a', 'low', '2');
  yard.settle();
  yard.arrive('a', 'high', '2', 10);
  yard.settle();
  expect(['low', 'high'].map((name) => yard.running.get(name)?.record.flavors['cpu'])).toEqual(['slow', 'fast']);
  yard.arrive('b', 'middle', '2', 5);
  playOut(yard);
  expect(yard.preemptions).toEqual(['high for middle (InCohortReclamation)', 'low for high (InClusterQueue)']);
  expect(['high', 'middle'].map((name) => yard.running.get(name)?.record.flavors['cpu'])).toEqual(['slow', 'fast']);
});
