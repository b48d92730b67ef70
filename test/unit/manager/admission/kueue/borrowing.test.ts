/** Who may have how much: own quota, what is borrowed and lent, trees of cohorts, and what is kept for those that wait. */
import { describe, expect, test } from 'vitest';
import { decided, type Cycle } from './cycle.ts';

type Row = readonly [string, Cycle, readonly string[]];
const wants = (name: string, queue: string, cpu: string, priority = 0) => ({ name, queue, requests: { cpu }, priority });
const has = (name: string, queue: string, cpu: string, priority = 0) => ({ name, queue, requests: { cpu }, priority });
const own = (cpu: string, cohort?: string) => ({ quota: { cpu }, ...(cohort === undefined ? {} : { cohort }) });

const LIMITS: readonly Row[] = [
  [
    'queues without a common cohort do not meet',
    { queues: { a: own('4', 'x'), b: own('4', 'y') }, waiting: [wants('one', 'a', '4'), wants('two', 'b', '4')] },
    ['one runs on default', 'two runs on default'],
  ],
  [
    'a queue without a cohort has its own quota and no more',
    { queues: { a: own('4') }, running: [has('old', 'a', '2')], waiting: [wants('one', 'a', '3')] },
    ['one waits'],
  ],
  [
    'what nobody of the cohort uses may be borrowed, all of it',
    { queues: { a: own('1', 'x'), b: own('6', 'x'), c: own('2', 'x') }, waiting: [wants('one', 'a', '9')] },
    ['one runs on default'],
  ],
  ['but not more than there is', { queues: { a: own('1', 'x'), b: own('6', 'x') }, waiting: [wants('one', 'a', '8')] }, ['one waits']],
  [
    'up to the borrowing limit',
    { queues: { a: own('4+2', 'x'), b: own('9', 'x') }, waiting: [wants('one', 'a', '6')] },
    ['one runs on default'],
  ],
  ['not above it', { queues: { a: own('4+2', 'x'), b: own('9', 'x') }, waiting: [wants('one', 'a', '7')] }, ['one waits']],
  [
    'a borrowing limit of nothing leaves a queue its own',
    { queues: { a: own('4+0', 'x'), b: own('9', 'x') }, running: [has('old', 'a', '1')], waiting: [wants('one', 'a', '4')] },
    ['one waits'],
  ],
  [
    'as much as others lend',
    { queues: { a: own('3', 'x'), b: own('6-2', 'x') }, waiting: [wants('one', 'a', '5')] },
    ['one runs on default'],
  ],
  [
    'not what they keep for themselves',
    { queues: { a: own('3', 'x'), b: own('6-2', 'x') }, waiting: [wants('one', 'a', '6')] },
    ['one waits'],
  ],
  [
    'what a queue keeps for itself it fills first, and so lends as much as before',
    { queues: { a: own('3', 'x'), b: own('6-2', 'x') }, running: [has('old', 'b', '4')], waiting: [wants('one', 'a', '5')] },
    ['one runs on default'],
  ],
  [
    'what it uses beyond that it does not lend',
    { queues: { a: own('3', 'x'), b: own('6-2', 'x') }, running: [has('old', 'b', '5')], waiting: [wants('one', 'a', '5')] },
    ['one waits'],
  ],
  [
    'a queue that lends nothing has all of its own, whoever borrows what',
    {
      queues: { a: own('3', 'x'), b: own('6-0', 'x'), c: own('2', 'x') },
      running: [has('old', 'c', '5')],
      waiting: [wants('one', 'b', '6')],
    },
    ['one runs on default'],
  ],
  [
    'pods are counted where there is quota for them',
    { queues: { a: { quota: { cpu: '9', pods: '2' } } }, waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1' }, pods: 3 }] },
    ['one waits'],
  ],
  [
    'a resource that the queue does not list cannot be borrowed, though another has it',
    {
      queues: { a: own('9', 'x'), b: { cohort: 'x', quota: { cpu: '9', gpu: '2' } } },
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1', gpu: '1' } }],
    },
    ['one waits'],
  ],
  [
    'nothing of a resource that it does not list is no obstacle',
    { queues: { a: own('9') }, waiting: [{ name: 'one', queue: 'a', requests: { cpu: '1', gpu: '0' } }] },
    ['one runs on default'],
  ],
];

const TOGETHER: readonly Row[] = [
  [
    'two borrow in one cycle what is enough for both',
    { queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('6', 'x') }, waiting: [wants('one', 'a', '3'), wants('two', 'b', '3')] },
    ['one runs on default', 'two runs on default'],
  ],
  [
    'of two for whom it is not, the one of higher priority',
    { queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('6', 'x') }, waiting: [wants('one', 'a', '4'), wants('two', 'b', '4', 1)] },
    ['one is too late', 'two runs on default'],
  ],
  [
    'of equals the older',
    {
      queues: { a: own('0', 'x'), b: own('0', 'x'), bank: own('6', 'x') },
      waiting: [
        { ...wants('one', 'a', '4'), created: 9 },
        { ...wants('two', 'b', '4'), created: 8 },
      ],
    },
    ['one is too late', 'two runs on default'],
  ],
  [
    'who need not borrow goes before who must, whatever the priorities',
    { queues: { a: own('4', 'x'), b: own('0', 'x') }, waiting: [wants('own', 'a', '4'), wants('urgent', 'b', '4', 9)] },
    ['own runs on default', 'urgent is too late'],
  ],
  [
    'a borrower still runs in what that leaves',
    { queues: { a: own('4', 'x'), b: own('0', 'x'), bank: own('2', 'x') }, waiting: [wants('own', 'a', '4'), wants('guest', 'b', '2', 9)] },
    ['guest runs on default', 'own runs on default'],
  ],
  [
    'different resources of one flavor are borrowed beside each other',
    {
      queues: { a: { cohort: 'x', quota: { cpu: '2', gpu: '2' } }, b: { cohort: 'x', quota: { cpu: '2', gpu: '2' } } },
      waiting: [
        { name: 'one', queue: 'a', requests: { cpu: '4' } },
        { name: 'two', queue: 'b', requests: { gpu: '4' } },
      ],
    },
    ['one runs on default', 'two runs on default'],
  ],
];

