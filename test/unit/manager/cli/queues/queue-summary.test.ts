import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import { queueSummary, queueTable } from '../../../../../manager/cli/queues/queue-summary.ts';
import { formatTable } from '../../../../../manager/cli/text-table.ts';

const quota = (name: string, cpu: string, memory: string) => ({
  name,
  resources: [
    { name: 'cpu', nominalQuota: cpu },
    { name: 'memory', nominalQuota: memory },
  ],
});
const aQueue = (spec: object = {}, status: object = {}): ClusterQueue =>
  ({
    metadata: { name: 'main' },
    spec: {
      resourceGroups: [{ coveredResources: ['cpu', 'memory'], flavors: [quota('spot', '4', '8Gi'), quota('reserved', '1500m', '8Gi')] }],
      ...spec,
    },
    status: {
      pendingWorkloads: 3,
      admittedWorkloads: 2,
      flavorsUsage: [{ name: 'spot', resources: [{ name: 'cpu', total: '2500m' }] }],
      ...status,
    },
  }) as unknown as ClusterQueue;

const lines = (...queues: ClusterQueue[]): string[] => formatTable(queueTable(queues.map(queueSummary)), 80);

test('what is used of a resource is summed up over flavors', () => {
  expect(lines(aQueue({ cohortName: 'lab' }))).toEqual([
    'NAME  COHORT  WAITING  ADMITTED  CPU          MEMORY',
    'main  lab     3        2         2500m/5500m  0/16Gi',
  ]);
});

describe('a queue that admits nothing says why', () => {
  test.each([
    [{ stopPolicy: 'Hold' }, {}, 'stopped (stopPolicy: Hold)'],
    [{}, { conditions: [{ type: 'Active', status: 'False', message: 'flavor spot does not exist' }] }, 'flavor spot does not exist'],
  ])('%j', (spec, status, problem) => {
    expect(queueSummary(aQueue(spec, status)).problem).toBe(problem);
    expect(lines(aQueue(spec, status)).join('\n')).toContain(problem);
  });
});

test('a queue without quota, status or cohort is shown, too', () => {
  const bare = { metadata: { name: 'bare' }, spec: {} } as unknown as ClusterQueue;
  expect(lines(bare, aQueue())[1]).toMatch(/^bare +- +0 +0 +- +-$/);
});
