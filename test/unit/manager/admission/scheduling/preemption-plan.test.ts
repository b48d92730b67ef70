import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { createAdmittedIndex } from '../../../../../manager/admission/workload/admitted-index.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import type { Head } from '../../../../../manager/admission/scheduling/decision.ts';
import { assignFlavors } from '../../../../../manager/admission/flavors/flavor-assigner.ts';
import { charge } from '../../../../../manager/admission/flavors/holding.ts';
import { mayRatherPreempt, planPreemption, preemptionOracle } from '../../../../../manager/admission/scheduling/preemption-plan.ts';
import type { Snapshot } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { admittedOf, aQueue, told, type Holding, type QueueOf } from '../preemption/preemption-world.ts';
import { aCluster, aSnapshot, aWorkload, queueOf } from '../setup.ts';

const byPriority: QueueOf['preemption'] = { withinClusterQueue: 'LowerPriority' };
const reclaiming: QueueOf['preemption'] = { ...byPriority, reclaimWithinCohort: 'Any' };

function snapshotOf(queues: Readonly<Record<string, QueueOf>>, clusters: readonly ClusterState[], admitted: readonly Holding[]): Snapshot {
  const snapshot = aSnapshot(
    Object.entries(queues).map(([name, spec]) => aQueue(name, spec)),
    clusters,
  );
  const index = createAdmittedIndex();
  for (const each of admitted.map(admittedOf)) {
    index.set(each);
    const { record, held } = each.reservation;
    const { node } = queueOf(snapshot, record.clusterQueue);
    charge(snapshot.usage, { node, charges: each.charges, cluster: record.cluster, amounts: held });
  }
  return { ...snapshot, admitted: index };
}
const comes = (clusterQueue: string, cpu: string, parts: Partial<Head> = {}): Head => ({
  clusterQueue,
  queued: { workload: aWorkload('in', { cpu }), priority: 5, arrival: 0 },
  ...parts,
});
function planned(snapshot: Snapshot, head: Head) {
  const queue = queueOf(snapshot, head.clusterQueue);
  const groups = assignFlavors(head.queued.workload, queue, snapshot.usage, preemptionOracle(snapshot, head, queue)).claimable ?? [];
  const plan = planPreemption(snapshot, head, queue, groups, 0);
  return (
    plan && {
      cluster: plan.placement.cluster,
      flavor: plan.placement.flavors[0]?.flavor,
      victims: told(plan.victims),
      borrowing: plan.borrowing,
    }
  );
}
const holds = (name: string, cluster: string, cpu: string, parts: Partial<Holding> = {}): Holding => ({
  name,
  queue: 'main',
  cluster,
  requests: { cpu },
  ...parts,
});
const room = (name: string, cpu: string, parts: Partial<Omit<ClusterState, 'capacity'>> = {}) =>
  aCluster(name, { capacity: { cpu, pods: '100' }, ...parts });

