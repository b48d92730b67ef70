/** Whole cycles with fair sharing: who of those that wait is admitted, where not all can be. */
import { describe, expect, test } from 'vitest';
import { addUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { orderNominees } from '../../../../../manager/admission/scheduling/nominee-order.ts';
import { nominate, type Nominee } from '../../../../../manager/admission/scheduling/nominate.ts';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import type { ClusterQueue, ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../../manager/api/cohort.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, queueOf } from '../setup.ts';
import { charges } from '../trees.ts';

const nowMs = Date.UTC(2026, 0, 1);
const fairSharing = { preemptionStrategies: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'] } as const;

type Situation = {
  readonly queues: readonly ClusterQueue[];
  readonly cohorts?: readonly Cohort[];
  /** By ClusterQueue, and flavor and resource. */
  readonly used?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Job, ClusterQueue, cpu, and what else there is to say of it. */
  readonly waiting: readonly (readonly [
    name: string,
    queue: string,
    cpu: number,
    options?: { readonly priority?: number; readonly createdMs?: number },
  ])[];
};

function snapshotOf({ queues, cohorts = [], used = {} }: Situation, fair = true) {
  const snapshot = { ...aSnapshot(queues, [aCluster('east')], { cohorts }), ...(fair ? { fairSharing } : {}) };
  for (const [name, amounts] of Object.entries(used)) {
    for (const [key, amount] of charges(amounts)) addUsage(queueOf(snapshot, name).node, snapshot.usage, key, amount);
  }
  return snapshot;
}
const headsOf = ({ waiting }: Situation) =>
  waiting.map(([name, clusterQueue, cpu, { priority = 0, createdMs = 0 } = {}], arrival) => ({
    clusterQueue,
    queued: { workload: aWorkload(name, { cpu: String(cpu) }, { createdMs }), priority, arrival },
  }));
const admitted = (situation: Situation, fair = true): string[] =>
  schedule(snapshotOf(situation, fair), headsOf(situation), nowMs)
    .filter(({ kind }) => kind === 'Admit')
    .map(({ head }) => head.queued.workload.name);

const cohort = (name: string, cpu: string | undefined, spec: Cohort['spec'] = {}): Cohort => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    ...spec,
    ...(cpu === undefined
      ? {}
      : {
          resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: cpu }] }] }],
        }),
  },
});
const borrower = (name: string, cohortName: string, spec: Partial<ClusterQueueSpec> = {}): ClusterQueue =>
  aClusterQueue(name, { default: '0' }, { cohortName, ...spec });

describe('a cycle with fair sharing', () => {
  test('admits of two borrowers the one that borrows less, though the other is older', () => {
    const situation: Situation = {
      queues: [
        aClusterQueue('alpha', { default: '50' }, { cohortName: 'eng' }),
        aClusterQueue('beta', { default: '50' }, { cohortName: 'eng' }),
        aClusterQueue('shared', { default: '10' }, { cohortName: 'eng' }),
      ],
      used: { alpha: { cpu: 50 }, beta: { cpu: 55 } },
      waiting: [
        ['older', 'beta', 1, { createdMs: 1 }],
        ['new', 'alpha', 5, { createdMs: 2 }],
      ],
    };
    expect(admitted(situation)).toEqual(['new']);
    expect(admitted(situation, false)).toEqual(['older']);
  });

  test('admits who stays within its own of what it asks for, however much it borrows of something else', () => {
    const both = (cpu: string, spot: string) => ({ default: cpu, spot });
    const situation: Situation = {
      queues: [aClusterQueue('a', both('50', '0'), { cohortName: 'all' }), aClusterQueue('b', both('10', '100'), { cohortName: 'all' })],
      used: { a: { 'spot/cpu': 80 }, b: { cpu: 5, 'spot/cpu': 20 } },
      waiting: [
        ['borrows', 'b', 15, { createdMs: 1 }],
        ['own', 'a', 45, { createdMs: 2 }],
      ],
    };
    expect(admitted(situation)[0]).toBe('own');
  });

  test('lets the winner of a tree go first: the cohort that has less with its own winner', () => {
    const queues = ['d', 'e'].map((name) => borrower(name, 'B')).concat(['f', 'g'].map((name) => borrower(name, 'C')));
    const situation: Situation = {
      queues,
      cohorts: [cohort('A', '200'), cohort('B', undefined, { parentName: 'A' }), cohort('C', undefined, { parentName: 'A' })],
      used: { d: { cpu: 10 }, e: { cpu: 20 }, g: { cpu: 100 } },
      waiting: [
        ['d1', 'd', 70],
        ['e1', 'e', 61],
        ['f1', 'f', 1],
        ['g1', 'g', 1],
      ],
    };
    expect(admitted(situation)).toEqual(['d1']);
  });

  test('counts what each would have with its Job, not what it has without', () => {
    const situation: Situation = {
      queues: [borrower('b', 'A'), borrower('c', 'A')],
      cohorts: [cohort('A', '100')],
      used: { b: { cpu: 10 } },
      waiting: [
        ['b1', 'b', 50],
        ['c1', 'c', 75],
      ],
    };
    expect(admitted(situation)).toEqual(['b1']);
  });

  test('of two without weight the one that borrows less goes first, whatever the priority', () => {
    const weightless = { fairSharing: { weight: 0 } };
    const situation: Situation = {
      queues: [borrower('b', 'A', weightless), borrower('c', 'A', weightless)],
      cohorts: [cohort('A', '8')],
      used: { b: { cpu: 4 } },
      waiting: [
        ['b1', 'b', 4, { priority: 9001 }],
        ['c1', 'c', 4],
      ],
    };
    expect(admitted(situation)).toEqual(['c1']);
  });

  test('queues that are alone, or in no cohort, are in nobody’s way', () => {
    const situation: Situation = {
      queues: [borrower('a', 'A'), aClusterQueue('b', { default: '10' }, { cohortName: 'B' }), aClusterQueue('c', { default: '10' })],
      cohorts: [cohort('A', '10')],
      waiting: [
        ['a1', 'a', 10],
        ['b1', 'b', 10],
        ['c1', 'c', 10],
      ],
    };
    expect(admitted(situation).toSorted()).toEqual(['a1', 'b1', 'c1']);
  });

  test('of equal shares the higher priority goes first, then the older Job', () => {
    const two = { queues: [borrower('b', 'A'), borrower('c', 'A')], cohorts: [cohort('A', '10')] };
    const first = (b: object, c: object) => admitted({ ...two, waiting: [['b1', 'b', 10, b], ['c1', 'c', 10, c]] }); // biome-ignore format: one line
    expect(first({ priority: 99 }, { priority: 101, createdMs: 5 })).toEqual(['c1']);
    expect(first({ createdMs: 2 }, { createdMs: 1 })).toEqual(['c1']);
  });

  test('a Job that does not fit has kept for it what those of greater shares would take', () => {
    const situation: Situation = {
      queues: [aClusterQueue('own', { default: '4' }, { cohortName: 'all' }), borrower('greedy', 'all')],
      used: { greedy: { cpu: 2 } },
      waiting: [
        ['small', 'greedy', 1, { priority: 100 }],
        ['large', 'own', 4],
      ],
    };
    expect(admitted(situation)).toEqual([]);
  });
});

