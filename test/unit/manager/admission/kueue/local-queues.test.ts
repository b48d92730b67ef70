/** LocalQueues of one ClusterQueue that are ordered by what they have used. */
import { expect, test } from 'vitest';
import { decided, type Cycle } from './cycle.ts';

const shared = { quota: { cpu: '8' }, preemption: { withinClusterQueue: 'LowerPriority' } } as const;
const wants = (name: string, usage: number | undefined, parts: { readonly priority?: number; readonly created?: number } = {}) => ({
  name,
  queue: 'main',
  requests: { cpu: '8' },
  ...parts,
  ...(usage === undefined ? {} : { usage }),
});
const has = (name: string, localQueue: string, priority = 0) => ({ name, queue: 'main', requests: { cpu: '4' }, localQueue, priority });

test.each<[string, Cycle, readonly string[]]>([
  [
    'the Job of the LocalQueue that has used less goes first, though it is newer',
    { queues: { main: shared }, waiting: [wants('busy', 9, { created: 1 }), wants('idle', 2, { created: 5 })] },
    ['busy is too late', 'idle runs on default'],
  ],
  [
    'and though its priority is lower',
    { queues: { main: shared }, waiting: [wants('busy', 9, { priority: 5 }), wants('idle', 2)] },
    ['busy is too late', 'idle runs on default'],
  ],
  [
    'where both have used as much, priority and age decide',
    { queues: { main: shared }, waiting: [wants('new', 3, { created: 7 }), wants('old', 3, { created: 2 })] },
    ['new is too late', 'old runs on default'],
  ],
  [
    'a LocalQueue with weight 0 comes last, also where nobody has used anything',
    {
      queues: { main: shared },
      waiting: [wants('weightless', Number.POSITIVE_INFINITY, { created: 1 }), wants('other', 0, { created: 5 })],
    },
    ['other runs on default', 'weightless is too late'],
  ],
  [
    'where usage orders nothing, the older goes first, whatever was used',
    { queues: { main: shared }, waiting: [wants('new', undefined, { created: 7 }), wants('old', undefined, { created: 2 })] },
    ['new is too late', 'old runs on default'],
  ],
  [
    'a Job of the LocalQueue that has used most gives its place up first',
    {
      queues: { main: shared },
      used: { busy: 9, idle: 2 },
      running: [has('of-idle', 'idle', -5), has('of-busy', 'busy', -1)],
      waiting: [{ ...wants('one', undefined), requests: { cpu: '4' } }],
    },
    ['of-busy stops (InClusterQueue)', 'one makes room'],
  ],
  [
    'and nobody whose priority is not lower, whatever its LocalQueue has used',
    {
      queues: { main: shared },
      used: { busy: 9, idle: 2 },
      running: [has('of-idle', 'idle', -5), has('of-busy', 'busy')],
      waiting: [{ ...wants('one', undefined), requests: { cpu: '4' } }],
    },
    ['of-idle stops (InClusterQueue)', 'one makes room'],
  ],
])('%s', (_, cycle, outcome) => {
  expect(decided(cycle)).toEqual(outcome);
});
