/** ClusterQueues and cohorts as the tree of the dashboard, and how full they are. */
import { describe, expect, test } from 'vitest';
import { UNLIMITED, ZERO } from '../../../../manager/api/amount.ts';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import { amountIn, byImportance, fillOf, shareOf, sumOf } from '../../../../manager/dashboard/fill.ts';
import { cohortNodes, nominalOf, queueNode } from '../../../../manager/dashboard/queue-tree.ts';

const metadata = { name: 'main', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
type Flavors = Readonly<Record<string, Readonly<Record<string, string>>>>;
/** Nominal quotas by flavor and resource. */
const groups = (flavors: Flavors) => [
  {
    coveredResources: [],
    flavors: Object.entries(flavors).map(([name, resources]) => ({
      name,
      resources: Object.entries(resources).map(([resource, nominalQuota]) => ({ name: resource, nominalQuota })),
    })),
  },
];
const aQueue = (flavors: Flavors, spec: object = {}, status?: object): ClusterQueue =>
  ({ metadata, spec: { resourceGroups: groups(flavors), ...spec }, status }) as unknown as ClusterQueue;
const aCohort = (name: string, parentName?: string, flavors?: Flavors): Cohort =>
  ({
    metadata: { ...metadata, name },
    spec: { ...(parentName && { parentName }), ...(flavors && { resourceGroups: groups(flavors) }) },
  }) as Cohort;

describe('how full something is', () => {
  test('is said in the words of its resource, with the share where there is a limit', () => {
    expect(fillOf('cpu', amountIn('cpu', '1500m'), amountIn('cpu', '2'))).toEqual({ resource: 'cpu', used: '1500m', of: '2', share: 0.75 });
    expect(fillOf('cpu', amountIn('cpu', '1'), undefined)).toEqual({ resource: 'cpu', used: '1', of: 'unlimited' });
  });

  test('has three digits, and is whole where nothing was given and something is used', () => {
    expect([shareOf(amountIn('cpu', '1'), amountIn('cpu', '3')), shareOf(amountIn('cpu', '1'), ZERO), shareOf(ZERO, ZERO)]).toEqual([
      0.333, 1, 0,
    ]);
    expect(shareOf(amountIn('cpu', '1'), UNLIMITED)).toBe(0);
  });

  test('counts quantities that nobody can read as nothing', () => {
    expect([amountIn('cpu', 'many'), amountIn('cpu', undefined), sumOf([])]).toEqual([ZERO, ZERO, ZERO]);
    expect(sumOf([amountIn('cpu', '1'), amountIn('cpu', '2')])).toBe(amountIn('cpu', '3'));
  });

  test('comes with cpu and memory first, devices by name, and the number of pods last', () => {
    const resources = ['pods', 'ephemeral-storage', 'nvidia.com/gpu', 'memory', 'amd.com/gpu', 'cpu', 'cpu'];
    expect(resources.toSorted(byImportance)).toEqual([
      'cpu',
      'cpu',
      'memory',
      'amd.com/gpu',
      'nvidia.com/gpu',
      'ephemeral-storage',
      'pods',
    ]);
  });
});

test('the nominal quota is that of all flavors, the important resources first', () => {
  const quota = groups({ spot: { pods: '5', cpu: '1' }, 'on-demand': { memory: '1Gi', cpu: '2' } });
  expect([...nominalOf(quota)]).toEqual([
    ['cpu', amountIn('cpu', '3')],
    ['memory', amountIn('memory', '1Gi')],
    ['pods', amountIn('pods', '5')],
  ]);
  expect([...nominalOf(undefined)]).toEqual([]);
});

describe('a ClusterQueue', () => {
  const node = (spec: object, status?: object) => queueNode(aQueue({ spot: { cpu: '4' } }, spec, status), { causes: [], first: [] });

  test('says how full each of its flavors is, and what of that is borrowed', () => {
    const flavorsUsage = [{ name: 'spot', resources: [{ name: 'cpu', total: '6', borrowed: '2' }] }];
    const { quota, ...said } = node(
      { cohortName: 'lab', queueingStrategy: 'StrictFIFO' },
      { flavorsUsage, fairSharing: { weightedShare: 7 } },
    );
    expect(quota).toEqual([{ flavor: 'spot', resource: 'cpu', used: '6', of: '4', share: 1.5, borrowed: '2', borrowedShare: 0.5 }]);
    expect(said).toMatchObject({ kind: 'Queue', name: 'main', strategy: 'StrictFIFO', cohort: 'lab', weightedShare: 7 });
    const [first] = node({}, { flavorsUsage: [{ name: 'other', resources: [{ name: 'cpu', total: '6', borrowed: '0' }] }] }).quota;
    expect(first).toEqual({ flavor: 'spot', resource: 'cpu', used: '0', of: '4', share: 0 });
  });

  test.each<[string, object, object | undefined, object]>([
    ['is idle', {}, undefined, { health: 'Idle', waiting: 0, admitted: 0, strategy: 'BestEffortFIFO' }],
    ['runs Jobs', {}, { admittedWorkloads: 1 }, { health: 'Good', admitted: 1 }],
    ['has Jobs that wait', {}, { admittedWorkloads: 1, pendingWorkloads: 2 }, { health: 'Warning', waiting: 2 }],
    ['is stopped', { stopPolicy: 'Hold' }, { pendingWorkloads: 2 }, { health: 'Bad', problem: 'stopped (stopPolicy: Hold)' }],
    ['is not stopped', { stopPolicy: 'None' }, { admittedWorkloads: 1 }, { health: 'Good' }],
    [
      'is not active',
      {},
      { conditions: [{ type: 'Active', status: 'False', message: 'no flavor' }] },
      { health: 'Bad', problem: 'no flavor' },
    ],
    ['is active', {}, { conditions: [{ type: 'Active', status: 'True', message: 'ready' }] }, { health: 'Idle' }],
  ])('that %s shows it', (_which, spec, status, shown) => {
    expect(node(spec, status)).toMatchObject(shown);
    expect('problem' in node(spec, status)).toBe('problem' in shown);
  });
});

describe('cohorts', () => {
  const used = (total: string) => ({ flavorsUsage: [{ name: 'spot', resources: [{ name: 'cpu', total, borrowed: '0' }] }] });

  test('have the quota and the use of all that is below them, those without an object too', () => {
    const queues = [
      aQueue({ spot: { cpu: '4', pods: '9' } }, { cohortName: 'lab' }, used('1')),
      aQueue({ spot: { cpu: '2' } }, { cohortName: 'alone' }, used('2')),
      aQueue({ spot: { cpu: '8' } }),
    ];
    expect(cohortNodes([aCohort('lab', 'org', { spot: { cpu: '1' } })], queues)).toEqual([
      { kind: 'Cohort', name: 'alone', quota: [{ resource: 'cpu', used: '2', of: '2', share: 1 }] },
      ...[{ name: 'lab', parent: 'org' }, { name: 'org' }].map((each) => ({
        kind: 'Cohort',
        ...each,
        quota: [
          { resource: 'cpu', used: '1', of: '5', share: 0.2 },
          { resource: 'pods', used: '0', of: '9', share: 0 },
        ],
      })),
    ]);
  });

  test('in a circle count each of them once', () => {
    const queues = [aQueue({ spot: { cpu: '4' } }, { cohortName: 'a' }, used('1'))];
    const nodes = cohortNodes([aCohort('a', 'b'), aCohort('b', 'a')], queues);
    expect(nodes.map(({ name, quota }) => [name, quota[0]?.of])).toEqual([
      ['a', '4'],
      ['b', '4'],
    ]);
  });
});
