/** Several that preempt in one cycle. */
import { expect, test } from 'vitest';
import { decided, type Cycle } from './cycle.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';

const preemption = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;
const half = { cohort: 'all', groups: [{ fast: { cpu: '6' }, slow: { cpu: '6' } }], preemption } as const;

test.each<[string, Cycle, readonly string[]]>([
  [
    'whose victim another has taken looks for others in the flavor that it was nominated for, and in no other',
    {
      queues: { busy: half, idle: half },
      cohorts: { all: {} },
      fairSharing: { preemptionStrategies: Object.values(FairStrategy) },
      running: [
        { name: 'in-fast', queue: 'busy', requests: { cpu: '12' }, flavor: 'fast' },
        { name: 'in-slow', queue: 'busy', requests: { cpu: '12' }, flavor: 'slow' },
      ],
      waiting: [
        { name: 'urgent', queue: 'busy', requests: { cpu: '12' }, priority: 5 },
        { name: 'fair', queue: 'idle', requests: { cpu: '12' }, priority: 4 },
      ],
    },
    ['fair makes room', 'in-fast stops (InCohortFairSharing)', 'urgent waits'],
  ],
  [
    'whose victims another has taken goes with fewer pods, where that is allowed, and not with as many as it was nominated with',
    {
      queues: {
        first: { cohort: 'all', quota: { cpu: '4' }, preemption: { reclaimWithinCohort: 'LowerPriority' } },
        second: { cohort: 'all', quota: { cpu: '4' }, preemption: { reclaimWithinCohort: 'LowerPriority' } },
        borrower: { cohort: 'all', quota: { cpu: '0' } },
      },
      cohorts: { all: {} },
      running: [
        { name: 'a', queue: 'borrower', requests: { cpu: '2' } },
        { name: 'b', queue: 'borrower', requests: { cpu: '1' } },
        { name: 'important', queue: 'borrower', requests: { cpu: '5' }, priority: 10 },
      ],
      waiting: [
        { name: 'urgent', queue: 'first', requests: { cpu: '1' }, pods: 2, priority: 5 },
        { name: 'later', queue: 'second', requests: { cpu: '1' }, pods: 4, minPods: 1, priority: 4 },
      ],
    },
    ['a stops (InCohortReclamation)', 'b stops (InCohortReclamation)', 'later makes room', 'urgent makes room'],
  ],
])('%s', (_, cycle, outcome) => {
  expect(decided(cycle)).toEqual(outcome);
});
