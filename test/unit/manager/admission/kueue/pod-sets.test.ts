/** Objects with several pod sets: each has flavors of its own, all of them or none, and one may have fewer pods. */
import { describe, expect, test } from 'vitest';
import { type Cycle, decided, type PodSetOf, type Waiting } from './cycle.ts';
import type { Holding } from '../preemption/preemption-world.ts';

type Row = readonly [situation: string, cycle: Cycle, decided: readonly string[]];

const within = { preemption: { withinClusterQueue: 'LowerPriority' } } as const;
const reclaims = { preemption: { reclaimWithinCohort: 'Any' } } as const;
const has = (name: string, queue: string, cpu: string, priority = 0, flavor = 'default'): Holding => ({
  name,
  queue,
  requests: { cpu },
  priority,
  flavor,
});
const set = (pods: number, cpu: string, parts: Partial<PodSetOf> = {}): PodSetOf => ({ requests: { cpu }, pods, ...parts });
const wants = (podSets: Readonly<Record<string, PodSetOf>>, parts: Partial<Waiting> = {}): Waiting => ({
  name: 'big',
  queue: 'a',
  podSets,
  ...parts,
});
const twoFlavors = (fast: string, slow: string) => ({ groups: [{ fast: { cpu: fast }, slow: { cpu: slow } }] });

const TOGETHER: readonly Row[] = [
  [
    'a pod set takes the first flavor that what the others took leaves enough of',
    { queues: { a: twoFlavors('5', '9') }, waiting: [wants({ head: set(1, '3'), workers: set(3, '1') })] },
    ['big runs: head 1 on fast, workers 3 on slow'],
  ],
  [
    'both share a flavor while it is enough for both',
    { queues: { a: twoFlavors('6', '9') }, waiting: [wants({ head: set(1, '3'), workers: set(3, '1') })] },
    ['big runs: head 1 on fast, workers 3 on fast'],
  ],
  [
    'one that fits alone waits with the one that does not',
    { queues: { a: twoFlavors('3', '3') }, waiting: [wants({ head: set(1, '3'), workers: set(4, '1') })] },
    ['big waits'],
  ],
  [
    'nodes are chosen by each pod set for itself',
    {
      queues: { a: twoFlavors('9', '9') },
      flavors: { fast: { nodeLabels: { disk: 'ssd' } }, slow: { nodeLabels: { disk: 'hdd' } } },
      waiting: [wants({ head: set(1, '1', { spec: { nodeSelector: { disk: 'hdd' } } }), workers: set(2, '1') })],
    },
    ['big runs: head 1 on slow, workers 2 on fast'],
  ],
];

const FEWER: readonly Row[] = [
  [
    'the one that may has as many as the others leave',
    { queues: { a: { quota: { cpu: '10' } } }, waiting: [wants({ head: set(2, '2'), workers: set(9, '1', { minPods: 2 }) })] },
    ['big runs: head 2 on default, workers 6 on default'],
  ],
  [
    'all of them where all fit',
    { queues: { a: { quota: { cpu: '13' } } }, waiting: [wants({ head: set(2, '2'), workers: set(9, '1', { minPods: 2 }) })] },
    ['big runs: head 2 on default, workers 9 on default'],
  ],
  [
    'no fewer than it says, and the others none fewer',
    { queues: { a: { quota: { cpu: '5' } } }, waiting: [wants({ head: set(2, '2'), workers: set(9, '1', { minPods: 2 }) })] },
    ['big waits'],
  ],
  [
    'as many as one flavor holds, whatever the others have taken of another',
    {
      queues: { a: twoFlavors('4', '5') },
      waiting: [wants({ head: set(1, '4'), workers: set(9, '1', { minPods: 1 }) })],
    },
    ['big runs: head 1 on fast, workers 5 on slow'],
  ],
  [
    'as many as can be borrowed',
    {
      queues: { a: { quota: { cpu: '2+2' }, cohort: 'x' }, b: { quota: { cpu: '9' }, cohort: 'x' } },
      waiting: [wants({ head: set(1, '1'), workers: set(9, '1', { minPods: 1 }) })],
    },
    ['big runs: head 1 on default, workers 3 on default'],
  ],
];

const PREEMPTING: readonly Row[] = [
  [
    'others stop for all of its pods rather than that it has fewer',
    {
      queues: { a: { quota: { cpu: '9' }, ...within } },
      running: [has('low', 'a', '4', -1)],
      waiting: [wants({ head: set(1, '1'), workers: set(8, '1', { minPods: 1 }) })],
    },
    ['big makes room', 'low stops (InClusterQueue)'],
  ],
  [
    'others stop for fewer, where all of its pods would never fit',
    {
      queues: { a: { quota: { cpu: '9' }, ...within } },
      running: [has('low', 'a', '4', -1), has('equal', 'a', '2')],
      waiting: [wants({ head: set(1, '1'), workers: set(8, '1', { minPods: 5 }) })],
    },
    ['big makes room', 'low stops (InClusterQueue)'],
  ],
  [
    'nobody stops where the fewest fit, and more would not for all that may stop',
    {
      queues: { a: { quota: { cpu: '9' }, ...within } },
      running: [has('equal', 'a', '5')],
      waiting: [wants({ head: set(1, '1'), workers: set(8, '1', { minPods: 3 }) })],
    },
    ['big runs: head 1 on default, workers 3 on default'],
  ],
  [
    'one pod set fits and another has borrowers stop',
    {
      queues: {
        a: { groups: [{ fast: { cpu: '2' }, slow: { cpu: '4' } }], cohort: 'x', ...reclaims },
        b: { groups: [{ fast: { cpu: '0' }, slow: { cpu: '0' } }], cohort: 'x' },
      },
      running: [has('guest', 'b', '3', 0, 'slow')],
      waiting: [wants({ head: set(1, '2'), workers: set(4, '1') })],
    },
    ['big makes room', 'guest stops (InCohortReclamation)'],
  ],
];

describe.each([
  ['several pod sets', TOGETHER],
  ['with fewer pods', FEWER],
  ['when others have to stop', PREEMPTING],
])('%s', (_, rows) => {
  test.each(rows)('%s', (_situation, cycle, sentences) => {
    expect(decided(cycle)).toEqual([...sentences].toSorted());
  });
});
