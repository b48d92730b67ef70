import { describe, expect, test } from 'vitest';
import { runToFixpoint } from '../../../../../manager/insight/world/simulate-evictions.ts';
import { jobStates } from '../../../../../manager/insight/what-if/what-if.ts';
import type { World } from '../../../../../manager/insight/world/world.ts';
import { aWorld, holding } from '../explain/explained-world.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';

const main = aClusterQueue('main', { default: '4' });
const both = [aCluster('eu'), aCluster('us')];
const pod = new Map([['high', 10]]);
const high = { priorityWish: { podClass: 'high' } };
const placesIn = (world: World): Record<string, string> =>
  Object.fromEntries(
    [...jobStates(runToFixpoint(world))].map(([key, standing]) => [
      key.slice('team/'.length),
      standing.kind === 'Admitted' ? standing.cluster : standing.kind,
    ]),
  );

describe('what becomes of a world in the end', () => {
  test('those of a draining cluster stop, and go elsewhere', () => {
    const world = aWorld(
      [main],
      [aCluster('eu', { closed: 'draining', draining: true }), aCluster('us')],
      [holding('a', '2'), holding('b', '2')],
    );
    expect(placesIn(world)).toEqual({ a: 'us', b: 'us' });
    expect(runToFixpoint(world).evictions.get('team/a')).toMatchObject([{ reason: 'ClusterDraining' }]);
  });

  test('who is preempted queues again, and the other has its place', () => {
    const queue = aClusterQueue('main', { default: '2' }, { preemption: { withinClusterQueue: 'LowerPriority' } });
    const world = aWorld([queue], both, [holding('low', '2'), aWorkload('first', { cpu: '2' }, high)]);
    const end = runToFixpoint({ ...world, priorityClasses: { workload: new Map(), pod, fallback: 0 } });
    expect(jobStates(end).get('team/first')).toMatchObject({ kind: 'Admitted' });
    expect(jobStates(end).get('team/low')).toMatchObject({ kind: 'Waiting', position: 0 });
    expect(end.evictions.get('team/low')).toMatchObject([
      { reason: 'Preempted', preempted: { by: 'team/first', clusterQueue: 'main', rule: 'InClusterQueue' } },
    ]);
  });

  test('who is being suspended already stops, and others take what it held', () => {
    const world = aWorld([main], both, [{ ...holding('old', '4'), phase: 'Evicting', unmarked: true }, aWorkload('next', { cpu: '4' })]);
    expect(placesIn(world)).toEqual({ old: 'NotQueued', next: 'eu' });
  });

  test('who is being deleted goes', () => {
    const old = { ...holding('old', '4'), phase: 'Evicting' as const };
    const rested = new Map([['team/old', { ...old, phase: 'Finished' as const }]]);
    expect(placesIn({ ...aWorld([main], both, [old]), rested })).toEqual({});
  });

  test('those whose flavor is gone lose their admission', () => {
    const queue = aClusterQueue('main', { default: '4', spot: '4' });
    const world = aWorld([queue], both, [holding('a', '2', 'eu', 'main', 'spot')], { resourceFlavors: [] });
    expect(placesIn(world)).toEqual({ a: 'NotQueued' });
    expect(runToFixpoint(world).evictions.get('team/a')).toMatchObject([{ reason: 'AdmissionUnresolved' }]);
  });

  test('those of a lost cluster move where their fence has stopped them, and stay where none has', () => {
    const lost = {
      since: '2026-01-01T00:00:00Z',
      lostMs: Number.POSITIVE_INFINITY,
      givenUpMs: undefined,
      workerAlive: true,
      otherManager: false,
    };
    const world = aWorld([main], [aCluster('eu', { closed: 'lost', lost: true }), aCluster('us')], [holding('a', '2')]);
    expect(placesIn({ ...world, losses: new Map([['eu', { ...lost, fenceAfterSeconds: 60 }]]) })).toEqual({ a: 'us' });
    expect(placesIn({ ...world, losses: new Map([['eu', { ...lost, fenceAfterSeconds: undefined }]]) })).toEqual({ a: 'eu' });
  });

  test('a Job is refused once by its cluster, and not sent there again', () => {
    const refused = { ...holding('a', '2'), refusal: 'NamespaceMissing' };
    expect(placesIn(aWorld([main], both, [refused]))).toEqual({ a: 'us' });
  });

  test('what is reserved in a queue that is stopped is given back', () => {
    const stopped = aClusterQueue('main', { default: '4' }, { stopPolicy: 'Hold' });
    expect(placesIn(aWorld([stopped], both, [{ ...holding('a', '2'), phase: 'Reserved' }, holding('runs', '2')]))).toEqual({
      a: 'NotQueued',
      runs: 'eu',
    });
  });

  test('nothing moves a second time', () => {
    const waiting = ['a', 'b', 'c'].map((name, index) => aWorkload(name, { cpu: '2' }, { createdMs: index }));
    const end = runToFixpoint(aWorld([main], both, waiting));
    const again = runToFixpoint(end.world);
    expect(end.isFixpoint).toBe(true);
    expect(jobStates(again)).toEqual(jobStates(end));
    expect(again.evictions.size).toBe(0);
  });
});
