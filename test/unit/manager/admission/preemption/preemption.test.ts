import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { minus, plus, ZERO } from '../../../../../manager/api/amount.ts';
import type { AdmittedIndex } from '../../../../../manager/admission/workload/admitted-index.ts';
import { capacityOf, type ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import { compareTargets, fewestPreemptions, type Victim } from '../../../../../manager/admission/preemption/preemption.ts';
import { available, isBorrowingAny, removeUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { clusterHolder } from '../../../../../manager/admission/quota/usage.ts';
import { SITUATIONS } from './preemption-situations.ts';
import { aCohort, admittedOf, incoming, told, type Holding, type Incoming, type QueueOf, type Setting } from './preemption-world.ts';
import { aCluster } from '../setup.ts';

describe("as in Kueue's classical preemption", () => {
  test.each(SITUATIONS.map((situation) => [situation.name, situation] as const))('%s', (_, { setting, incoming: comes, victims }) => {
    expect(told(incoming(setting, comes).victims)).toEqual(victims);
  });
});

describe('who takes more than its nominal quota unless others of its queue stop', () => {
  const ofCohort = { cohort: 'all', quota: { cpu: '4' } };
  const reclaiming = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;
  const admitted: readonly Holding[] = [
    { name: 'low', queue: 'main', requests: { cpu: '2' }, priority: -1 },
    { name: 'middle', queue: 'main', requests: { cpu: '1' } },
    { name: 'borrowed', queue: 'borrower', requests: { cpu: '1' } },
    { name: 'owned', queue: 'borrower', requests: { cpu: '4' } },
  ];
  const victims = (preemption: NonNullable<QueueOf['preemption']>): readonly string[] => {
    const queues = { main: { ...ofCohort, preemption }, borrower: ofCohort };
    return told(incoming({ queues, admitted }, { queue: 'main', priority: 5, requests: { cpu: '3' } }).victims);
  };

  test('tries first to stay within it, with what others give back, where it may not preempt others to borrow', () => {
    expect(victims(reclaiming)).toEqual(['borrowed InCohortReclamation', 'low InClusterQueue']);
  });

  test('tries first to borrow where it may preempt others for that', () => {
    const borrowWithinCohort = { policy: 'LowerPriority', maxPriorityThreshold: -5 } as const;
    expect(victims({ ...reclaiming, borrowWithinCohort })).toEqual(['low InClusterQueue', 'middle InClusterQueue']);
  });
});

describe('room on the cluster where it would run', () => {
  const byPriority: QueueOf = { quota: { cpu: '10' }, preemption: { withinClusterQueue: 'LowerPriority' } };
  const four = aCluster('east', { capacity: { cpu: '4', pods: '100' } });
  const on = (cluster: string, name: string, priority: number, cpu: string, parts: Partial<Holding> = {}): Holding => ({
    name,
    queue: 'main',
    priority,
    requests: { cpu },
    cluster,
    ...parts,
  });
  const asks = (cpu: string, parts: Partial<Incoming> = {}): Incoming => ({
    queue: 'main',
    priority: 5,
    requests: { cpu },
    cluster: four,
    ...parts,
  });

  test('is made by those who run there, although quota is free', () => {
    const admitted = [on('east', 'here', 1, '4'), on('west', 'elsewhere', 0, '4')];
    expect(told(incoming({ queues: { main: byPriority }, admitted }, asks('2')).victims)).toEqual(['here InClusterQueue']);
  });

  test('is not made by those of equal priority', () => {
    expect(incoming({ queues: { main: byPriority }, admitted: [on('east', 'here', 5, '4')] }, asks('2')).victims).toBeUndefined();
  });

  test('counts whatever the flavor, for the room of a cluster is one', () => {
    const queues = { main: { ...byPriority, quota: undefined, groups: [{ default: { cpu: '10' }, spot: { cpu: '10' } }] } };
    const admitted = [on('east', 'here', 1, '4', { flavor: 'spot' })];
    expect(told(incoming({ queues: JSON.parse(JSON.stringify(queues)), admitted }, asks('2')).victims)).toEqual(['here InClusterQueue']);
  });

  test('one who runs there serves twice where quota is short, too, and goes although one elsewhere is of lower priority', () => {
    const admitted = [on('east', 'here', 1, '4'), on('west', 'elsewhere', 0, '6')];
    expect(told(incoming({ queues: { main: byPriority }, admitted }, asks('2')).victims)).toEqual(['here InClusterQueue']);
  });

  test('where those on the cluster hold too little quota, others elsewhere give the rest', () => {
    const admitted = [on('east', 'here', 1, '1'), on('east', 'other', 9, '1', { queue: 'second' }), on('west', 'elsewhere', 0, '9')];
    const queues = { main: byPriority, second: { quota: { cpu: '10' } } };
    expect(told(incoming({ queues, admitted }, asks('3')).victims)).toEqual(['elsewhere InClusterQueue', 'here InClusterQueue']);
  });

  test('where the cluster has room, quota is got back wherever it is held', () => {
    const admitted = [on('east', 'here', 1, '1'), on('west', 'elsewhere', 0, '9')];
    expect(told(incoming({ queues: { main: byPriority }, admitted }, asks('3')).victims)).toEqual(['elsewhere InClusterQueue']);
  });

  test('is got from another queue only where that borrows of the flavor', () => {
    const queues = (quota: string) => ({
      main: { cohort: 'all', quota: { cpu: '4' }, preemption: { reclaimWithinCohort: 'Any' as const } },
      other: { cohort: 'all', quota: { cpu: quota } },
    });
    const admitted = [on('east', 'theirs', 0, '3', { queue: 'other' }), on('west', 'more', 0, '1', { queue: 'other' })];
    expect(incoming({ queues: queues('8'), admitted }, asks('2')).victims).toBeUndefined();
    expect(told(incoming({ queues: queues('2'), admitted }, asks('2')).victims)).toEqual(['theirs InCohortReclamation']);
  });

  test('what leaves there anyway is waited for, and nobody else is evicted', () => {
    const admitted = [on('east', 'stops', 3, '2', { leaving: true }), on('east', 'low', 0, '2')];
    expect(told(incoming({ queues: { main: byPriority }, admitted }, asks('2')).victims)).toEqual(['stops InClusterQueue']);
  });
});

describe('of several sets the one with the least harm', () => {
  const victim = (name: string, parts: Partial<Holding> = {}): Victim => ({
    admitted: admittedOf({ name, queue: 'main', requests: { cpu: '1' }, ...parts }),
    rule: 'InClusterQueue',
  });
  test.each<[string, readonly Victim[], readonly Victim[]]>([
    ['fewer', [victim('a', { priority: 9 })], [victim('b'), victim('c')]],
    ['of lower priority', [victim('a', { priority: 1 })], [victim('b', { priority: 2 })]],
    [
      'the highest of which is lower',
      [victim('a', { priority: 2 }), victim('b', { priority: 2 })],
      [victim('c', { priority: 3 }), victim('d')],
    ],
    ['newer', [victim('a', { since: 20 })], [victim('b', { since: 10 })]],
    ['none that would not leave anyway', [victim('a', { leaving: true, priority: 9 })], [victim('b')]],
  ])('%s', (_, less, more) => {
    expect(compareTargets(less, more)).toBeLessThan(0);
    expect(compareTargets(more, less)).toBeGreaterThan(0);
    expect(fewestPreemptions([{ victims: undefined }, { victims: more }, { victims: less }])?.victims).toBe(less);
  });
  test('the first of equals', () => {
    const [first, second] = [[victim('a')], [victim('b')]];
    expect(fewestPreemptions([{ victims: first }, { victims: second }])?.victims).toBe(first);
    expect(fewestPreemptions([{ victims: undefined }])).toBeUndefined();
  });
});

describe('in any world', () => {
  const policy = fc.record({
    withinClusterQueue: fc.constantFrom('Never', 'LowerPriority', 'LowerOrNewerEqualPriority'),
    reclaimWithinCohort: fc.constantFrom('Never', 'LowerPriority', 'Any'),
    borrowWithinCohort: fc.record(
      { policy: fc.constantFrom('Never', 'LowerPriority'), maxPriorityThreshold: fc.integer({ min: 0, max: 3 }) },
      { requiredKeys: ['policy'] },
    ),
  });
  const names = ['a', 'b', 'c', 'd'] as const;
  const settings: fc.Arbitrary<Setting> = fc
    .record({
      queues: fc.tuple(
        ...names.map(() =>
          fc.record({
            cohort: fc.constantFrom('left', 'right', 'root'),
            cpu: fc.integer({ min: 0, max: 6 }),
            limit: fc.constantFrom('', '+2', '-2'),
            policy,
          }),
        ),
      ),
      admitted: fc.array(
        fc.record({
          queue: fc.constantFrom(...names),
          priority: fc.integer({ min: 0, max: 3 }),
          cpu: fc.integer({ min: 1, max: 4 }),
          cluster: fc.constantFrom('east', 'west'),
          since: fc.integer({ min: 0, max: 5 }),
          created: fc.integer({ min: 0, max: 5 }),
          leaving: fc.boolean(),
        }),
        { maxLength: 10 },
      ),
      pooled: fc.integer({ min: 0, max: 4 }),
    })
    .map(({ queues, admitted, pooled }) => ({
      queues: Object.fromEntries(
        names.map((name, index) => {
          const each = queues[index];
          // No more may be lent than there is.
          const limit = each?.limit === '-2' && each.cpu < 2 ? '' : (each?.limit ?? '');
          return [
            name,
            {
              cohort: each?.cohort ?? 'root',
              quota: { cpu: `${each?.cpu}${limit}` },
              ...(each === undefined ? {} : { preemption: each.policy }),
            },
          ];
        }),
      ),
      cohorts: [aCohort('root'), aCohort('left', 'root', { cpu: String(pooled) }), aCohort('right', 'root')],
      admitted: admitted.map(({ cpu, ...each }, index) => ({ ...each, name: `j${index}`, requests: { cpu: String(cpu) } })),
    }));
  const asking = fc.record({
    queue: fc.constantFrom(...names),
    priority: fc.integer({ min: 0, max: 3 }),
    cpu: fc.integer({ min: 1, max: 5 }),
    created: fc.integer({ min: 0, max: 5 }),
    capacity: fc.option(fc.integer({ min: 2, max: 12 }), { nil: undefined }),
  });
  const comesOf = ({
    cpu,
    capacity,
    ...each
  }: {
    queue: string;
    priority: number;
    cpu: number;
    created: number;
    capacity: number | undefined;
  }): Incoming => {
    const cluster: ClusterState = aCluster('east', { capacity: { cpu: String(capacity ?? 100) } });
    return { ...each, requests: { cpu: String(cpu) }, ...(capacity === undefined ? {} : { cluster }) };
  };

  test('the end of the victims is enough, and that of fewer of them is not', () => {
    fc.assert(
      fc.property(settings, asking, (setting, asked) => {
        const comes = comesOf(asked);
        const { world, preemptor, charges, victims } = incoming(setting, comes);
        if (victims === undefined) return;
        // Without borrowing more may be displaced than with it, and more must be.
        const isLeast = [true, false].some(
          (mayBorrow) =>
            fitsWithout(victims, mayBorrow) &&
            victims.every(
              (spared) =>
                !fitsWithout(
                  victims.filter((each) => each !== spared),
                  mayBorrow,
                ),
            ),
        );
        expect(isLeast).toBe(true);

        function fitsWithout(gone: readonly Victim[], borrowing: boolean): boolean {
          const usage = world.usage.fork();
          for (const { admitted } of gone) {
            const node = world.nodes.get(admitted.reservation.record.clusterQueue);
            if (node === undefined) throw new Error('a victim of no queue');
            for (const [key, amount] of admitted.charges) removeUsage(node, usage, key, amount);
            for (const [resource, amount] of admitted.reservation.held) {
              const holder = clusterHolder(admitted.reservation.record.cluster);
              usage.set(holder, resource, minus(usage.get(holder, resource), amount));
            }
          }
          const { node } = preemptor.queue;
          const quota = charges.every(
            ([key, amount]) =>
              amount <= available(node, usage, key) &&
              (borrowing || plus(usage.get(node.id, key), amount) <= (node.subtree.get(key) ?? ZERO)),
          );
          const { cluster } = comes;
          const room =
            cluster === undefined ||
            [...preemptor.workload.requests].every(
              ([resource, amount]) => plus(usage.get(clusterHolder('east'), resource), amount) <= capacityOf(cluster, resource),
            );
          return quota && room;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('nobody is displaced whom the policies protect, and nobody of a queue that keeps within its quota', () => {
    fc.assert(
      fc.property(settings, asking, (setting, asked) => {
        const { world, preemptor, victims = [] } = incoming(setting, comesOf(asked));
        const { preemption, name } = preemptor.queue;
        for (const { admitted, rule } of victims) {
          const { workload, record } = admitted.reservation;
          const isLower = admitted.priority < preemptor.priority;
          if (record.clusterQueue === name) {
            const isNewer = admitted.priority === preemptor.priority && workload.createdMs > preemptor.workload.createdMs;
            expect(rule).toBe('InClusterQueue');
            expect(preemption.withinClusterQueue).not.toBe('Never');
            expect(isLower || (isNewer && preemption.withinClusterQueue === 'LowerOrNewerEqualPriority')).toBe(true);
            continue;
          }
          const node = world.nodes.get(record.clusterQueue);
          expect(node !== undefined && isBorrowingAny(node, world.usage, ['default/cpu'])).toBe(true);
          expect(preemption.reclaimWithinCohort).not.toBe('Never');
          expect(isLower || preemption.reclaimWithinCohort === 'Any').toBe(true);
          if (rule !== 'InCohortReclaimWhileBorrowing') continue;
          expect(preemption.borrowWithinCohort.policy).toBe('LowerPriority');
          expect(isLower && admitted.priority <= (preemption.borrowWithinCohort.maxPriorityThreshold ?? 3)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('what is in use is as before, whether anybody is found or not', () => {
    fc.assert(
      fc.property(settings, asking, (setting, asked) => {
        const { world } = incoming(setting, comesOf(asked));
        const before = incoming(setting, { ...comesOf(asked), requests: { cpu: '1' } }).world;
        for (const node of world.nodes.values())
          expect(world.usage.get(node.id, 'default/cpu')).toBe(before.usage.get(node.id, 'default/cpu'));
        expect(listed(world.admitted)).toEqual(listed(before.admitted));
      }),
    );
  });
  const listed = (index: AdmittedIndex): string[] =>
    names.flatMap((name) => index.of(name).map(({ reservation }) => reservation.workload.key));
});
