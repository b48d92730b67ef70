/** Goal: a Job's condition and `explain` give the same reason, whichever way the Job came to wait. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explain } from '../../../../../manager/insight/explain/explain.ts';
import { waitingReason } from '../../../../../manager/admission/queues/waiting-reason.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aWorld, NOW_MS } from './explained-world.ts';
import { anOrderWorld } from '../../admission/scheduling/order-world.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';

const JOB = { metadata: { name: 'x' }, spec: {} } as unknown as Job;

const aQueueOf = fc.record({
  quota: fc.integer({ min: 0, max: 6 }),
  strict: fc.boolean(),
  shares: fc.boolean(),
});
const aComing = fc.record({ queue: fc.integer({ min: 0, max: 1 }), cpu: fc.integer({ min: 1, max: 8 }) });
const settings = fc.record({
  queues: fc.tuple(aQueueOf, aQueueOf),
  rooms: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 2 }),
  coming: fc.array(aComing, { minLength: 1, maxLength: 7 }),
});

test('the condition of every Job that waits and its explanation give the same reason', () => {
  let compared = 0;
  fc.assert(
    fc.property(settings, ({ queues, rooms, coming }) => {
      const names = ['a', 'b'];
      const clusterQueues = queues.map(({ quota, strict, shares }, index) => {
        const spec: Partial<ClusterQueueSpec> = {
          ...(strict ? { queueingStrategy: 'StrictFIFO' } : {}),
          ...(shares ? { cohortName: 'all' } : {}),
        };
        return aClusterQueue(names[index] ?? '', { default: String(quota) }, spec);
      });
      const clusters = rooms.map((cpu, index) => aCluster(`c${index}`, { capacity: { cpu: String(cpu) } }));
      const yard = anOrderWorld({ clusterQueues }, clusters);
      const workloads = new Map<string, Workload>();
      for (const [index, { queue, cpu }] of coming.entries()) {
        const clusterQueue = names[queue] ?? '';
        yard.arrive(clusterQueue, `j${index}`, String(cpu), { parts: { queue: clusterQueue } });
        workloads.set(`j${index}`, aWorkload(`j${index}`, { cpu: String(cpu) }, { createdMs: index, queue: clusterQueue }));
      }
      yard.settle();
      const seen = [...workloads.values()].map((workload): Workload => {
        const reservation = yard.cache.get(workload.key);
        return reservation === undefined ? workload : { ...workload, phase: 'Admitted', record: reservation.record };
      });
      const world = aWorld(clusterQueues, clusters, seen);
      for (const workload of seen.filter(({ phase }) => phase === 'Pending')) {
        const explained = explain(world, JOB, workload);
        const told = waitingReason(yard, workload.key, NOW_MS);
        expect({ job: workload.name, reason: 'reason' in explained ? explained.reason : explained.kind }).toEqual({
          job: workload.name,
          reason: told?.reason,
        });
        compared++;
      }
    }),
    { numRuns: 60, seed: 20_261_122 },
  );
  expect(compared).toBeGreaterThan(0);
});
