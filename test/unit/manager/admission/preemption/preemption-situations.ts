import { aCohort, type Holding, type Incoming, type QueueOf, type Setting } from './preemption-world.ts';

/** What becomes of whom, in situations of which Kueue's own tests of classical preemption tell the outcome. */
export type Situation = {
  readonly name: string;
  readonly setting: Setting;
  readonly incoming: Incoming;
  /** `name Rule`, by name; none: it waits. */
  readonly victims: readonly string[];
};

const LOWER = 'LowerPriority';
const SIX = { cpu: '6+6', memory: '3Gi+3Gi' };
/** Priority LowerPriority below it, and any borrower; up to priority 0 although it borrows. */
const toZero = { policy: LOWER, maxPriorityThreshold: 0 } as const;

/** The queues that most situations share; a name begins with the cohort's letter. */
const QUEUES: Readonly<Record<string, QueueOf>> = {
  alone: {
    quota: { cpu: '6' },
    groups: [{ alpha: { memory: '3Gi' }, beta: { memory: '3Gi' } }],
    preemption: { withinClusterQueue: LOWER },
  },
  'by-age': { quota: { cpu: '6' }, preemption: { withinClusterQueue: 'LowerOrNewerEqualPriority' } },
  c1: { cohort: 'c', quota: SIX, preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: LOWER } },
  c2: { cohort: 'c', quota: SIX, preemption: { reclaimWithinCohort: 'Any' } },
  d1: { cohort: 'd', quota: { cpu: '6', memory: '3Gi' }, preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: LOWER } },
  d2: { cohort: 'd', quota: { cpu: '6', memory: '3Gi' }, preemption: { reclaimWithinCohort: 'Any' } },
  e1: { cohort: 'e', quota: { cpu: '6+12', memory: '3Gi+6Gi' }, preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: LOWER } },
  'standard-a': { cohort: 's', quota: { cpu: '1+12' }, preemption: { reclaimWithinCohort: LOWER, borrowWithinCohort: toZero } },
  'standard-b': {
    cohort: 's',
    quota: { cpu: '1+12' },
    preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: 'Any', borrowWithinCohort: toZero },
  },
  'spare-a': { cohort: 's', quota: { cpu: '1+12' }, preemption: { reclaimWithinCohort: LOWER, borrowWithinCohort: toZero } },
  'spare-b': { cohort: 's', quota: { cpu: '0+13' }, preemption: { reclaimWithinCohort: LOWER, borrowWithinCohort: toZero } },
  shared: { cohort: 's', quota: { cpu: '10' } },
  lends4: { cohort: 'l', quota: { cpu: '6-4' }, preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: LOWER } },
  lends2: { cohort: 'l', quota: { cpu: '6-2' }, preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: LOWER } },
  t1: { cohort: 't', quota: { cpu: '2', memory: '2' }, preemption: { withinClusterQueue: LOWER, reclaimWithinCohort: 'Any' } },
  t2: { cohort: 't', quota: { cpu: '2', memory: '2' } },
  t3: { cohort: 't', quota: { cpu: '2', memory: '2' } },
};

const job = (
  name: string,
  queue: string,
  priority: number,
  requests: string | Holding['requests'],
  parts: Partial<Holding> = {},
): Holding => ({
  name,
  queue,
  priority,
  requests: typeof requests === 'string' ? { cpu: requests } : requests,
  ...parts,
});
const comes = (queue: string, priority: number, requests: string | Holding['requests'], parts: Partial<Incoming> = {}): Incoming => ({
  queue,
  priority,
  requests: typeof requests === 'string' ? { cpu: requests } : requests,
  ...parts,
});
type Row = readonly [name: string, admitted: readonly Holding[], comes: Incoming, victims: readonly string[]];

