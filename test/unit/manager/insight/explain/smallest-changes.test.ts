import { describe, expect, test } from 'vitest';
import {
  asking,
  smallestChanges,
  withMoreQuota,
  withMoreRoom,
  withOpen,
  without,
  withWorkload,
  type Change,
} from '../../../../../manager/insight/explain/smallest-changes.ts';
import { scheduleUntilIdle } from '../../../../../manager/insight/world/schedule-until-idle.ts';
import { ANY_NODE } from '../../../../../manager/admission/workload/node-wish.ts';
import { sumOf, withPods } from '../../../../../manager/admission/workload/workload-pod-sets.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import type { World } from '../../../../../manager/insight/world/world.ts';
import { parseAmount, parseRequests } from '../../../../../manager/api/amount.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { aWorld, holding, pods } from './explained-world.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';

const main = aClusterQueue('main', { default: '8' });
const ofKind = <Kind extends Change['kind']>(changes: readonly Change[], kind: Kind) =>
  changes.filter((change): change is Extract<Change, { readonly kind: Kind }> => change.kind === kind);
const changesOf = (world: World, key = 'team/wide', queue = 'main') => smallestChanges(world, key, queue);

describe('the smallest changes after which a Job would run now', () => {
  test('short of quota: fewer pods, smaller pods, more quota, or another Job ends', () => {
    const world = aWorld([main], [aCluster('eu')], [holding('a', '5'), holding('b', '1'), pods('wide', 4, { cpu: '1' })]);
    expect(changesOf(world)).toEqual([
      { kind: 'FewerPods', pods: 2 },
      { kind: 'LowerRequest', resource: 'cpu', perPod: '500m' },
      { kind: 'MoreQuota', clusterQueue: 'main', flavor: 'default', by: { cpu: '2' } },
      { kind: 'JobsEnd', jobs: ['team/a'] },
    ]);
  });

  test('each flavor is another way', () => {
    const both = aClusterQueue('main', { default: '3', spot: '1' });
    const world = aWorld([both], [aCluster('eu')], [pods('wide', 4, { cpu: '1' })]);
    expect(ofKind(changesOf(world), 'MoreQuota')).toEqual([
      { kind: 'MoreQuota', clusterQueue: 'main', flavor: 'default', by: { cpu: '1' } },
      { kind: 'MoreQuota', clusterQueue: 'main', flavor: 'spot', by: { cpu: '3' } },
    ]);
  });

  test('short of room: a cluster with more of it, and Jobs of one cluster, not of two', () => {
    const clusters = [aCluster('eu', { capacity: { cpu: '4' } }), aCluster('us', { capacity: { cpu: '4' } })];
    const holders = [holding('e1', '2', 'eu'), holding('e2', '2', 'eu'), holding('u1', '1', 'us'), holding('u2', '2', 'us')];
    const world = aWorld([aClusterQueue('main', { default: '100' })], clusters, [...holders, pods('wide', 3, { cpu: '1' })]);
    const changes = changesOf(world);
    expect(ofKind(changes, 'MoreRoom')).toEqual([
      { kind: 'MoreRoom', cluster: 'eu', by: { cpu: '3' } },
      { kind: 'MoreRoom', cluster: 'us', by: { cpu: '2' } },
    ]);
    expect(ofKind(changes, 'JobsEnd')).toEqual([{ kind: 'JobsEnd', jobs: ['team/u2'] }]);
  });

  test('a closed cluster need only open, and quota that is there is not asked for', () => {
    const world = aWorld([main], [aCluster('eu', { closed: 'cordoned' })], [pods('wide', 1, { cpu: '1' })]);
    expect(changesOf(world)).toEqual([{ kind: 'ClusterOpens', cluster: 'eu' }]);
  });

  test('what those before it take is counted, too', () => {
    const first = aWorkload('first', { cpu: '4' });
    const world = aWorld([main], [aCluster('eu')], [holding('a', '6'), first, pods('wide', 4, { cpu: '1' }, { createdMs: 1 })]);
    expect(ofKind(changesOf(world), 'MoreQuota')).toEqual([
      { kind: 'MoreQuota', clusterQueue: 'main', flavor: 'default', by: { cpu: '6' } },
    ]);
  });

  test('of those before it only those are counted that take their part, and those of other queues that share are', () => {
    const first = aWorkload('first', { cpu: '4' }, { wish: { kind: 'Names', names: ['nowhere'] } });
    const second = aWorkload('second', { cpu: '1' }, { createdMs: 1 });
    const wide = pods('wide', 4, { cpu: '1' }, { createdMs: 2 });
    const alone = aWorld([main], [aCluster('eu')], [holding('a', '8'), first, second, wide]);
    expect(ofKind(changesOf(alone), 'MoreQuota')).toMatchObject([{ by: { cpu: '5' } }]);
    const queues = ['main', 'other'].map((name) => aClusterQueue(name, { default: '4' }, { cohortName: 'all' }));
    const theirs = aWorkload('theirs', { cpu: '2' }, { queue: 'other' });
    const shared = aWorld(queues, [aCluster('eu')], [holding('a', '4'), holding('b', '4', 'eu', 'other'), theirs, wide]);
    const [named] = ofKind(changesOf(shared), 'MoreQuota');
    expect(named?.by).toEqual({ cpu: '4' });
  });

  test('of Jobs that would have to end none can be left out', () => {
    const holders = ['a', 'b', 'c', 'd'].map((name, index) => holding(name, String(index + 1)));
    const world = aWorld([aClusterQueue('main', { default: '10' })], [aCluster('eu')], [...holders, pods('wide', 5, { cpu: '1' })]);
    const jobs = ofKind(changesOf(world), 'JobsEnd').flatMap((change) => change.jobs);
    expect(jobs).toHaveLength(2);
    for (const spared of jobs) {
      const others = new Set(jobs.filter((each) => each !== spared));
      expect(scheduleUntilIdle(without(world, others)).get('team/wide')?.kind).not.toBe('Admit');
    }
  });

  test('of several pod sets, the one that may have fewer pods has them, and of none else it is guessed', () => {
    const set = (podSet: string, count: number, least?: number) => ({
      podSet,
      requests: parseRequests({ cpu: String(count), pods: String(count) }),
      nodeWish: ANY_NODE,
      ...omitUndefined({ minPods: least }),
    });
    const both = (least?: number) => {
      const podSets = [set('head', 1), set('workers', 6, least)];
      const minPods = least === undefined ? undefined : 1 + least;
      return aWorld([main], [aCluster('eu')], [holding('a', '5'), aWorkload('wide', {}, { requests: sumOf(podSets), podSets, minPods })]);
    };
    const world = both(4);
    expect(changesOf(world)).toEqual([
      { kind: 'FewerPods', pods: 3 },
      { kind: 'MoreQuota', clusterQueue: 'main', flavor: 'default', by: { cpu: '4' } },
      { kind: 'JobsEnd', jobs: ['team/a'] },
    ]);
    for (const change of changesOf(world)) expect(scheduleUntilIdle(changed(world, change)).get('team/wide')?.kind).toBe('Admit');
    expect(changesOf(both()).map(({ kind }) => kind)).toEqual(['MoreQuota', 'JobsEnd']);
  });

  test('a resource for which there is no quota is one that it should not ask for', () => {
    const world = aWorld([main], [aCluster('eu')], [pods('wide', 1, { cpu: '1', 'nvidia.com/gpu': '1' })]);
    expect(changesOf(world)).toEqual([{ kind: 'LowerRequest', resource: 'nvidia.com/gpu', perPod: '0' }]);
  });

  test('each change that is named admits it, in any world', () => {
    const random = seededRandom(7);
    const upTo = (most: number): number => 1 + Math.floor(random() * most);
    let named = 0;
    for (let round = 0; round < 60; round++) {
      const queues = ['main', 'other'].map((name) =>
        aClusterQueue(name, { default: String(upTo(6)), spot: String(upTo(4)) }, { cohortName: 'all' }),
      );
      const clusters = ['eu', 'us'].map((name) =>
        aCluster(name, { capacity: { cpu: String(upTo(12)) }, ...(upTo(6) === 1 ? { closed: 'cordoned' } : {}) }),
      );
      const holders = Array.from({ length: upTo(6) }, (_, index) =>
        holding(
          `h${index}`,
          String(upTo(3)),
          upTo(2) === 1 ? 'eu' : 'us',
          upTo(2) === 1 ? 'main' : 'other',
          upTo(2) === 1 ? 'default' : 'spot',
        ),
      );
      const others = Array.from({ length: upTo(4) }, (_, index) =>
        aWorkload(`w${index}`, { cpu: String(upTo(8)) }, { createdMs: index, queue: upTo(2) === 1 ? 'main' : 'other' }),
      );
      const world = aWorld(queues, clusters, [...holders, ...others, pods('wide', upTo(8), { cpu: '1' }, { createdMs: upTo(4) })]);
      if (scheduleUntilIdle(world).get('team/wide')?.kind === 'Admit') continue;
      for (const change of changesOf(world)) {
        named++;
        expect(scheduleUntilIdle(changed(world, change)).get('team/wide')?.kind, JSON.stringify({ round, change })).toBe('Admit');
      }
    }
    expect(named).toBeGreaterThan(50);
  });
});

/** The world as the change, which is all that a reader sees, says that it is to be. */
function changed(world: World, change: Change): World {
  const wide = world.workloads.find(({ name }) => name === 'wide');
  if (wide === undefined) throw new Error('nobody is wide');
  switch (change.kind) {
    case 'FewerPods':
      return withWorkload(world, { ...asking(wide, wide.requests), ...withPods(wide, change.pods), minPods: undefined });
    case 'LowerRequest': {
      const perPod = parseAmount(change.resource, change.perPod) * (wide.requests.get('pods') ?? 0);
      return withWorkload(world, asking(wide, new Map([...wide.requests, [change.resource, parseAmount('pods', perPod)]])));
    }
    case 'MoreQuota':
      return withMoreQuota(world, change.clusterQueue, change.flavor, parseRequests(change.by));
    case 'MoreRoom':
      return withMoreRoom(world, change.cluster, parseRequests(change.by));
    case 'ClusterOpens':
      return withOpen(world, change.cluster);
    case 'JobsEnd':
      return without(world, new Set(change.jobs));
  }
}
