import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { largest, nominateLargest } from '../../../../../manager/admission/scheduling/partial-admission.ts';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import { addUsage, flavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { parseRequests, type Amount } from '../../../../../manager/api/amount.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, head, queueOf } from '../setup.ts';

test('the greatest number for which something is found is found, in few tries', () => {
  const numbers = fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 1_100 }));
  fc.assert(
    fc.property(numbers, ([least, more, limit]) => {
      let tries = 0;
      const found = largest(least, least + more, (count) => {
        tries++;
        return count <= limit ? count : undefined;
      });
      expect(found).toBe(limit < least ? undefined : Math.min(limit, least + more));
      expect(tries).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(more + 1)));
    }),
  );
});

describe('a Job of eight pods that lets itself be admitted with fewer', () => {
  const wide = (parts: Partial<Workload> = {}): Workload =>
    aWorkload('wide', {}, { requests: parseRequests({ cpu: '8', pods: '8' }), minPods: 3, ...parts });
  const outcome = (used: number, workload: Workload, capacity?: Record<string, string>) => {
    const cluster = aCluster('eu', capacity === undefined ? {} : { capacity });
    const snapshot = aSnapshot([aClusterQueue('cq', { default: '10' })], [cluster]);
    addUsage(queueOf(snapshot, 'cq').node, snapshot.usage, flavorResource('default', 'cpu'), (used * 1000) as Amount);
    return schedule(snapshot, [head('cq', workload)], 0)[0];
  };

  test.each([
    [0, undefined, { cpu: '8', pods: '8' }],
    [2, undefined, { cpu: '8', pods: '8' }],
    [3, 7, { cpu: '7', pods: '7' }],
    [6, 4, { cpu: '4', pods: '4' }],
    [7, 3, { cpu: '3', pods: '3' }],
  ])('is admitted with as many as fit where %i of ten are used', (used, parallelism, requests) => {
    const decision = outcome(used, wide());
    expect(decision).toMatchObject({ kind: 'Admit', record: { requests } });
    expect(decision?.kind === 'Admit' && decision.record.parallelism).toBe(parallelism);
  });

  test('waits for all of them where the fewest do not fit', () => {
    const workload = wide();
    const decision = outcome(8, workload);
    expect(decision).toMatchObject({ kind: 'Inadmissible', reason: 'InsufficientQuota' });
    expect(decision?.head.queued.workload).toBe(workload);
  });

  test('waits until the fewest fit where all of them never can', () => {
    const workload = wide({ requests: parseRequests({ cpu: '80', pods: '80' }) });
    expect(outcome(8, workload)).toMatchObject({
      kind: 'Inadmissible',
      reason: 'InsufficientQuota',
      waitsFor: 'quota',
      head: { queued: { workload } },
    });
    expect(outcome(7, workload)).toMatchObject({ kind: 'Admit', record: { parallelism: 3 } });
  });

  test('is admitted with as many as a cluster has room for', () => {
    expect(outcome(0, wide(), { cpu: '5500m' })).toMatchObject({ kind: 'Admit', record: { cluster: 'eu', parallelism: 5 } });
  });

  test('waits where it does not say so, or needs no more than the fewest', () => {
    expect(outcome(5, wide({ minPods: undefined }))).toMatchObject({ kind: 'Inadmissible' });
    expect(outcome(8, wide({ requests: parseRequests({ cpu: '3', pods: '3' }) }))).toMatchObject({ kind: 'Inadmissible' });
  });

  test('has no claim to less than all of them while it waits', () => {
    const snapshot = aSnapshot([aClusterQueue('cq', { default: '10' })], [aCluster('eu', { capacity: { cpu: '2' } })]);
    const found = nominateLargest(snapshot, head('cq', wide()), 0);
    expect(found.head.queued.workload.admittedPods).toBeUndefined();
  });
});