const IN_ONE_QUEUE: readonly Row[] = [
  [
    'the Job of the lowest priority gives its place up',
    [job('low', 'alone', -1, '2'), job('mid', 'alone', 0, '2'), job('high', 'alone', 1, '2')],
    comes('alone', 1, '2'),
    ['low InClusterQueue'],
  ],
  [
    'as many give their place up as are needed',
    [job('low', 'alone', -1, '2'), job('mid', 'alone', 0, '2'), job('high', 'alone', 1, '2')],
    comes('alone', 1, '3'),
    ['low InClusterQueue', 'mid InClusterQueue'],
  ],
  ['nobody gives way to a Job of equal priority', [job('low', 'alone', -1, '3'), job('mid', 'alone', 0, '3')], comes('alone', -1, '1'), []],
  [
    'where those of lower priority are not enough, none of them is evicted in vain',
    [job('low', 'alone', -1, '3'), job('mid', 'alone', 0, '3')],
    comes('alone', 0, '4'),
    [],
  ],
  [
    'what is free already counts',
    [job('low', 'alone', -1, '1'), job('mid', 'alone', 0, '1'), job('high', 'alone', 1, '3')],
    comes('alone', 1, '2'),
    ['low InClusterQueue'],
  ],
  [
    'a Job of the lowest priority stays if one of a higher priority must go anyway and is enough',
    [job('low', 'alone', -1, '1'), job('mid', 'alone', 0, '2'), job('high', 'alone', 1, '3')],
    comes('alone', 1, '2'),
    ['mid InClusterQueue'],
  ],
  [
    'a Job that holds another flavor stays',
    [
      job('low', 'alone', -1, { memory: '2Gi' }, { flavor: 'alpha' }),
      job('mid', 'alone', 0, { memory: '1Gi' }, { flavor: 'beta' }),
      job('high', 'alone', 1, { memory: '1Gi' }, { flavor: 'beta' }),
    ],
    comes('alone', 1, { cpu: '1', memory: '2Gi' }, { flavors: { memory: 'beta' } }),
    ['mid InClusterQueue'],
  ],
  ['a queue that says Never evicts none of its own', [job('low', 'c2', -1, '3')], comes('c2', 1, '4'), []],
  [
    'of equal priority the newest admission goes first, where the queue says newer ones may',
    [
      job('first', 'by-age', 2, '2', { created: 0 }),
      job('late', 'by-age', 1, '2', { created: 20, since: 1 }),
      job('early', 'by-age', 1, '2', { created: 20 }),
    ],
    comes('by-age', 1, '2', { created: 5 }),
    ['late InClusterQueue'],
  ],
  [
    'nobody gives way to a Job of equal priority that is newer, or as old',
    [job('a', 'by-age', 1, '3', { created: 5 }), job('b', 'by-age', 1, '3', { created: 4 })],
    comes('by-age', 1, '3', { created: 5 }),
    [],
  ],
];

