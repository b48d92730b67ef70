/** Which flavor is taken: by quota, by what nodes are like, and by what the queue says of borrowing and preempting in the first. */
import { describe, expect, test } from 'vitest';
import { decided, type Cycle } from './cycle.ts';
import type { QueueOf } from '../preemption/preemption-world.ts';

type Row = readonly [string, Cycle, readonly string[]];
const wants = (name: string, queue: string, cpu: string, priority = 0) => ({ name, queue, requests: { cpu }, priority });
const has = (name: string, queue: string, cpu: string, flavor = 'fast', priority = 0) => ({
  name,
  queue,
  requests: { cpu },
  flavor,
  priority,
});
const two = (fast: string, slow: string, rest: Partial<QueueOf> = {}): QueueOf => ({
  groups: [{ fast: { cpu: fast }, slow: { cpu: slow } }],
  ...rest,
});
const evicting: QueueOf['preemption'] = { withinClusterQueue: 'LowerPriority' };

const ORDER: readonly Row[] = [
  ['the first that has room', { queues: { a: two('4', '4') }, waiting: [wants('one', 'a', '3')] }, ['one runs on fast']],
  [
    'the next, where the first is full',
    { queues: { a: two('4', '4') }, running: [has('old', 'a', '2')], waiting: [wants('one', 'a', '3')] },
    ['one runs on slow'],
  ],
  ['one whole, not parts of two', { queues: { a: two('4', '4') }, waiting: [wants('one', 'a', '6')] }, ['one waits']],
  [
    'resources of one group are of one flavor',
    {
      queues: { a: { groups: [{ fast: { cpu: '8', memory: '2Gi' }, slow: { cpu: '8', memory: '8Gi' } }] } },
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '4', memory: '4Gi' } }],
    },
    ['one runs on slow'],
  ],
  [
    'those of different groups each of their own',
    {
      queues: {
        a: {
          groups: [
            { fast: { cpu: '2' }, slow: { cpu: '8' } },
            { big: { gpu: '1' }, huge: { gpu: '4' } },
          ],
        },
      },
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '4', gpu: '1' } }],
    },
    ['one runs on slow and big'],
  ],
  [
    'where one group has no room, nothing of the others is taken',
    {
      queues: { a: { groups: [{ fast: { cpu: '8' } }, { big: { gpu: '1' } }] } },
      running: [{ name: 'old', queue: 'a', requests: { gpu: '1' }, flavor: 'big' }],
      waiting: [{ name: 'one', queue: 'a', requests: { cpu: '4', gpu: '1' } }],
    },
    ['one waits'],
  ],
];

const tolerating = { tolerations: [{ key: 'spot', operator: 'Exists' }] };
const spot = { fast: { nodeTaints: [{ key: 'spot', value: 'yes', effect: 'NoSchedule' as const }] } };
const typed = { fast: { nodeLabels: { type: 'fast' } }, slow: { nodeLabels: { type: 'slow' } } };
const wishing = (spec: Cycle['waiting'][number]['spec']) => ({ ...wants('one', 'a', '1'), ...(spec === undefined ? {} : { spec }) });
const affinity = (key: string, values: readonly string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [...values] }] }],
      },
    },
  },
});
const NODES: readonly Row[] = [
  [
    'a taint that is not tolerated is passed over',
    { queues: { a: two('4', '4') }, flavors: spot, waiting: [wishing(undefined)] },
    ['one runs on slow'],
  ],
  [
    'one that is tolerated is no obstacle',
    { queues: { a: two('4', '4') }, flavors: spot, waiting: [wishing(tolerating)] },
    ['one runs on fast'],
  ],
  [
    'what the flavor itself lets its pods tolerate, neither',
    { queues: { a: two('4', '4') }, flavors: { fast: { ...spot.fast, ...tolerating } as never }, waiting: [wishing(undefined)] },
    ['one runs on fast'],
  ],
  [
    'a node selector names the flavor',
    { queues: { a: two('4', '4') }, flavors: typed, waiting: [wishing({ nodeSelector: { type: 'slow' } })] },
    ['one runs on slow'],
  ],
  [
    'labels of which no flavor says anything do not count',
    { queues: { a: two('4', '4') }, flavors: typed, waiting: [wishing({ nodeSelector: { disk: 'ssd' } })] },
    ['one runs on fast'],
  ],
  [
    'required affinity names it as well',
    { queues: { a: two('4', '4') }, flavors: typed, waiting: [wishing(affinity('type', ['slow', 'other']))] },
    ['one runs on slow'],
  ],
  [
    'where it names none, the Job waits, whatever is free',
    { queues: { a: two('4', '4') }, flavors: typed, waiting: [wishing(affinity('type', ['other']))] },
    ['one waits'],
  ],
  [
    'nobody is preempted in a flavor whose nodes are wrong',
    {
      queues: { a: two('4', '4', { preemption: evicting, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } }) },
      flavors: typed,
      running: [has('in-fast', 'a', '4', 'fast', -1), has('in-slow', 'a', '4', 'slow', -1)],
      waiting: [{ ...wants('one', 'a', '4'), spec: { nodeSelector: { type: 'slow' } } }],
    },
    ['in-slow stops (InClusterQueue)', 'one makes room'],
  ],
];