describe('the turns of nominees', () => {
  const situation: Situation = {
    queues: [borrower('a', 'all'), borrower('b', 'all')],
    cohorts: [cohort('all', '20')],
    used: { a: { cpu: 3 } },
    waiting: [
      ['a1', 'a', 1, { priority: 5 }],
      ['b1', 'b', 1],
    ],
  };
  const nomineesIn = (snapshot: ReturnType<typeof snapshotOf>) =>
    headsOf(situation)
      .map((head) => nominate(snapshot, head, nowMs))
      .filter((outcome): outcome is Nominee => 'queue' in outcome);
  const namesOf = (order: ReturnType<typeof orderNominees>) => {
    const names: string[] = [];
    for (let next = order.next(); next !== undefined; next = order.next()) names.push(next.head.queued.workload.name);
    return names;
  };

  test('come by share where sharing is fair, and by priority where it is not', () => {
    const snapshot = snapshotOf(situation);
    const nominees = nomineesIn(snapshot);
    expect(nominees).toHaveLength(2);
    expect(namesOf(orderNominees(nominees, snapshot))).toEqual(['b1', 'a1']);
    expect(namesOf(orderNominees(nominees, { usage: snapshot.usage, fairSharing: undefined }))).toEqual(['a1', 'b1']);
  });

  test('of one ClusterQueue come by what their LocalQueues have used, and nobody passes who is behind another of his queue', () => {
    const queues = [aClusterQueue('main', { default: '9' }), aClusterQueue('other', { default: '9' })];
    const waiting: Situation['waiting'] = [
      ['greedy', 'main', 1, { priority: 9 }],
      ['frugal', 'main', 1, { priority: 1 }],
      ['between', 'other', 1, { priority: 5 }],
    ];
    const usage: Record<string, number> = { greedy: 2, frugal: 1 };
    for (const fair of [false, true]) {
      const snapshot = snapshotOf({ queues, waiting }, fair);
      const nominees = headsOf({ queues, waiting })
        .map((head) => nominate(snapshot, { ...head, ...omitUndefined({ usage: usage[head.queued.workload.name] }) }, nowMs))
        .filter((outcome): outcome is Nominee => 'queue' in outcome);
      expect(namesOf(orderNominees(nominees, snapshot))).toEqual(['between', 'frugal', 'greedy']);
    }
  });

  test('change when a ClusterQueue uses less', () => {
    const snapshot = snapshotOf(situation);
    const order = orderNominees(nomineesIn(snapshot), snapshot);
    const { node } = queueOf(snapshot, 'a');
    for (const [key, amount] of charges({ cpu: -3 })) addUsage(node, snapshot.usage, key, amount);
    order.changed(node);
    expect(namesOf(order)).toEqual(['a1', 'b1']);
  });
});