const IN_A_COHORT: readonly Row[] = [
  [
    'a queue gets back what another borrows, from the lower priority there',
    [job('own', 'c1', -1, '3'), job('mid', 'c2', 0, '3'), job('high', 'c2', 1, '6')],
    comes('c1', 1, '3'),
    ['mid InCohortReclamation'],
  ],
  [
    'that it asks for nothing of a resource of which nothing is left is no obstacle',
    [job('own', 'c1', -1, { cpu: '3', memory: '3Gi' }), job('mid', 'c2', 0, '3'), job('high', 'c2', 1, '6')],
    comes('c1', 1, { cpu: '3', memory: '0' }),
    ['mid InCohortReclamation'],
  ],
  [
    'nothing is taken from a queue that keeps within its quota',
    [job('own', 'c1', 1, '4'), job('low', 'c2', -1, '4')],
    comes('c1', 1, '4'),
    [],
  ],
  [
    'borrowers are left alone where what they borrow is not enough',
    [job('own', 'c1', 1, '4'), job('one', 'c2', -1, '4'), job('two', 'c2', -1, '4')],
    comes('c1', 1, '4'),
    [],
  ],
  [
    'a Job that must borrow memory evicts in its own queue, for no other may be evicted by a borrower',
    [job('own', 'c1', -1, '4'), job('low', 'c2', -1, '4'), job('high', 'c2', 1, '4')],
    comes('c1', 1, { cpu: '4', memory: '5Gi' }),
    ['own InClusterQueue'],
  ],
  [
    'so does one that must borrow the same resource, within its borrowing limit',
    [job('mid', 'c1', 0, '4'), job('low', 'c1', -1, '4'), job('other', 'c2', -1, '4')],
    comes('c1', 1, '4'),
    ['low InClusterQueue'],
  ],
  [
    'and without any limit',
    [job('mid', 'd1', 0, '4'), job('low', 'd1', -1, '4'), job('other', 'd2', -1, '4')],
    comes('d1', 1, '4'),
    ['low InClusterQueue'],
  ],
  [
    'also where Jobs of others could be evicted if it did not borrow',
    [job('own', 'c1', 0, '4'), job('a', 'c2', -1, '5'), job('b', 'c2', -1, '1'), job('c', 'c2', -1, '1')],
    comes('c1', 1, { cpu: '2', memory: '5Gi' }),
    ['own InClusterQueue'],
  ],
  [
    'a queue that is alone in its cohort has nobody to borrow from',
    [job('mid', 'e1', 0, '4'), job('low', 'e1', -1, '2')],
    comes('e1', 1, '4'),
    ['mid InClusterQueue'],
  ],
  [
    'LowerPriority gets nothing back from equals',
    [job('own', 'c1', 0, '2'), job('a', 'c2', 0, '4'), job('b', 'c2', 0, '4')],
    comes('c1', 0, '4'),
    [],
  ],
  [
    'Any gets it back from equals, the lowest first',
    [job('a', 'c1', 0, '4'), job('b', 'c1', 1, '4'), job('own', 'c2', 0, '2')],
    comes('c2', 0, '4'),
    ['a InCohortReclamation'],
  ],
  [
    'those of other queues go first, then those of its own',
    [job('own-low', 'c1', -1, '3'), job('own-mid', 'c1', 0, '2'), job('low', 'c2', -1, '3'), job('mid', 'c2', 0, '4')],
    comes('c1', 0, '4'),
    ['low InCohortReclamation', 'own-low InClusterQueue'],
  ],
  [
    'what a queue keeps from lending it gets back, too',
    [job('own', 'lends4', -1, '3'), job('mid', 'lends2', 0, '3'), job('high', 'lends2', 1, '4')],
    comes('lends4', 1, '3'),
    ['mid InCohortReclamation'],
  ],
  [
    'and from all queues at once',
    [job('own-low', 'lends4', -1, '3'), job('own-mid', 'lends4', 0, '2'), job('low', 'lends2', -1, '3'), job('mid', 'lends2', 0, '4')],
    comes('lends4', 0, '4'),
    ['low InCohortReclamation', 'own-low InClusterQueue'],
  ],
  ['what others do not lend cannot be had by preemption', [job('low', 'lends2', -1, '10')], comes('lends4', 0, '9'), []],
  [
    'a queue that has all of its own evicts its own, although others borrow',
    [
      ...['a1', 'a2'].map((name) => job(name, 't1', -2, '1')),
      job('a3', 't1', -1, '1'),
      ...['b1', 'b2', 'b3'].map((name) => job(name, 't2', 0, '1')),
    ],
    comes('t1', 0, '2'),
    ['a1 InClusterQueue', 'a2 InClusterQueue'],
  ],
  [
    'of two resources as of one',
    [
      ...['a1', 'a2'].map((name) => job(name, 't1', -2, { cpu: '1', memory: '1' })),
      job('a3', 't1', -1, { cpu: '1', memory: '1' }),
      ...['b1', 'b2', 'b3'].map((name) => job(name, 't2', 0, { cpu: '1', memory: '1' })),
    ],
    comes('t1', 0, { cpu: '2', memory: '2' }),
    ['a1 InClusterQueue', 'a2 InClusterQueue'],
  ],
  [
    'one of the two is enough for that',
    [
      ...['a1', 'a2'].map((name) => job(name, 't1', -2, '1')),
      job('a3', 't1', -1, '1'),
      ...['b1', 'b2', 'b3'].map((name) => job(name, 't2', 0, '1')),
    ],
    comes('t1', 0, { cpu: '2', memory: '2' }),
    ['a1 InClusterQueue', 'a2 InClusterQueue'],
  ],
  [
    'a queue that has not all of its own evicts a borrower for that, and one of its own for the rest',
    [job('a1', 't1', -1, '1'), ...['b1', 'b2', 'b3', 'b4'].map((name) => job(name, 't2', 0, '1')), job('b5', 't2', -1, '1')],
    comes('t1', 0, '2'),
    ['a1 InClusterQueue', 'b5 InCohortReclamation'],
  ],
];