describe('where and for whom', () => {
  const main = { main: { quota: { cpu: '8' }, preemption: byPriority } };

  test('where a cluster has room, it goes there, and quota is got back from wherever it is held', () => {
    const snapshot = snapshotOf(
      main,
      [room('east', '8'), room('west', '8')],
      [holds('a', 'east', '6'), holds('b', 'west', '2', { priority: -1 })],
    );
    // The fuller one of two with room.
    expect(planned(snapshot, comes('main', '2'))).toEqual({
      cluster: 'east',
      flavor: 'default',
      victims: ['b InClusterQueue'],
      borrowing: 0,
    });
  });

  test('where none has, room is made where that does the least harm', () => {
    const admitted = [holds('a', 'east', '2'), holds('b', 'east', '2'), holds('c', 'west', '4', { priority: 4 })];
    const snapshot = snapshotOf(main, [room('east', '4'), room('west', '4')], admitted);
    expect(planned(snapshot, comes('main', '4'))).toMatchObject({ cluster: 'west', victims: ['c InClusterQueue'] });
    expect(planned(snapshot, comes('main', '2'))).toMatchObject({ cluster: 'east', victims: [expect.stringMatching(/^[ab] /)] });
  });

  test('a cluster that is closed, or that could not hold it, is none', () => {
    const admitted = [holds('a', 'east', '4'), holds('b', 'west', '4')];
    const snapshot = snapshotOf(main, [room('east', '4', { closed: 'cordoned' }), room('west', '4')], admitted);
    expect(planned(snapshot, comes('main', '4'))).toMatchObject({ cluster: 'west' });
    expect(planned(snapshot, comes('main', '5'))).toBeUndefined();
  });

  test('of clusters that are as good the one where it waits for room already', () => {
    const admitted = [holds('a', 'east', '4'), holds('b', 'west', '4')];
    const snapshot = snapshotOf(main, [room('east', '4'), room('west', '4')], admitted);
    const claim = (cluster: string) => comes('main', '4', { claim: { cluster, flavors: [], borrowing: 0, preempts: true } });
    expect(['east', 'west'].map((cluster) => planned(snapshot, claim(cluster))?.cluster)).toEqual(['east', 'west']);
  });

  test('who is on a cluster that is out of reach cannot be shown to stop', () => {
    const admitted = [holds('a', 'away', '4'), holds('b', 'east', '4', { priority: 1 })];
    const away = { connected: false, closed: 'not ready' };
    const victims = (parts: Partial<ClusterState>, leaving: boolean) =>
      planned(
        snapshotOf(
          main,
          [room('east', '9'), room('away', '9', { ...away, ...parts })],
          [{ ...(admitted[0] ?? expect.fail()), leaving }, admitted[1] ?? expect.fail()],
        ),
        comes('main', '4'),
      )?.victims;
    expect(victims({}, false)).toEqual(['b InClusterQueue']);
    expect(victims({}, true)).toEqual(['a InClusterQueue']);
    expect(victims({ lost: true }, true)).toEqual(['b InClusterQueue']);
  });

  test('what it borrows is what it borrows when they are gone', () => {
    const queues = { main: { cohort: 'all', quota: { cpu: '2' }, preemption: reclaiming }, other: { cohort: 'all', quota: { cpu: '2' } } };
    const snapshot = snapshotOf(queues, [room('east', '9')], [holds('a', 'east', '4', { queue: 'other' })]);
    expect(planned(snapshot, comes('main', '2'))).toMatchObject({ victims: ['a InCohortReclamation'], borrowing: 0 });
    // Who asks for more than nominal preempts only where the queue says that borrowers may (Kueue).
    const borrowing = { ...queues.main, preemption: { ...reclaiming, borrowWithinCohort: { policy: 'LowerPriority' } } } as const;
    const held = [holds('a', 'east', '4')];
    expect(planned(snapshotOf(queues, [room('east', '9')], held), comes('main', '3'))).toBeUndefined();
    const own = snapshotOf({ ...queues, main: borrowing }, [room('east', '9')], held);
    expect(planned(own, comes('main', '3'))).toMatchObject({ victims: ['a InClusterQueue'], borrowing: 1 });
  });
});

describe('flavors', () => {
  const groups = [{ default: { cpu: '2' }, spot: { cpu: '2' } }];
  const queues = (parts: QueueOf): Readonly<Record<string, QueueOf>> => ({
    main: { cohort: 'all', groups, preemption: reclaiming, ...parts },
    other: { cohort: 'all', groups: [{ default: { cpu: '0' }, spot: { cpu: '0' } }] },
  });
  const admitted = [holds('own', 'east', '2'), holds('theirs', 'east', '2', { queue: 'other', flavor: 'spot' })];

  test('one in which only other queues give back goes before one in which its own queue must', () => {
    expect(planned(snapshotOf(queues({}), [room('east', '9')], admitted), comes('main', '2'))).toMatchObject({
      flavor: 'spot',
      victims: ['theirs InCohortReclamation'],
    });
  });

  test('unless the search ends at the first in which it can', () => {
    const snapshot = snapshotOf(queues({ flavorFungibility: { whenCanPreempt: 'MayStopSearch' } }), [room('east', '9')], admitted);
    expect(planned(snapshot, comes('main', '2'))).toMatchObject({ flavor: 'default', victims: ['own InClusterQueue'] });
  });

  test('nothing is planned where a better one is free', () => {
    expect(planned(snapshotOf(queues({}), [room('east', '9')], admitted.slice(0, 1)), comes('main', '2'))).toBeUndefined();
  });

  test('what could be had of one of them, and by whom', () => {
    const snapshot = snapshotOf(queues({}), [room('east', '9')], admitted);
    const oracle = preemptionOracle(snapshot, comes('main', '2'), queueOf(snapshot, 'main'));
    const two = parseAmount('cpu', 2);
    expect([oracle('default/cpu', two), oracle('spot/cpu', two)]).toEqual([
      { mode: 'Preempt', borrowing: 0 },
      { mode: 'Reclaim', borrowing: 0 },
    ]);
    const patient = snapshotOf(queues({ preemption: {} }), [room('east', '9')], admitted);
    expect(preemptionOracle(patient, comes('main', '2'), queueOf(patient, 'main'))('default/cpu', two)).toMatchObject({
      mode: 'NoCandidates',
    });
  });
});

test('who may preempt although something is free', () => {
  const queues = {
    alone: { quota: { cpu: '1' }, preemption: { reclaimWithinCohort: 'Any' }, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } },
    own: { quota: { cpu: '1' }, preemption: byPriority },
    keen: { quota: { cpu: '1' }, preemption: byPriority, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } },
    idle: { quota: { cpu: '1' }, flavorFungibility: { whenCanPreempt: 'MayStopSearch' } },
  } as const;
  const snapshot = snapshotOf(queues, [], []);
  expect(Object.keys(queues).filter((name) => mayRatherPreempt(queueOf(snapshot, name)))).toEqual(['keen']);
});
