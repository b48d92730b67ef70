/** Fair sharing: who goes first, and who gives a place up, in one cycle. */
import { describe, expect, test } from 'vitest';
import { decided, type Cycle } from './cycle.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import type { QueueOf } from '../preemption/preemption-world.ts';

type Row = readonly [string, Omit<Cycle, 'fairSharing'> & { readonly strategies?: readonly FairStrategy[] }, readonly string[]];
const wants = (name: string, queue: string, cpu: string, priority = 0) => ({ name, queue, requests: { cpu }, priority });
const has = (name: string, queue: string, cpu: string, priority = 0) => ({ name, queue, requests: { cpu }, priority });
const own = (cpu: string, cohort?: string, rest: Partial<QueueOf> = {}): QueueOf => ({
  quota: { cpu },
  ...(cohort === undefined ? {} : { cohort }),
  ...rest,
});
const weighing = (weight: string | number, rest: Partial<QueueOf> = {}): QueueOf => own('0', 'x', { fairSharing: { weight }, ...rest });
const both = { preemption: { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } } as const;

const FIRST: readonly Row[] = [
  [
    'the queue that would borrow less goes first, whatever the priorities',
    {
      queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('10', 'x') },
      running: [has('old', 'a', '4')],
      waiting: [wants('urgent', 'a', '4', 9), wants('one', 'b', '6')],
    },
    ['one runs on default', 'urgent is too late'],
  ],
  [
    'what counts is what it would borrow with what it asks for',
    {
      queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('10', 'x') },
      running: [has('old', 'a', '2')],
      waiting: [wants('small', 'a', '2'), wants('large', 'b', '7')],
    },
    ['large is too late', 'small runs on default'],
  ],
  [
    'divided by its weight',
    {
      queues: { a: weighing(4), b: weighing(1), bank: own('10', 'x') },
      running: [has('old', 'a', '4')],
      waiting: [wants('one', 'a', '4'), wants('two', 'b', '4')],
    },
    ['one runs on default', 'two is too late'],
  ],
  [
    'who borrows with weight 0 goes after everybody',
    {
      queues: { a: weighing(0), b: weighing('0.01'), bank: own('10', 'x') },
      waiting: [wants('none', 'a', '1', 9), wants('some', 'b', '10')],
    },
    ['none is too late', 'some runs on default'],
  ],
  [
    'of two with weight 0 who borrows less',
    {
      queues: { a: weighing(0), b: weighing(0), bank: own('10', 'x') },
      running: [has('old', 'a', '4')],
      waiting: [wants('one', 'a', '4', 9), wants('two', 'b', '4')],
    },
    ['one is too late', 'two runs on default'],
  ],
  [
    'who stays within its own goes before all who borrow',
    {
      queues: { a: own('4', 'x'), b: own('0', 'x') },
      waiting: [wants('guest', 'b', '1', 9), wants('own', 'a', '4')],
    },
    ['guest is too late', 'own runs on default'],
  ],
  [
    'of equal shares the higher priority',
    {
      queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('4', 'x') },
      waiting: [wants('low', 'a', '4'), wants('high', 'b', '4', 1)],
    },
    ['high runs on default', 'low is too late'],
  ],
  [
    'of equal priority the older',
    {
      queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('4', 'x') },
      waiting: [
        { ...wants('new', 'a', '4'), created: 9 },
        { ...wants('old', 'b', '4'), created: 1 },
      ],
    },
    ['new is too late', 'old runs on default'],
  ],
  [
    'the greatest share of all resources is the one that counts',
    {
      queues: {
        a: { cohort: 'x', quota: { cpu: '0', memory: '0' } },
        b: { cohort: 'x', quota: { cpu: '0', memory: '0' } },
        bank: { cohort: 'x', quota: { cpu: '10', memory: '100' } },
      },
      running: [
        { name: 'thin', queue: 'a', requests: { cpu: '3', memory: '1' } },
        { name: 'fat', queue: 'b', requests: { cpu: '1', memory: '60' } },
      ],
      waiting: [wants('one', 'a', '4'), wants('two', 'b', '4', 9)],
    },
    // 0.7 of the cpu, beside 0.6 of the memory.
    ['one is too late', 'two runs on default'],
  ],
  [
    'in a tree the cohort that borrows less goes first, then the queue in it',
    {
      queues: { a1: own('0', 'left'), a2: own('0', 'left'), b1: own('0', 'right') },
      cohorts: { top: { quota: { cpu: '10' } }, left: { parent: 'top' }, right: { parent: 'top' } },
      running: [has('old', 'a2', '4')],
      waiting: [wants('one', 'a1', '5', 9), wants('two', 'b1', '6')],
    },
    ['one is too late', 'two runs on default'],
  ],
  [
    'cohorts have weights, too',
    {
      queues: { a1: own('0', 'left'), a2: own('0', 'left'), b1: own('0', 'right') },
      cohorts: { top: { quota: { cpu: '10' } }, left: { parent: 'top', weight: 3 }, right: { parent: 'top' } },
      running: [has('old', 'a2', '4')],
      waiting: [wants('one', 'a1', '5'), wants('two', 'b1', '6', 9)],
    },
    ['one runs on default', 'two is too late'],
  ],
  [
    'a queue that borrows within what its cohort has itself makes that cohort borrow nothing',
    {
      queues: { a1: own('0', 'left'), b1: own('0', 'right') },
      cohorts: { top: { quota: { cpu: '2' } }, left: { parent: 'top', quota: { cpu: '6' } }, right: { parent: 'top' } },
      running: [has('old', 'a1', '3')],
      waiting: [wants('one', 'a1', '3'), wants('two', 'b1', '3', 9)],
    },
    ['one runs on default', 'two is too late'],
  ],
];

