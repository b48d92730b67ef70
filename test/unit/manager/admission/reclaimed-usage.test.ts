/** Goal: usage is what records and statuses say now, however it came to that, and whoever counts it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAdmissionCache, type AdmissionCache } from '../../../../manager/admission/admission-cache.ts';
import { flavorResource } from '../../../../manager/admission/quota-tree.ts';
import { buildQueueingSetup } from '../../../../manager/admission/snapshot.ts';
import { clusterHolder } from '../../../../manager/admission/usage.ts';
import type { Workload } from '../../../../manager/admission/workload.ts';
import { parseRequests } from '../../../../manager/api/amount.ts';
import type { AdmissionRecord } from '../../../../manager/api/records.ts';
import { aRecord } from '../../../support/jobs.ts';
import { aClusterQueue, aWorkload, objects } from './setup.ts';

const QUEUES = ['one', 'two'];
const setup = (keeping: boolean) =>
  buildQueueingSetup(
    objects({
      clusterQueues: QUEUES.map((name) =>
        aClusterQueue(name, { default: '99' }, { cohortName: 'all', reclaimablePods: keeping && name === 'one' ? 'Keep' : 'Reclaim' }),
      ),
    }),
  );

const usageOf = (cache: AdmissionCache) => [
  ...QUEUES.map((name) => cache.usage().get(cache.queueing().tree.clusterQueues.get(name)?.id ?? '', flavorResource('default', 'cpu'))),
  ...['eu', 'us'].flatMap((name) => ['cpu', 'pods'].map((resource) => cache.usage().get(clusterHolder(name), resource))),
];

const aPlaced = fc.record({
  kind: fc.constant('Placed' as const),
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  queue: fc.constantFrom(...QUEUES),
  cluster: fc.constantFrom('eu', 'us'),
  pods: fc.integer({ min: 1, max: 8 }),
  admittedPods: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  podsNeeded: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
});
const aStep = fc.oneof(
  aPlaced,
  fc.record({ kind: fc.constant('Gone' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ kind: fc.constant('Keeps' as const), keeping: fc.boolean() }),
);

function placed({
  name,
  queue,
  cluster,
  pods,
  admittedPods,
  podsNeeded,
}: typeof aPlaced extends fc.Arbitrary<infer P> ? P : never): [Workload, AdmissionRecord] {
  const count = Math.min(pods, admittedPods ?? pods);
  const requests = parseRequests({ cpu: `${pods * 300}m`, pods: String(pods) });
  const parallelism = count < pods ? { parallelism: count } : {};
  const amounts = { cpu: `${count * 300}m`, pods: String(count) };
  const record = aRecord({ clusterQueue: queue, cluster, flavors: { cpu: 'default' }, requests: amounts, ...parallelism });
  return [aWorkload(name, {}, { requests, podsNeeded, phase: 'Admitted' }), record];
}

test('a cache that has seen it all counts what one counts that sees the end alone, and no more than was admitted', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 30 }), (steps) => {
      const seen = createAdmissionCache(setup(false));
      const last = new Map<string, [Workload, AdmissionRecord]>();
      let keeping = false;
      for (const step of steps) {
        if (step.kind === 'Placed') {
          const [workload, record] = placed(step);
          last.set(step.name, [workload, record]);
          seen.admit(workload, record);
        } else if (step.kind === 'Gone') {
          last.delete(step.name);
          seen.forget(`team/${step.name}`);
        } else {
          keeping = step.keeping;
          seen.setQueueing(setup(keeping));
        }
      }
      const fresh = createAdmissionCache(setup(keeping));
      for (const [workload, record] of last.values()) fresh.admit(workload, record);
      expect(usageOf(seen)).toEqual(usageOf(fresh));
      expect([...seen.mismatched()]).toEqual([]);
      const admitted = [...last.values()].reduce((sum, [, { requests }]) => sum + (parseRequests(requests).get('pods') ?? 0), 0);
      const [pods, otherPods] = [usageOf(seen)[3] ?? 0, usageOf(seen)[5] ?? 0];
      expect(pods + otherPods).toBeLessThanOrEqual(admitted);
    }),
  );
});
