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
])('%s', (_, cycle, outcome) => {
  expect(decided(cycle)).toEqual(outcome);
});
