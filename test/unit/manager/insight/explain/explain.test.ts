import { describe, expect, test } from 'vitest';
import { explain, type Waits } from '../../../../../manager/insight/explain/explain.ts';
import { createRunTimes } from '../../../../../manager/insight/estimate/run-times.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { World } from '../../../../../manager/insight/world/world.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aWorld, holding } from './explained-world.ts';
import { aCluster, aClusterQueue, aFlavor, aWorkload } from '../../admission/setup.ts';

const main = aClusterQueue('main', { default: '4' });
const JOB = { metadata: { name: 'x' }, spec: {} } as unknown as Job;
const explained = (world: World, name: string, job = JOB) => explain(world, job, named(world, name));
function named({ workloads }: World, name: string): Workload {
  const workload = workloads.find((each) => each.name === name);
  if (workload === undefined) throw new Error(`no ${name}`);
  return workload;
}
function waits(world: World, name: string): Waits {
  const explanation = explained(world, name);
  if (explanation.kind !== 'Waiting') throw new Error(JSON.stringify(explanation));
  return explanation;
}

describe('a Job that waits', () => {
  test('for quota is told how much there is, who holds it, and its place', () => {
    const world = aWorld(
      [main],
      [aCluster('eu')],
      [holding('a', '3'), aWorkload('first', { cpu: '3' }), aWorkload('x', { cpu: '2' }, { createdMs: 1 })],
    );
    expect(waits(world, 'x')).toMatchObject({
      clusterQueue: 'main',
      position: 1,
      waiting: 2,
      ahead: ['team/first'],
      outcome: 'Waits',
      reason: 'InsufficientQuota',
      flavors: [{ flavor: 'default', asked: '2', nominal: '4', free: '1', missing: '1', holders: [{ job: 'team/a', amount: '3' }] }],
    });
  });

  test('behind one whose pods are not ready, in a queue that blocks admission, is told so; it is next once they are', () => {
    const queue = aClusterQueue('main', { default: '9' }, { blockAdmission: true });
    const world = (started: boolean) => aWorld([queue], [aCluster('eu')], [{ ...holding('a', '1'), started }, aWorkload('x')]);
    expect(waits(world(false), 'x')).toMatchObject({ outcome: 'Waits', reason: 'WaitingForPodsReady' });
    expect(waits(world(true), 'x')).toMatchObject({ outcome: 'Next' });
  });

  test('in a queue that transforms resources is told what is charged and why, and by how much more of that it would run', () => {
    const resourceGroups = [
      {
        coveredResources: ['cpu', 'credits'],
        flavors: [
          {
            name: 'default',
            resources: [
              { name: 'cpu', nominalQuota: 9 },
              { name: 'credits', nominalQuota: 15 },
            ],
          },
        ],
      },
    ];
    const resourceTransformations = [{ input: 'nvidia.com/mig', strategy: 'Replace' as const, outputs: { credits: 10 } }];
    const queue = aClusterQueue('main', {}, { resourceGroups, resourceTransformations });
    const capacity = { cpu: '9', 'nvidia.com/mig': '9', pods: '9' };
    const held = aWorkload('a', { cpu: '1', 'nvidia.com/mig': '1' });
    const requests = { cpu: '1', 'nvidia.com/mig': '1', pods: '1' };
    const charged = { cpu: '1', credits: '10', pods: '1' };
    const flavors = { cpu: 'default', credits: 'default' };
    const record = { clusterQueue: 'main', cluster: 'eu', flavors, epoch: 1, since: '2026-01-01T00:00:00Z', requests, charged };
    const world = aWorld(
      [queue],
      [aCluster('eu', { capacity })],
      [{ ...held, phase: 'Admitted', record }, aWorkload('x', { cpu: '1', 'nvidia.com/mig': '1' })],
    );
    expect(waits(world, 'x')).toMatchObject({
      asks: { cpu: '1', 'nvidia.com/mig': '1', pods: '1' },
      charges: [
        { resource: 'cpu', amount: '1', from: [] },
        { resource: 'pods', amount: '1', from: [] },
        { resource: 'credits', amount: '10', from: [{ input: 'nvidia.com/mig', amount: '10' }] },
      ],
      reason: 'InsufficientQuota',
      message: 'cluster queue main: flavor default is short of 5 credits',
      flavors: [
        { resource: 'cpu', asked: '1', free: '8' },
        { resource: 'credits', asked: '10', nominal: '15', free: '5', missing: '5', holders: [{ job: 'team/a', amount: '10' }] },
      ],
      changes: [
        { kind: 'LowerRequest', resource: 'nvidia.com/mig', perPod: '0' },
        { kind: 'MoreQuota', flavor: 'default', by: { credits: '5' } },
        { kind: 'JobsEnd', jobs: ['team/a'] },
      ],
    });
    expect(explained(world, 'a')).toMatchObject({ kind: 'Admitted', requests, charged });
    expect(waits(aWorld([queue], [aCluster('eu')], [aWorkload('y', { cpu: '99' })]), 'y').charges).toBeUndefined();
  });

  test('for a cluster that is reserved for it is told from when on; others go in front if they are expected to end before', () => {
    const queue = aClusterQueue('main', { default: '20' }, { queueingStrategy: 'Backfill' });
    const hourMs = 3_600_000;
    const running = { ...holding('a', '3'), expectedMs: 25 * hourMs };
    const large = aWorkload('large', { cpu: '4' });
    const short = aWorkload('short', { cpu: '1' }, { createdMs: 1, expectedMs: hourMs / 2 });
    const long = aWorkload('long', { cpu: '1' }, { createdMs: 1, expectedMs: 2 * hourMs });
    const world = (...jobs: readonly Workload[]) => aWorld([queue], [aCluster('eu', { capacity: { cpu: '4' } })], jobs);
    expect(waits(world(running, large), 'large').reservation).toEqual({
      cluster: 'eu',
      expectedStart: expect.stringMatching(/^2026-01-02T01:00:0[01]Z$/),
    });
    expect(waits(world(holding('a', '3'), large), 'large').reservation).toEqual({ cluster: 'eu' });
    expect(waits(world(running, large, short), 'short')).toMatchObject({ outcome: 'Next' });
    expect(waits(world(running, large, long), 'long')).toMatchObject({
      outcome: 'Waits',
      message: expect.stringContaining('is kept for Jobs that go first'),
    });
    expect(waits(world(running, large, long), 'long').reservation).toBeUndefined();
  });

  test('sees those that have borrowed its quota', () => {
    const queues = ['main', 'other'].map((name) => aClusterQueue(name, { default: '2' }, { cohortName: 'all' }));
    const world = aWorld(queues, [aCluster('eu')], [holding('borrower', '4', 'eu', 'other'), aWorkload('x', { cpu: '1' })]);
    expect(waits(world, 'x').flavors[0]).toMatchObject({ free: '0', missing: '1', holders: [{ job: 'team/borrower', amount: '4' }] });
  });

  test('for room on clusters is told so of each of them', () => {
    const clusters = [aCluster('eu', { capacity: { cpu: '2' } }), aCluster('us', { closed: 'cordoned' })];
    const world = aWorld([main], clusters, [holding('a', '1'), aWorkload('x', { cpu: '2' })]);
    expect(waits(world, 'x').clusters).toEqual([
      {
        cluster: 'eu',
        problem: 'short of 1 cpu',
        shortOf: ['cpu'],
        room: [{ resource: 'cpu', asked: '2', capacity: '2', free: '1', holders: [{ job: 'team/a', amount: '1' }] }],
      },
      { cluster: 'us', problem: 'cordoned', room: [] },
    ]);
  });

  test('whose pods cannot run on a flavor is told why', () => {
    const tainted = aFlavor('default', { nodeTaints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] });
    const world = aWorld([main], [aCluster('eu')], [aWorkload('x')], { resourceFlavors: [tainted] });
    expect(waits(world, 'x')).toMatchObject({
      reason: 'NoMatchingFlavor',
      flavors: [{ problem: expect.stringContaining('taint gpu=yes') }],
    });
  });

  test('and that nothing stands in the way of is next', () => {
    const world = aWorld([main], [aCluster('eu')], [aWorkload('x')]);
    expect(waits(world, 'x')).toMatchObject({ outcome: 'Next', changes: [], position: 0 });
  });

  test('is told when it is likely to start, where Jobs have ended, and its place in the cohort', () => {
    const queues = ['main', 'other'].map((name) => aClusterQueue(name, { default: '2' }, { cohortName: 'all' }));
    const jobs = [holding('a', '4'), aWorkload('theirs', { cpu: '1' }, { queue: 'other' }), aWorkload('x', { cpu: '1' }, { createdMs: 1 })];
    const world = aWorld(queues, [aCluster('eu')], jobs);
    const runTimes = createRunTimes();
    runTimes.observe({ clusterQueue: 'main', family: 'team/a', ranMs: 30 * 3_600_000, endedMs: 0 });
    const explanation = explain(world, JOB, named(world, 'x'), { runTimes, factsOf: () => undefined });
    expect(explanation).toMatchObject({
      position: 0,
      cohort: { cohort: 'all', position: 1, waiting: 2, ahead: [{ job: 'team/theirs', clusterQueue: 'other' }] },
      estimatedStart: { kind: 'Estimate', basis: expect.arrayContaining([{ runTimes: 1, clusterQueue: 'main' }]) },
    });
    expect(explained(world, 'x')).not.toHaveProperty('estimatedStart');
  });

  test('in no queue is told why', () => {
    const world = aWorld([main], [], [aWorkload('held', {}, { hold: true }), aWorkload('lost', {}, { queue: 'other' })]);
    expect(explained(world, 'held')).toMatchObject({ kind: 'NotQueued', reason: 'Held' });
    expect(explained(world, 'lost')).toMatchObject({ kind: 'NotQueued', reason: 'LocalQueueNotFound' });
  });
});

describe('a Job that does not wait', () => {
  test('is said to be where, since when, with what', () => {
    const world = aWorld([main], [aCluster('eu')], [holding('a', '3')]);
    expect(explained(world, 'a')).toEqual({
      kind: 'Admitted',
      job: 'team/a',
      clusterQueue: 'main',
      cluster: 'eu',
      since: '2026-01-01T00:00:00Z',
      flavors: { cpu: 'default' },
      requests: { cpu: '3', pods: '1' },
      started: false,
    });
  });

  test('because it stops is said to hold its quota until then', () => {
    const world = aWorld([main], [aCluster('eu')], [{ ...holding('a', '3'), phase: 'Evicting' as const }]);
    expect(explained(world, 'a')).toMatchObject({ kind: 'NotQueued', reason: 'Evicted' });
  });

  test('because it has finished is said how', () => {
    const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T01:00:00Z' }];
    const world = aWorld([main], [], [aWorkload('a', {}, { phase: 'Finished' })]);
    const job = { ...JOB, status: { conditions } } as unknown as Job;
    expect(explained(world, 'a', job)).toEqual({ kind: 'Finished', job: 'team/a', result: 'Complete', at: '2026-01-01T01:00:00Z' });
  });
});