const WHILE_BORROWING: readonly Row[] = [
  [
    'a borrower evicts a borrower of lower priority, where its queue says so',
    [job('low', 'spare-a', -1, '10'), job('small', 'spare-b', -1, '1')],
    comes('standard-a', 0, '10'),
    ['low InCohortReclaimWhileBorrowing'],
  ],
  ['but none above the threshold', [job('one', 'standard-b', 1, '10')], comes('standard-a', 2, '10'), []],
  ['unless it does not borrow in the end', [job('one', 'standard-b', 1, '13')], comes('standard-a', 2, '1'), ['one InCohortReclamation']],
  ['that says nothing of its own queue', [job('own', 'standard-a', 1, '13')], comes('standard-a', 2, '1'), []],
  [
    'its own queue is what is left where it borrows and nobody is below the threshold',
    [
      job('big', 'standard-a', 1, '10'),
      job('small', 'standard-a', 1, '1'),
      job('own', 'standard-b', 1, '1'),
      job('own-high', 'standard-b', 2, '1'),
    ],
    comes('standard-b', 3, '1'),
    ['own InClusterQueue'],
  ],
  [
    'others below the threshold go first, then its own',
    [
      job('own-high', 'standard-b', 2, '10'),
      job('own-mid', 'standard-b', 1, '1'),
      job('low', 'spare-a', -1, '1'),
      job('lower', 'spare-a', -2, '1'),
    ],
    comes('standard-b', 2, '2'),
    ['lower InCohortReclaimWhileBorrowing', 'own-mid InClusterQueue'],
  ],
];

const bothWays: QueueOf['preemption'] = { withinClusterQueue: LOWER, reclaimWithinCohort: 'Any' };
/** `in-c` and `beside` are of cohort c, which is below r; `far` is of r. */
const TREE: Readonly<Record<string, QueueOf>> = {
  'in-c': { cohort: 'c', quota: { cpu: '0' }, preemption: bothWays },
  beside: { cohort: 'c', quota: { cpu: '0' }, preemption: bothWays },
  far: { cohort: 'r', quota: { cpu: '0' }, preemption: bothWays },
  'far-own': { cohort: 'r', quota: { cpu: '2' }, preemption: bothWays },
};
const treeWith = (inC: QueueOf): Readonly<Record<string, QueueOf>> => ({ ...TREE, 'in-c': { cohort: 'c', quota: { cpu: '0' }, ...inC } });
const cohortsWith = (c: string, r?: string) => [
  aCohort('r', undefined, r === undefined ? undefined : { cpu: r }),
  aCohort('c', 'r', { cpu: c }),
];
const borrowingToZero = { preemption: { ...bothWays, borrowWithinCohort: toZero } };
const withoutOwn = (queues: Readonly<Record<string, QueueOf>>) =>
  Object.fromEntries(Object.entries(queues).filter(([name]) => name !== 'far-own'));