const TREES: readonly Row[] = [
  [
    'what a cohort has itself is for all below it',
    {
      queues: { a: own('0', 'low') },
      cohorts: { top: { quota: { cpu: '5' } }, low: { parent: 'top' } },
      waiting: [wants('one', 'a', '5')],
    },
    ['one runs on default'],
  ],
  [
    'what is beside it comes by way of the cohort above',
    {
      queues: { a: own('1', 'left'), b: own('3', 'right') },
      cohorts: { top: {}, left: { parent: 'top' }, right: { parent: 'top' } },
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on default'],
  ],
  [
    'a cohort lends as much as its limit says',
    {
      queues: { a: own('0', 'left'), b: own('0', 'right') },
      cohorts: { top: {}, left: { parent: 'top' }, right: { parent: 'top', quota: { cpu: '6-2' } } },
      waiting: [wants('one', 'a', '2')],
    },
    ['one runs on default'],
  ],
  [
    'and no more',
    {
      queues: { a: own('0', 'left'), b: own('0', 'right') },
      cohorts: { top: {}, left: { parent: 'top' }, right: { parent: 'top', quota: { cpu: '6-2' } } },
      waiting: [wants('one', 'a', '3')],
    },
    ['one waits'],
  ],
  [
    'a cohort borrows as much as its limit says, for all of its queues together',
    {
      queues: { a: own('0', 'left'), b: own('0', 'left') },
      cohorts: { top: { quota: { cpu: '9' } }, left: { parent: 'top', quota: { cpu: '1+3' } } },
      running: [has('old', 'b', '2')],
      waiting: [wants('one', 'a', '2')],
    },
    ['one runs on default'],
  ],
  [
    'and no more than that',
    {
      queues: { a: own('0', 'left'), b: own('0', 'left') },
      cohorts: { top: { quota: { cpu: '9' } }, left: { parent: 'top', quota: { cpu: '1+3' } } },
      running: [has('old', 'b', '2')],
      waiting: [wants('one', 'a', '3')],
    },
    ['one waits'],
  ],
  [
    'the limit of a queue holds in any tree',
    {
      queues: { a: own('1+1', 'left') },
      cohorts: { top: { quota: { cpu: '9' } }, left: { parent: 'top', quota: { cpu: '4' } } },
      waiting: [wants('one', 'a', '3')],
    },
    ['one waits'],
  ],
  [
    'who borrows from nearer goes before who borrows from farther, whatever the priorities',
    {
      queues: { near: own('0', 'left'), far: own('0', 'right') },
      cohorts: { top: {}, left: { parent: 'top', quota: { cpu: '4' } }, right: { parent: 'top' } },
      waiting: [wants('urgent', 'far', '4', 9), wants('close', 'near', '4')],
    },
    ['close runs on default', 'urgent is too late'],
  ],
  [
    'how far is how high the cohort stands that has it: who is farther below it is no farther from it',
    {
      queues: { near: own('0', 'left'), far: own('0', 'deep') },
      cohorts: { top: { quota: { cpu: '4' } }, left: { parent: 'top' }, right: { parent: 'top' }, deep: { parent: 'right' } },
      waiting: [wants('urgent', 'far', '4', 9), wants('close', 'near', '4')],
    },
    ['close is too late', 'urgent runs on default'],
  ],
];

const guard = (reclaimWithinCohort: 'Never' | 'LowerPriority' | 'Any') => ({ ...own('10', 'x'), preemption: { reclaimWithinCohort } });
const KEPT: readonly Row[] = [
  ...(['Never', 'LowerPriority'] as const).map(
    (policy): Row => [
      `a queue that cannot get back all of its own (${policy}) keeps what is free of it from borrowers`,
      {
        queues: { owner: guard(policy), guest: own('0', 'x'), late: own('0', 'x') },
        running: [has('old', 'guest', '5')],
        waiting: [wants('large', 'owner', '8'), wants('small', 'late', '2', 9)],
      },
      ['large waits', 'small is too late'],
    ],
  ),
  [
    'one that can get back all keeps nothing',
    {
      queues: { owner: guard('Any'), guest: own('0', 'x'), late: own('0', 'x') },
      running: [has('old', 'owner', '3', 9), has('lent', 'guest', '5')],
      waiting: [wants('large', 'owner', '8'), wants('small', 'late', '2', 9)],
    },
    ['large waits', 'small runs on default'],
  ],
  [
    'one that would have to borrow keeps all that it asks for from those after it in order',
    {
      queues: { owner: guard('Never'), guest: own('0', 'x'), late: own('0', 'x'), bank: own('6', 'x') },
      running: [has('old', 'owner', '3'), has('lent', 'guest', '5')],
      waiting: [wants('large', 'owner', '9', 1), wants('small', 'late', '1')],
    },
    ['large waits', 'small is too late'],
  ],
  [
    'and nothing from those before it',
    {
      queues: { owner: guard('Never'), guest: own('0', 'x'), late: own('0', 'x'), bank: own('6', 'x') },
      running: [has('old', 'owner', '3'), has('lent', 'guest', '5')],
      waiting: [wants('large', 'owner', '9'), wants('small', 'late', '1', 1)],
    },
    ['large waits', 'small runs on default'],
  ],
];

describe.each([
  ['limits', LIMITS],
  ['in one cycle', TOGETHER],
  ['in a tree of cohorts', TREES],
  ['what is kept for who waits', KEPT],
])('%s', (_, rows) => {
  test.each(rows)('%s', (__, cycle, outcome) => {
    expect(decided(cycle)).toEqual(outcome);
  });
});