const lender = two('4', '4', { cohort: 'x' });
const BORROWING: readonly Row[] = [
  [
    'borrowing in the first is preferred to the next, where nothing is said',
    { queues: { a: two('2', '4', { cohort: 'x' }), b: lender }, waiting: [wants('one', 'a', '4')] },
    ['one runs on fast'],
  ],
  [
    'TryNextFlavor goes on to one where it need not borrow',
    {
      queues: { a: two('2', '4', { cohort: 'x', flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } }), b: lender },
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on slow'],
  ],
  [
    'and comes back to the first, where it would have to borrow in all',
    {
      queues: { a: two('2', '3', { cohort: 'x', flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } }), b: lender },
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on fast'],
  ],
  [
    'or where the next has no room at all',
    {
      queues: {
        a: two('2', '4', { cohort: 'x', flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } }),
        b: two('4', '0', { cohort: 'x' }),
      },
      running: [has('old', 'a', '4', 'slow')],
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on fast'],
  ],
  [
    'a limit on borrowing in the first makes it the next',
    { queues: { a: two('2+1', '4', { cohort: 'x' }), b: lender }, waiting: [wants('one', 'a', '4')] },
    ['one runs on slow'],
  ],
  [
    'so does a limit on lending',
    { queues: { a: two('2', '4', { cohort: 'x' }), b: two('4-1', '4', { cohort: 'x' }) }, waiting: [wants('one', 'a', '4')] },
    ['one runs on slow'],
  ],
  [
    'with TryNextFlavor the one that is borrowed from nearer is preferred',
    {
      queues: {
        a: { cohort: 'low', groups: [{ fast: { cpu: '0' }, slow: { cpu: '0' } }], flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } },
      },
      cohorts: { top: { groups: [{ fast: { cpu: '4' } }] }, low: { parent: 'top', groups: [{ slow: { cpu: '4' } }] } },
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on slow'],
  ],
];

const taking: QueueOf['preemption'] = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'LowerPriority' };
const PREEMPTING: readonly Row[] = [
  [
    'nobody is preempted where the next flavor is free, where nothing is said',
    {
      queues: { a: two('4', '4', { preemption: evicting }) },
      running: [has('low', 'a', '4', 'fast', -1)],
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on slow'],
  ],
  [
    'MayStopSearch takes the first all the same',
    {
      queues: { a: two('4', '4', { preemption: evicting, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } }) },
      running: [has('low', 'a', '4', 'fast', -1)],
      waiting: [wants('one', 'a', '4')],
    },
    ['low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'unless there is nobody to preempt in it',
    {
      queues: { a: two('4', '4', { preemption: evicting, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } }) },
      running: [has('equal', 'a', '4')],
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on slow'],
  ],
  [
    'where both would need it, the first',
    {
      queues: { a: two('4', '4', { preemption: evicting }) },
      running: [has('low', 'a', '4', 'fast', -1), has('lower', 'a', '4', 'slow', -2)],
      waiting: [wants('one', 'a', '4')],
    },
    ['low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'but rather the next, where it only takes back its own there',
    {
      queues: { a: two('4', '4', { cohort: 'x', preemption: taking }), b: two('0', '0', { cohort: 'x' }) },
      running: [has('low', 'a', '4', 'fast', -1), has('guest', 'b', '4', 'slow', -1)],
      waiting: [wants('one', 'a', '4')],
    },
    ['guest stops (InCohortReclamation)', 'one makes room'],
  ],
  [
    'and not where it would have to do both there',
    {
      queues: { a: two('4', '4', { cohort: 'x', preemption: taking }), b: two('0', '0', { cohort: 'x' }) },
      running: [has('low', 'a', '4', 'fast', -1), has('low-too', 'a', '2', 'slow', -1), has('guest', 'b', '2', 'slow', -1)],
      waiting: [wants('one', 'a', '4')],
    },
    ['low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'borrowing in the next is preferred to preempting in the first, where nothing is said',
    {
      queues: { a: two('4', '0', { cohort: 'x', preemption: evicting, flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } }), b: lender },
      running: [has('low', 'a', '4', 'fast', -1), has('theirs', 'b', '4', 'fast')],
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on slow'],
  ],
  [
    'PreemptionOverBorrowing turns that round',
    {
      queues: {
        a: two('4', '0', {
          cohort: 'x',
          preemption: evicting,
          flavorFungibility: { whenCanBorrow: 'TryNextFlavor', whenCanPreempt: 'TryNextFlavor', preference: 'PreemptionOverBorrowing' },
        }),
        b: lender,
      },
      running: [has('low', 'a', '4', 'fast', -1), has('theirs', 'b', '4', 'fast')],
      waiting: [wants('one', 'a', '4')],
    },
    ['low stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'but not where there is nobody to preempt',
    {
      queues: {
        a: two('4', '0', {
          cohort: 'x',
          preemption: evicting,
          flavorFungibility: { whenCanBorrow: 'TryNextFlavor', whenCanPreempt: 'TryNextFlavor', preference: 'PreemptionOverBorrowing' },
        }),
        b: lender,
      },
      running: [has('equal', 'a', '4'), has('theirs', 'b', '4', 'fast')],
      waiting: [wants('one', 'a', '4')],
    },
    ['one runs on slow'],
  ],
];

describe.each([
  ['in order', ORDER],
  ['by its nodes', NODES],
  ['borrowed', BORROWING],
  ['by preemption', PREEMPTING],
])('a flavor %s', (_, rows) => {
  test.each(rows)('%s', (__, cycle, outcome) => {
    expect(decided(cycle)).toEqual(outcome);
  });
});