const IN_A_TREE: readonly Situation[] = [
  {
    name: 'who is nearer to the quota gets it, also from equals',
    setting: { queues: withoutOwn(TREE), cohorts: cohortsWith('2'), admitted: [job('far', 'far', 0, '2')] },
    incoming: comes('in-c', 0, '2'),
    victims: ['far InCohortReclamation'],
  },
  {
    name: 'a queue within its own quota is spared, however low the priority there',
    setting: { queues: TREE, cohorts: cohortsWith('2'), admitted: [job('own', 'far-own', -10, '2'), job('far', 'far', 0, '2')] },
    incoming: comes('in-c', 0, '2'),
    victims: ['far InCohortReclamation'],
  },
  {
    name: 'several give back what they have from farther away',
    setting: { queues: withoutOwn(TREE), cohorts: cohortsWith('2'), admitted: [job('one', 'far', 1, '1'), job('two', 'far', 2, '1')] },
    incoming: comes('in-c', 0, '2'),
    victims: ['one InCohortReclamation', 'two InCohortReclamation'],
  },
  {
    name: 'a borrower beside it goes by priority, and then one of its own queue',
    setting: {
      queues: withoutOwn(treeWith(borrowingToZero)),
      cohorts: cohortsWith('3'),
      admitted: [job('above', 'beside', 1, '1'), job('below', 'beside', 0, '1'), job('own', 'in-c', -1, '1')],
    },
    incoming: comes('in-c', 1, '2'),
    victims: ['below InCohortReclaimWhileBorrowing', 'own InClusterQueue'],
  },
  {
    name: 'one from farther away goes before one of its own queue, whatever the priorities',
    setting: { queues: withoutOwn(TREE), cohorts: cohortsWith('2'), admitted: [job('far', 'far', 1, '1'), job('own', 'in-c', -2, '1')] },
    incoming: comes('in-c', 0, '1'),
    victims: ['far InCohortReclamation'],
  },
  {
    name: 'where those farther away keep within their quota, one beside it goes by priority',
    setting: {
      queues: treeWith(borrowingToZero),
      cohorts: cohortsWith('2'),
      admitted: [job('far', 'far-own', -10, '2'), job('near', 'beside', -1, '2')],
    },
    incoming: comes('in-c', 0, '2'),
    victims: ['near InCohortReclaimWhileBorrowing'],
  },
  {
    name: 'what fits the quota of the queue itself is got back from near and far',
    setting: {
      queues: withoutOwn(treeWith({ quota: { cpu: '4' }, preemption: bothWays })),
      cohorts: cohortsWith('2'),
      admitted: [job('far', 'far', 10, '3'), job('near', 'beside', 10, '3')],
    },
    incoming: comes('in-c', 0, '4'),
    victims: ['far InCohortReclamation', 'near InCohortReclamation'],
  },
  {
    name: 'one from farther away and one beside it',
    setting: {
      queues: withoutOwn(treeWith({ preemption: { ...bothWays, reclaimWithinCohort: LOWER, borrowWithinCohort: toZero } })),
      cohorts: cohortsWith('4', '1'),
      admitted: [job('far', 'far', -1, '2'), job('near', 'beside', -1, '1'), job('above', 'far', 1, '2')],
    },
    incoming: comes('in-c', 0, '3'),
    victims: ['far InCohortReclamation', 'near InCohortReclaimWhileBorrowing'],
  },
  {
    name: 'one from farther away and one of its own queue',
    setting: {
      queues: withoutOwn(treeWith({ preemption: { ...bothWays, reclaimWithinCohort: LOWER, borrowWithinCohort: toZero } })),
      cohorts: cohortsWith('4', '1'),
      admitted: [job('far', 'far', -1, '2'), job('own', 'in-c', -1, '1'), job('above', 'far', 1, '2')],
    },
    incoming: comes('in-c', 0, '3'),
    victims: ['far InCohortReclamation', 'own InClusterQueue'],
  },
  {
    name: 'of those who borrow the lowest priority goes, not the lowest of all',
    setting: {
      queues: TREE,
      cohorts: cohortsWith('3'),
      admitted: [job('eight', 'far', 8, '1'), job('nine', 'far', 9, '1'), job('ten', 'far', 9, '1'), job('own', 'far-own', -2, '2')],
    },
    incoming: comes('in-c', 0, '1'),
    victims: ['eight InCohortReclamation'],
  },
  {
    name: 'a cohort that keeps within its quota is spared as a whole',
    setting: {
      queues: { ...withoutOwn(TREE), away: { cohort: 'o', quota: { cpu: '0' }, preemption: bothWays } },
      cohorts: [...cohortsWith('2'), aCohort('o', 'r', { cpu: '2' })],
      admitted: [job('one', 'away', -10, '1'), job('two', 'away', -10, '1'), job('near', 'beside', 0, '2')],
    },
    incoming: comes('in-c', 0, '2'),
    victims: [],
  },
  {
    name: 'of two resources both must be nearer',
    setting: {
      queues: Object.fromEntries(['in-c', 'beside', 'far'].map((name) => [name, { ...TREE[name], quota: { cpu: '0', memory: '0' } }])),
      cohorts: [aCohort('r', undefined, { cpu: '3' }), aCohort('c', 'r', { cpu: '4', memory: '4Gi' })],
      admitted: [job('far', 'far', 0, { cpu: '3', memory: '1Gi' }), job('near', 'beside', -2, { cpu: '1', memory: '3Gi' })],
    },
    incoming: comes('in-c', -2, { cpu: '2', memory: '1Gi' }),
    victims: ['far InCohortReclamation'],
  },
  {
    name: 'one that leaves anyway goes before all others',
    setting: {
      queues: withoutOwn(treeWith(borrowingToZero)),
      cohorts: cohortsWith('2'),
      admitted: [job('far', 'far', -10, '1'), job('leaving', 'beside', -1, '1', { leaving: true })],
    },
    incoming: comes('in-c', 0, '1'),
    victims: ['leaving InCohortReclaimWhileBorrowing'],
  },
  {
    name: 'what the queue keeps from lending is its own',
    setting: {
      queues: withoutOwn(treeWith({ quota: { cpu: '3-2' }, preemption: bothWays })),
      cohorts: cohortsWith('2'),
      admitted: [job('far', 'far', 0, '4')],
    },
    incoming: comes('in-c', -2, '5'),
    victims: ['far InCohortReclamation'],
  },
  {
    name: 'through cohorts that are three below one another, and no farther than needed in any of them',
    setting: {
      queues: Object.fromEntries(
        [
          ['q1', 'c12'],
          ['q2', 'c23'],
          ['q3', 'c22'],
          ['q4', 'c32'],
          ['q5', 'c31'],
        ].map(([name, cohort]) => [name, { cohort, quota: { cpu: '0' }, preemption: bothWays }]),
      ),
      cohorts: [
        aCohort('r'),
        ...[
          ['c11', 'r'],
          ['c12', 'r'],
          ['c21', 'c11'],
          ['c22', 'c11'],
          ['c23', 'c11'],
          ['c31', 'c21'],
          ['c32', 'c21'],
        ].map(([name = '', parent]) => aCohort(name, parent, { cpu: '4' })),
      ],
      admitted: [
        job('b1', 'q1', -6, '4'),
        job('b2', 'q1', -5, '4'),
        job('b3', 'q2', -9, '4'),
        job('b4', 'q2', -10, '4'),
        job('b5', 'q3', -4, '4'),
        job('b6', 'q3', -3, '3'),
        job('b7', 'q4', 4, '2'),
        job('b8', 'q4', 2, '3'),
      ],
    },
    incoming: comes('q5', -2, '7'),
    victims: ['b1 InCohortReclamation', 'b4 InCohortReclamation'],
  },
  {
    name: 'from one end of the tree to the other',
    setting: {
      queues: {
        left: { cohort: 'l', quota: { cpu: '10' }, preemption: { reclaimWithinCohort: 'Any' } },
        right: { cohort: 'g', quota: { cpu: '0' } },
      },
      cohorts: [aCohort('l', 'root'), aCohort('g', 'root')],
      admitted: [job('far', 'right', 0, '5')],
    },
    incoming: comes('left', 0, '8'),
    victims: ['far InCohortReclamation'],
  },
];

export const SITUATIONS: readonly Situation[] = [
  ...[...IN_ONE_QUEUE, ...IN_A_COHORT, ...WHILE_BORROWING].map(([name, admitted, comesNow, victims]) => ({
    name,
    setting: { queues: QUEUES, admitted },
    incoming: comesNow,
    victims,
  })),
  ...IN_A_TREE,
];
