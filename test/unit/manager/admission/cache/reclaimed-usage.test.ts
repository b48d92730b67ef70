/** Goal: usage is what records and statuses say now, however it came to that, and whoever counts it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAdmissionCache, type AdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { flavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { clusterHolder } from '../../../../../manager/admission/quota/usage.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCluster, aClusterQueue, aFlavor, aWorkload, objects } from '../setup.ts';

const QUEUES = ['one', 'two'];
type Setup = {
  readonly keeping: boolean;
  readonly there: readonly string[];
  readonly lends: boolean;
  readonly startsWithin: string;
};
const SETUP: Setup = { keeping: false, there: QUEUES, lends: true, startsWithin: '10m' };
const setup = ({ keeping, there, lends, startsWithin }: Setup) =>
  buildQueueingSetup(
    objects({
      clusterQueues: there.map((name) => {
        const reclaimablePods = keeping && name === 'one' ? 'Keep' : 'Reclaim';
        const queue = aClusterQueue(name, { default: '99' }, { cohortName: 'all', reclaimablePods, startTimeout: startsWithin });
        const resources = [{ name: 'cpu', nominalQuota: '2', ...(lends ? {} : { lendingLimit: '1' }) }];
        return {
          ...queue,
          spec: { ...queue.spec, resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources }] }] },
        };
      }),
      localQueues: [
        { metadata: { ...aFlavor('main').metadata, namespace: 'team' }, spec: { clusterQueue: 'one', priorityBounds: { max: 9 } } },
      ],
    }),
  );

const usageOf = (cache: AdmissionCache) => [
  cache.usage().get('Cohort/all', flavorResource('default', 'cpu')),
  ...QUEUES.map((name) => cache.usage().get(cache.queueing().tree.clusterQueues.get(name)?.id ?? '', flavorResource('default', 'cpu'))),
  ...['eu', 'us'].flatMap((name) => ['cpu', 'pods'].map((resource) => cache.usage().get(clusterHolder(name), resource))),
];

const clusters = (reachableSinceMs: number) => [aCluster('eu', { reachableSinceMs }), aCluster('us')];
const ordersOf = (cache: AdmissionCache) =>
  QUEUES.map((name) => cache.admitted.of(name).map(({ reservation, ...rest }) => [nameOf(reservation), rest]));
const startsOf = (cache: AdmissionCache) =>
  cache.starts
    .overdue(Number.POSITIVE_INFINITY)
    .found.map(({ reservation, due }) => `${nameOf(reservation)} ${due.dueMs}`)
    .toSorted();
const nameOf = ({ workload }: Reservation): string => workload.name;

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
  fc.record({
    kind: fc.constant('Setup' as const),
    keeping: fc.boolean(),
    there: fc.subarray([...QUEUES]),
    lends: fc.boolean(),
    startsWithin: fc.constantFrom('10m', '20m'),
  }),
  fc.record({ kind: fc.constant('Contact' as const), sinceMs: fc.constantFrom(0, Date.parse('2026-01-01T01:00:00Z')) }),
  fc.record({ kind: fc.constant('Time' as const), visits: fc.integer({ min: 0, max: 2 }) }),
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
  return [aWorkload(name, {}, { requests, podsNeeded, phase: 'Admitted', priorityWish: { annotated: pods } }), record];
}

test('a cache that has seen it all counts what one counts that sees the end alone, and no more than was admitted', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 30 }), (steps) => {
      const seen = createAdmissionCache(setup(SETUP));
      seen.setClusters(clusters(0));
      const last = new Map<string, [Workload, AdmissionRecord]>();
      let [world, sinceMs] = [SETUP, 0];
      for (const step of steps) {
        if (step.kind === 'Placed') {
          const [workload, record] = placed(step);
          last.set(step.name, [workload, record]);
          seen.admit(workload, record);
        } else if (step.kind === 'Gone') {
          last.delete(step.name);
          seen.forget(`team/${step.name}`);
        } else if (step.kind === 'Setup') {
          world = step;
          seen.setQueueing(setup(world));
        } else if (step.kind === 'Contact') {
          ({ sinceMs } = step);
          seen.setClusters(clusters(sinceMs));
        } else {
          let { visits } = step;
          seen.continueVisits(() => visits-- === 0);
        }
      }
      expect(seen.continueVisits(() => false)).toBe(false);
      const fresh = createAdmissionCache(setup(world));
      fresh.setClusters(clusters(sinceMs));
      for (const [workload, record] of last.values()) fresh.admit(workload, record);
      expect(usageOf(seen)).toEqual(usageOf(fresh));
      expect(ordersOf(seen)).toEqual(ordersOf(fresh));
      expect(startsOf(seen)).toEqual(startsOf(fresh));
      expect([...seen.mismatched()]).toEqual([]);
      const admitted = [...last.values()].reduce((sum, [, { requests }]) => sum + (parseRequests(requests).get('pods') ?? 0), 0);
      const [pods, otherPods] = [usageOf(seen)[4] ?? 0, usageOf(seen)[6] ?? 0];
      expect(pods + otherPods).toBeLessThanOrEqual(admitted);
    }),
  );
});