const GOES: readonly Row[] = [
  [
    'one of the queue with the greatest share',
    {
      queues: { a: own('0', 'x', both), b: own('0', 'x'), c: own('0', 'x'), bank: own('9', 'x') },
      running: [
        ...['b1', 'b2', 'b3', 'b4', 'b5', 'b6'].map((name) => has(name, 'b', '1')),
        ...['c1', 'c2', 'c3'].map((name) => has(name, 'c', '1')),
      ],
      waiting: [wants('one', 'a', '1')],
    },
    ['b1 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'of equal shares one of another queue before one of its own',
    {
      queues: {
        a: { cohort: 'x', quota: { cpu: '0', memory: '0' }, ...both },
        b: { cohort: 'x', quota: { cpu: '0', memory: '0' } },
        c: { cohort: 'x', quota: { cpu: '0', memory: '0' } },
        bank: { cohort: 'x', quota: { cpu: '10', memory: '10' } },
      },
      running: [
        { name: 'a1', queue: 'a', requests: { cpu: '4', memory: '5' } },
        has('b1', 'b', '3'),
        { name: 'b2', queue: 'b', requests: { memory: '5' } },
        has('c1', 'c', '3'),
      ],
      waiting: [wants('one', 'a', '1', 1)],
    },
    ['b1 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'nobody, where shares would only change places',
    {
      queues: { a: own('0', 'x', both), b: own('0', 'x'), bank: own('4', 'x') },
      running: [has('b1', 'b', '2'), has('b2', 'b', '2')],
      waiting: [wants('one', 'a', '4')],
    },
    ['one waits'],
  ],
  [
    'a large one, where it leaves its queue with more than the other then has (LessThanInitialShare)',
    {
      queues: { a: own('0', 'x', both), b: own('0', 'x'), bank: own('6', 'x') },
      running: [has('b1', 'b', '6')],
      waiting: [wants('one', 'a', '5')],
      strategies: [FairStrategy.LessThanInitialShare],
    },
    ['b1 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'not so where only the final shares count (LessThanOrEqualToFinalShare)',
    {
      queues: { a: own('0', 'x', both), b: own('0', 'x'), bank: own('6', 'x') },
      running: [has('b1', 'b', '6')],
      waiting: [wants('one', 'a', '5')],
      strategies: [FairStrategy.LessThanOrEqualToFinalShare],
    },
    ['one waits'],
  ],
  [
    'with both, the one after which the final shares are in order',
    {
      queues: { a: own('0', 'x', both), b: own('0', 'x'), bank: own('8', 'x') },
      running: [has('large', 'b', '5', -1), has('small', 'b', '2')],
      waiting: [wants('one', 'a', '3')],
    },
    ['one makes room', 'small stops (InCohortFairSharing)'],
  ],
  [
    'whoever borrows what is a queue its own, whatever the shares',
    {
      queues: { a: own('4', 'x', both), b: own('0', 'x', { fairSharing: { weight: 100 } }) },
      running: [has('b1', 'b', '4', 9)],
      waiting: [wants('one', 'a', '4')],
    },
    ['b1 stops (InCohortReclamation)', 'one makes room'],
  ],
  [
    'nobody of a queue within its own, also where that has weight 0',
    {
      queues: { a: own('0', 'x', both), b: own('4', 'x', { fairSharing: { weight: 0 } }) },
      running: [has('b1', 'b', '4', -9)],
      waiting: [wants('one', 'a', '1')],
    },
    ['one waits'],
  ],
  [
    'anybody who borrows with weight 0',
    {
      queues: { a: own('0', 'x', both), b: weighing(0), bank: own('4', 'x') },
      running: [has('b1', 'b', '4', 9)],
      waiting: [wants('one', 'a', '4')],
    },
    ['b1 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'nobody for a borrower with weight 0',
    {
      queues: { a: weighing(0, both), b: own('0', 'x'), bank: own('4', 'x') },
      running: [has('b1', 'b', '4', -9)],
      waiting: [wants('one', 'a', '1')],
    },
    ['one waits'],
  ],
  [
    'for one with weight 0 whoever borrows what is its own',
    {
      queues: { a: own('2', 'x', { fairSharing: { weight: 0 }, ...both }), b: own('2', 'x') },
      running: [has('b1', 'b', '2'), has('b2', 'b', '2')],
      waiting: [wants('one', 'a', '2')],
    },
    ['b1 stops (InCohortReclamation)', 'one makes room'],
  ],
  [
    'lower priorities of its own queue where it has the greatest share itself',
    {
      queues: { a: own('0', 'x', both), b: own('0', 'x'), bank: own('6', 'x') },
      running: [has('a1', 'a', '4', -1), has('b1', 'b', '2', -9)],
      waiting: [wants('one', 'a', '4')],
    },
    ['a1 stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'only lower priorities, where its policy says so',
    {
      queues: { a: own('0', 'x', { preemption: { reclaimWithinCohort: 'LowerPriority' } }), b: own('0', 'x'), bank: own('6', 'x') },
      running: [has('b1', 'b', '3', 5), has('b2', 'b', '3', 1)],
      waiting: [wants('one', 'a', '2', 3)],
    },
    ['b2 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'nobody of a borrower whose cohort keeps within its own',
    {
      queues: { a: own('0', 'left', both), b: own('0', 'right'), c: own('0', 'other') },
      cohorts: {
        top: { quota: { cpu: '4' } },
        left: { parent: 'top' },
        right: { parent: 'top', quota: { cpu: '6' } },
        other: { parent: 'top' },
      },
      running: [has('b1', 'b', '6', -9), has('c1', 'c', '2'), has('c2', 'c', '2')],
      waiting: [wants('one', 'a', '2')],
    },
    ['c1 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'where a cohort has the greatest share, one of the queue in it that has it',
    {
      queues: { a: own('0', 'left', both), b: own('0', 'right'), c: own('0', 'right') },
      cohorts: { top: { quota: { cpu: '8' } }, left: { parent: 'top' }, right: { parent: 'top' } },
      running: [
        ...['b1', 'b2', 'b3', 'b4', 'b5'].map((name) => has(name, 'b', '1')),
        ...['c1', 'c2', 'c3'].map((name) => has(name, 'c', '1')),
      ],
      waiting: [wants('one', 'a', '1')],
    },
    ['b1 stops (InCohortFairSharing)', 'one makes room'],
  ],
  [
    'someone in the first flavor, where preempting is preferred to borrowing in the second',
    {
      queues: {
        a: {
          cohort: 'x',
          groups: [{ fast: { cpu: '4' }, slow: { cpu: '0' } }],
          ...both,
          flavorFungibility: { whenCanBorrow: 'TryNextFlavor', whenCanPreempt: 'TryNextFlavor', preference: 'PreemptionOverBorrowing' },
        },
        b: { cohort: 'x', groups: [{ fast: { cpu: '0' }, slow: { cpu: '4' } }] },
      },
      running: [{ ...has('b1', 'b', '4'), flavor: 'fast' }],
      waiting: [wants('one', 'a', '4')],
    },
    ['b1 stops (InCohortReclamation)', 'one makes room'],
  ],
];

describe.each([
  ['who goes first', FIRST],
  ['who gives its place up', GOES],
])('%s', (_, rows) => {
  test.each(rows)('%s', (__, { strategies = Object.values(FairStrategy), ...cycle }, outcome) => {
    expect(decided({ ...cycle, fairSharing: { preemptionStrategies: strategies } })).toEqual(outcome);
  });
});
