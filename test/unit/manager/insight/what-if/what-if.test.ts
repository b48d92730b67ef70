import { describe, expect, test } from 'vitest';
import { jobStates, whatIf, type WhatIf } from '../../../../../manager/insight/what-if/what-if.ts';
import { withMoreQuota } from '../../../../../manager/insight/explain/smallest-changes.ts';
import { scheduleUntilIdle } from '../../../../../manager/insight/world/schedule-until-idle.ts';
import type { World } from '../../../../../manager/insight/world/world.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { aWorld, holding } from '../explain/explained-world.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';

const main = aClusterQueue('main', { default: '4' });
const clusters = [aCluster('eu'), aCluster('us')];
const brief = ({ effects }: WhatIf) => Object.fromEntries(effects.map(({ job, kind }) => [job.slice('team/'.length), kind]));
const withQueues = (world: World, ...clusterQueues: World['objects']['clusterQueues'][number][]): World => ({
  ...world,
  objects: { ...world.objects, clusterQueues },
});

describe('what if', () => {
  test('there were more quota: those that fit are admitted, and those behind them come further ahead', () => {
    const waiting = ['a', 'b', 'c'].map((name, index) => aWorkload(name, { cpu: '2' }, { createdMs: index }));
    const world = aWorld([main], clusters, [holding('holder', '4'), ...waiting]);
    const outcome = whatIf(world, withMoreQuota(world, 'main', 'default', parseRequests({ cpu: '2' })));
    expect(brief(outcome)).toEqual({ a: 'Admitted', b: 'Advanced', c: 'Advanced' });
    expect(outcome.untouched).toBe(1);
    expect(outcome.effects[0]).toMatchObject({
      now: { kind: 'Waiting', position: 0 },
      without: { kind: 'Waiting', reason: 'InsufficientQuota' },
      with: { kind: 'Admitted', clusterQueue: 'main', flavors: { cpu: 'default' } },
      losses: [],
    });
  });

  test('there were less: who runs goes on, and who would come next waits', () => {
    const world = aWorld([main], clusters, [holding('holder', '2'), aWorkload('next', { cpu: '2' })]);
    expect(brief(whatIf(world, withQueues(world, aClusterQueue('main', { default: '3' }))))).toEqual({ next: 'Delayed' });
  });

  test('a cluster were drained that has the only room: those there are evicted, and wait', () => {
    const world = aWorld(
      [main],
      [aCluster('eu'), aCluster('us', { capacity: { cpu: '1' } })],
      [holding('big', '2'), holding('small', '1')],
    );
    const drained = { ...world, clusters: [aCluster('eu', { closed: 'draining', draining: true }), ...world.clusters.slice(1)] };
    const outcome = whatIf(world, drained);
    expect(brief(outcome)).toEqual({ big: 'Evicted', small: 'Moved' });
    expect(outcome.effects[0]).toMatchObject({ with: { kind: 'Waiting' }, losses: [{ reason: 'ClusterDraining' }] });
  });

  test('a queue were stopped: who waits there is in no queue any more', () => {
    const world = aWorld([main], clusters, [holding('runs', '4'), aWorkload('waits', { cpu: '2' })]);
    const hold = withQueues(world, aClusterQueue('main', { default: '4' }, { stopPolicy: 'Hold' }));
    const drain = withQueues(world, aClusterQueue('main', { default: '4' }, { stopPolicy: 'HoldAndDrain' }));
    expect(brief(whatIf(world, hold))).toEqual({ waits: 'Delayed' });
    expect(brief(whatIf(world, drain))).toEqual({ runs: 'Evicted', waits: 'Delayed' });
  });

  test('a queue might reclaim: who borrows is evicted, for whom and by which rule', () => {
    const queues = [main, aClusterQueue('other', { default: '0' })].map((queue) => ({
      ...queue,
      spec: { ...queue.spec, cohortName: 'all' },
    }));
    const world = aWorld(queues, clusters, [holding('borrows', '4', 'eu', 'other'), aWorkload('owner', { cpu: '4' })]);
    const reclaiming = queues.map((queue) => ({ ...queue, spec: { ...queue.spec, preemption: { reclaimWithinCohort: 'Any' as const } } }));
    const outcome = whatIf(world, withQueues(world, ...reclaiming));
    expect(brief(outcome)).toEqual({ owner: 'Admitted', borrows: 'Evicted' });
    expect(outcome.effects.find(({ kind }) => kind === 'Evicted')?.losses).toMatchObject([
      { reason: 'Preempted', preempted: { by: 'team/owner', clusterQueue: 'main' } },
    ]);
  });

  test('a Job had another priority: it goes ahead, and those that it passes are delayed', () => {
    const waiting = ['a', 'b', 'c'].map((name, index) => aWorkload(name, { cpu: '4' }, { createdMs: index }));
    const world = aWorld([main], clusters, [holding('holder', '4'), ...waiting]);
    const raised = world.workloads.map((each) => (each.name === 'c' ? { ...each, priorityWish: { podClass: 'high' } } : each));
    const classes = { workload: new Map(), pod: new Map([['high', 10]]), fallback: 0 };
    const outcome = whatIf({ ...world, priorityClasses: classes }, { ...world, priorityClasses: classes, workloads: raised });
    expect(brief(outcome)).toEqual({ a: 'Delayed', b: 'Delayed', c: 'Advanced' });
  });

  test('a Job were submitted: where it goes, and whom it holds up', () => {
    const world = aWorld([main], clusters, [holding('holder', '3'), aWorkload('big', { cpu: '2' }, { createdMs: 5 })]);
    const submitted = [aWorkload('new', { cpu: '1' }, { createdMs: 9 }), aWorkload('later', { cpu: '3' }, { createdMs: 10 })];
    const outcome = whatIf(world, { ...world, workloads: [...world.workloads, ...submitted] });
    expect(brief(outcome)).toEqual({ later: 'Submitted', new: 'Submitted' });
    expect(outcome.effects.map(({ with: standing }) => standing.kind)).toEqual(['Waiting', 'Admitted']);
  });

  test('a Job would be preempted, and its queue is left alone: it is spared', () => {
    const greedy = aClusterQueue('main', { default: '2' }, { preemption: { withinClusterQueue: 'LowerPriority' } });
    const classes = { workload: new Map(), pod: new Map([['high', 10]]), fallback: 0 };
    const first = aWorkload('first', { cpu: '2' }, { priorityWish: { podClass: 'high' } });
    const world = { ...aWorld([greedy], clusters, [holding('low', '2'), first]), priorityClasses: classes };
    expect(brief(whatIf(world, withQueues(world, aClusterQueue('main', { default: '2' }))))).toEqual({ first: 'Delayed', low: 'Spared' });
  });

  test('nothing changed: nobody is touched, and each stands as at the standstill of now, in any world', () => {
    const random = seededRandom(11);
    const upTo = (most: number): number => 1 + Math.floor(random() * most);
    for (let round = 0; round < 80; round++) {
      const queues = ['main', 'other'].map((name) =>
        aClusterQueue(name, { default: String(upTo(6)), spot: String(upTo(4)) }, { cohortName: 'all' }),
      );
      const places = ['eu', 'us'].map((name) => aCluster(name, { capacity: { cpu: String(upTo(12)) } }));
      const holders = Array.from({ length: upTo(5) }, (_, n) =>
        holding(`h${n}`, '1', upTo(2) === 1 ? 'eu' : 'us', upTo(2) === 1 ? 'main' : 'other'),
      );
      const waiting = Array.from({ length: upTo(6) }, (_, n) =>
        aWorkload(`w${n}`, { cpu: String(upTo(5)) }, { createdMs: n, queue: upTo(2) === 1 ? 'main' : 'other' }),
      );
      const world = aWorld(queues, places, [...holders, ...waiting]);
      const outcome = whatIf(world, world);
      expect(outcome, `round ${round}`).toEqual({ effects: [], untouched: world.workloads.length, settled: true });
      const admitted = [...scheduleUntilIdle(world)].flatMap(([key, { kind }]) => (kind === 'Admit' ? [key] : []));
      const more = { ...world, workloads: world.workloads.filter(({ phase }) => phase === 'Pending') };
      const now = new Set([...jobStates({ world, decisions: new Map() })].flatMap(([key, { kind }]) => (kind === 'Waiting' ? [key] : [])));
      expect(new Set(more.workloads.map(({ key }) => key))).toEqual(now);
      const closed = { ...world, clusters: places.map((place) => ({ ...place, closed: 'cordoned' })) };
      const gained = whatIf(closed, world).effects.flatMap(({ kind, job }) => (kind === 'Admitted' ? [job] : []));
      expect(gained.toSorted(), `round ${round}`).toEqual(admitted.toSorted());
    }
  });
});
