/** Who gives a place up for whom in one cycle, without fair sharing. */
import { describe, expect, test } from 'vitest';
import { decided, type Cycle } from './cycle.ts';
import type { QueueOf } from '../preemption/preemption-world.ts';

type Row = readonly [string, Cycle, readonly string[]];
const wants = (name: string, queue: string, cpu: string, priority = 0) => ({ name, queue, requests: { cpu }, priority });
const has = (name: string, queue: string, cpu: string, priority = 0, since = 0) => ({ name, queue, requests: { cpu }, priority, since });
const own = (cpu: string, cohort?: string, preemption?: QueueOf['preemption']): QueueOf => ({
  quota: { cpu },
  ...(cohort === undefined ? {} : { cohort }),
  ...(preemption === undefined ? {} : { preemption }),
});
const within = { withinClusterQueue: 'LowerPriority' } as const;
const both = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;
const below = (maxPriorityThreshold: number) =>
  ({
    withinClusterQueue: 'LowerPriority',
    reclaimWithinCohort: 'LowerPriority',
    borrowWithinCohort: { policy: 'LowerPriority', maxPriorityThreshold },
  }) as const;

const WHOM: readonly Row[] = [
  [
    'a borrower and one of its own queue, where neither is enough',
    {
      queues: { a: own('10', 'x', both), b: own('10', 'x') },
      running: [has('mine', 'a', '6', -1), has('theirs', 'b', '14')],
      waiting: [wants('one', 'a', '10')],
    },
    ['mine stops (InClusterQueue)', 'one makes room', 'theirs stops (InCohortReclamation)'],
  ],
  [
    'nobody, where what is asked for exceeds the own quota and borrowers may not preempt',
    {
      queues: { a: own('4', 'x', both), b: own('6', 'x') },
      running: [has('mine', 'a', '4', -1), has('theirs', 'b', '6', -1)],
      waiting: [wants('one', 'a', '5')],
    },
    ['one waits'],
  ],
  [
    'of equals those that were admitted last',
    {
      queues: { a: own('4', undefined, within) },
      running: [has('old', 'a', '2', -1, 1), has('new', 'a', '2', -1, 9)],
      waiting: [wants('one', 'a', '2')],
    },
    ['new stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'a large one of lower priority rather than a small one of higher',
    {
      queues: { a: own('9', undefined, within) },
      running: [has('large', 'a', '7', -2), has('small', 'a', '2', -1)],
      waiting: [wants('one', 'a', '2')],
    },
    ['large stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'those who stop already, and nobody else where they are enough',
    {
      queues: { a: own('4', undefined, within) },
      running: [{ ...has('leaving', 'a', '2', -1), leaving: true }, has('low', 'a', '2', -5)],
      waiting: [wants('one', 'a', '2')],
    },
    ['leaving stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'who keeps within its quota is never reclaimed from, however low it is',
    {
      queues: { a: own('4', 'x', both), b: own('4', 'x'), c: own('0', 'x') },
      running: [has('lowest', 'b', '4', -9), has('guest', 'c', '4', 9)],
      waiting: [wants('one', 'a', '4')],
    },
    ['guest stops (InCohortReclamation)', 'one makes room'],
  ],
  [
    'of a borrower no more than what it borrows',
    {
      queues: { a: own('4', 'x', both), b: own('4', 'x') },
      running: [has('b1', 'b', '4', 0, 1), has('b2', 'b', '2', 0, 2), has('b3', 'b', '2', 0, 3)],
      waiting: [wants('one', 'a', '4')],
    },
    ['b2 stops (InCohortReclamation)', 'b3 stops (InCohortReclamation)', 'one makes room'],
  ],
];

const BORROWING: readonly Row[] = [
  [
    'a borrower has those stop whose priority is at most the threshold',
    {
      queues: { a: own('0', 'x', below(2)), b: own('0', 'x'), bank: own('6', 'x') },
      running: [has('two', 'b', '3', 2), has('three', 'b', '3', 3)],
      waiting: [wants('one', 'a', '3', 5)],
    },
    ['one makes room', 'two stops (InCohortReclaimWhileBorrowing)'],
  ],
  [
    'and never those of its own priority, whatever the threshold',
    {
      queues: { a: own('0', 'x', below(9)), b: own('0', 'x'), bank: own('6', 'x') },
      running: [has('equal', 'b', '6', 5)],
      waiting: [wants('one', 'a', '3', 5)],
    },
    ['one waits'],
  ],
  [
    'the threshold says nothing where it need not borrow in the end',
    {
      queues: { a: own('3', 'x', below(-9)), b: own('3', 'x') },
      running: [has('guest', 'b', '6', 2)],
      waiting: [wants('one', 'a', '3', 5)],
    },
    ['guest stops (InCohortReclamation)', 'one makes room'],
  ],
  [
    'nor of its own queue',
    {
      queues: { a: own('3', 'x', below(-9)), b: own('3', 'x') },
      running: [has('mine', 'a', '6', 2)],
      waiting: [wants('one', 'a', '6', 5)],
    },
    ['mine stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'the borrowing limit holds for a preemptor, too',
    {
      queues: { a: own('1+2', 'x', below(9)), b: own('0', 'x'), bank: own('9', 'x') },
      running: [has('low', 'b', '10', -1)],
      waiting: [wants('one', 'a', '4', 5)],
    },
    ['one waits'],
  ],
];

const OTHERS: readonly Row[] = [
  [
    'several queues have their own stop in one cycle',
    {
      queues: { a: own('3', 'x', within), b: own('3', 'x', within), c: own('3', 'x', within) },
      running: [has('a1', 'a', '3', -1), has('b1', 'b', '3', -1), has('c1', 'c', '3', -1)],
      waiting: [wants('one', 'a', '3'), wants('two', 'b', '3'), wants('three', 'c', '3')],
    },
    [
      'a1 stops (InClusterQueue)',
      'b1 stops (InClusterQueue)',
      'c1 stops (InClusterQueue)',
      'one makes room',
      'three makes room',
      'two makes room',
    ],
  ],
  [
    'one that fits is admitted beside them',
    {
      queues: { a: own('3+0', 'x', within), b: own('3', 'x') },
      running: [has('a1', 'a', '3', -1)],
      waiting: [wants('one', 'a', '3'), wants('two', 'b', '3')],
    },
    ['a1 stops (InClusterQueue)', 'one makes room', 'two runs on default'],
  ],
  [
    'one that could borrow preempts nobody, also where its lender takes its own first',
    {
      queues: { a: own('3', 'x', within), b: own('3', 'x') },
      running: [has('a1', 'a', '3', -1)],
      waiting: [wants('one', 'a', '3', 9), wants('two', 'b', '3')],
    },
    ['one is too late', 'two runs on default'],
  ],
  [
    'a borrower of what is free and not needed runs, while another waits for those it preempts',
    {
      queues: { a: own('4+0', 'x', both), b: own('0', 'x'), bank: own('4', 'x') },
      running: [has('low', 'a', '4', -1)],
      waiting: [wants('one', 'a', '4', 2), wants('guest', 'b', '4', 1)],
    },
    ['guest runs on default', 'low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'what victims leave is not for a borrower of the same cycle',
    {
      queues: { a: own('4', 'x', both), b: own('0', 'x') },
      running: [has('low', 'a', '4', -1)],
      waiting: [wants('one', 'a', '2', 2), wants('guest', 'b', '2', 9)],
    },
    ['guest waits', 'low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'who fits goes before who would preempt for the same quota, if it borrows from no farther',
    {
      queues: { a: own('4', 'x', both), b: own('0', 'x'), c: own('4', 'x') },
      running: [has('guest', 'b', '6')],
      waiting: [wants('one', 'c', '2'), wants('two', 'a', '4', -1)],
    },
    ['guest stops (InCohortReclamation)', 'one runs on default', 'two makes room'],
  ],
  [
    'two that reclaim from one large borrower have it stopped once',
    {
      queues: { a: own('4', 'x', both), b: own('4', 'x', both), c: own('0', 'x') },
      running: [has('guest', 'c', '8')],
      waiting: [wants('one', 'a', '4', 1), wants('two', 'b', '4')],
    },
    ['guest stops (InCohortReclamation)', 'one makes room', 'two makes room'],
  ],
];

const FEWER: readonly Row[] = [
  [
    'as many pods as fit, where all do not',
    { queues: { a: own('5') }, waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 9, minPods: 2 }] },
    ['one runs with 5 pods on default'],
  ],
  [
    'not fewer than it says',
    { queues: { a: own('5') }, waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 9, minPods: 6 }] },
    ['one waits'],
  ],
  [
    'all of them and others stop, where that is allowed',
    {
      queues: { a: own('5', undefined, within) },
      running: [has('low', 'a', '3', -1)],
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 5, minPods: 1 }],
    },
    ['low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'fewer and others stop, where all would never fit',
    {
      queues: { a: own('5', undefined, within) },
      running: [has('low', 'a', '3', -1)],
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 8, minPods: 4 }],
    },
    ['low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'as many as can be borrowed',
    {
      queues: { a: own('2+1', 'x'), b: own('6', 'x') },
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 9, minPods: 1 }],
    },
    ['one runs with 3 pods on default'],
  ],
  [
    'on the flavor where most of them fit, not the first',
    {
      queues: { a: { groups: [{ fast: { cpu: '2' }, slow: { cpu: '4' } }] } },
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 6, minPods: 1 }],
    },
    ['one runs with 4 pods on slow'],
  ],
];

describe.each([
  ['preemption takes', WHOM],
  ['while borrowing', BORROWING],
  ['beside others', OTHERS],
  ['with fewer pods', FEWER],
])('%s', (_, rows) => {
  test.each(rows)('%s', (__, cycle, outcome) => {
    expect(decided(cycle)).toEqual(outcome);
  });
});
