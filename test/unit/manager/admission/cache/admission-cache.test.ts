import { describe, expect, test } from 'vitest';
import { createAdmissionCache, isSameAdmission, type AdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { NO_PRIORITY_CLASSES, type PriorityClasses } from '../../../../../manager/admission/workload/priority.ts';
import { flavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { clusterHolder } from '../../../../../manager/admission/quota/usage.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aClusterQueue, aCluster, aWorkload, objects } from '../setup.ts';

const recordOf = (requests: Record<string, string>, parts: Partial<AdmissionRecord> = {}): AdmissionRecord =>
  aRecord({ flavors: { cpu: 'default' }, requests: { ...requests, pods: '1' }, ...parts });
const record = recordOf({ cpu: '1' });
const setup = (...names: string[]) =>
  buildQueueingSetup(
    objects({
      clusterQueues: names.map((name) => aClusterQueue(name, { default: '9' }, name.startsWith('lone') ? {} : { cohortName: 'all' })),
    }),
  );
const aCache = (...queues: string[]): AdmissionCache => createAdmissionCache(setup(...queues));

/** Thousandths of cpu in use. */
const usedBy = (cache: AdmissionCache, queue = 'cq'): number => {
  const node = cache.queueing().tree.clusterQueues.get(queue);
  return cache.usage().get(node?.id ?? 'no such queue', flavorResource('default', 'cpu'));
};
const usedOn = (cache: AdmissionCache, cluster = 'eu-1', resource = 'cpu'): number => cache.usage().get(clusterHolder(cluster), resource);

describe('usage', () => {
  test('is what the records of assumed and admitted Workloads hold, in their queue and on their cluster', () => {
    const cache = aCache('cq');
    cache.assume(aWorkload('a', { cpu: '1' }), record);
    cache.admit(aWorkload('b', { cpu: '9' }), recordOf({ cpu: '2' }, { cluster: 'us-1' }));
    expect(usedBy(cache)).toBe(3000);
    expect([usedOn(cache), usedOn(cache, 'us-1'), usedOn(cache, 'eu-1', 'pods')]).toEqual([1000, 2000, 1]);
  });

  test('counts a Workload once, however often it is told of, and by its record, whatever it requests now', () => {
    const cache = aCache('cq');
    cache.assume(aWorkload('a', { cpu: '4' }), recordOf({ cpu: '4' }));
    cache.admit(aWorkload('a', { cpu: '4' }), recordOf({ cpu: '4' }));
    cache.admit(aWorkload('a', { cpu: '1' }), recordOf({ cpu: '4' }));
    expect([usedBy(cache), usedOn(cache)]).toEqual([4000, 4000]);
    cache.admit(aWorkload('a', { cpu: '1' }), recordOf({ cpu: '1' }));
    expect([usedBy(cache), usedOn(cache)]).toEqual([1000, 1000]);
  });

  test('that is not what a Workload asks for now is known, until it is or the Workload is gone', () => {
    const cache = aCache('cq');
    const mismatched = () => [...cache.mismatched()].map(({ workload }) => workload.name);
    cache.admit(aWorkload('as much', { cpu: '1', memory: '0' }), recordOf({ cpu: '1' }));
    cache.admit(aWorkload('more', { cpu: '2' }), recordOf({ cpu: '1' }));
    cache.admit(aWorkload('less', { cpu: '1' }), recordOf({ cpu: '1', memory: '1Gi' }));
    expect(mismatched()).toEqual(['more', 'less']);
    cache.admit(aWorkload('more', { cpu: '2' }), recordOf({ cpu: '2' }));
    cache.forget('team/less');
    expect(mismatched()).toEqual([]);
  });

  test('of a cluster tells how often a Workload has come to be admitted there', () => {
    const cache = aCache('cq');
    const evicting = { ...aWorkload('a', { cpu: '1' }), phase: 'Evicting' as const };
    const admitted = { ...aWorkload('a', { cpu: '1' }), phase: 'Admitted' as const };
    cache.assume(admitted, record);
    expect(cache.placements('eu-1')).toBe(0);
    cache.admit(admitted, record);
    cache.admit(admitted, record);
    expect(cache.placements('eu-1')).toBe(1);
    cache.admit(evicting, record);
    cache.admit(admitted, record);
    expect(cache.placements('eu-1')).toBe(2);
    cache.admit(admitted, recordOf({ cpu: '1' }, { cluster: 'us-1' }));
    expect([cache.placements('eu-1'), cache.placements('us-1')]).toEqual([2, 1]);
  });

  test('moves with a Workload that is placed elsewhere', () => {
    const cache = aCache('cq', 'other');
    cache.admit(aWorkload('a'), record);
    cache.admit(aWorkload('a'), { ...record, clusterQueue: 'other', cluster: 'us-1' });
    expect([usedBy(cache, 'cq'), usedBy(cache, 'other'), usedOn(cache), usedOn(cache, 'us-1')]).toEqual([0, 1000, 0, 1000]);
  });

  test('of a queue leaves out what was given without a flavor; the cluster is used all the same', () => {
    const cache = aCache('cq');
    cache.admit(aWorkload('a', { cpu: '1', memory: '1Gi' }), recordOf({ cpu: '1', memory: '1Gi' }, { flavors: {} }));
    expect([usedBy(cache), usedOn(cache), usedOn(cache, 'eu-1', 'memory')]).toEqual([0, 1000, 2 ** 30]);
  });

  test('ends when the Workload is forgotten, once', () => {
    const cache = aCache('cq');
    cache.admit(aWorkload('a'), record);
    expect(cache.forget('team/a')).toMatchObject({ workload: { name: 'a' }, record, assumed: false });
    expect(cache.forget('team/a')).toBeUndefined();
    expect([usedBy(cache), usedOn(cache), [...cache.reservations()]]).toEqual([0, 0, []]);
  });

  test('of a queue that is gone waits for it to come back', () => {
    const cache = aCache();
    cache.admit(aWorkload('a'), record);
    expect([usedBy(cache), usedOn(cache)]).toEqual([0, 1000]);
    cache.setQueueing(setup('cq'));
    expect([usedBy(cache), usedOn(cache)]).toEqual([1000, 1000]);
    cache.setQueueing(setup());
    cache.forget('team/a');
    expect(usedOn(cache)).toBe(0);
  });
});

test('a snapshot sees what is counted and keeps its own charges to itself', () => {
  const cache = aCache('cq');
  cache.setClusters([aCluster('eu-1')]);
  cache.admit(aWorkload('a'), record);
  const snapshot = cache.snapshot();
  snapshot.usage.set(clusterHolder('eu-1'), 'cpu', snapshot.usage.get(clusterHolder('us-1'), 'cpu'));
  expect(snapshot.usage.get(clusterHolder('eu-1'), 'cpu')).toBe(0);
  expect(usedOn(cache)).toBe(1000);
  expect([...snapshot.queues.keys()]).toEqual(['cq']);
  expect(snapshot.clusters.map(({ name }) => name)).toEqual(['eu-1']);
});

test('an assumed Workload is admitted once its record is seen', () => {
  const cache = aCache('cq');
  cache.assume(aWorkload('a'), record);
  expect(cache.get('team/a')?.assumed).toBe(true);
  expect([...cache.assumed()].map(({ workload }) => workload.key)).toEqual(['team/a']);
  cache.admit(aWorkload('a'), record);
  expect([...cache.assumed()]).toEqual([]);
  expect([...cache.reservations()].map(({ assumed }) => assumed)).toEqual([false]);
});

test('a ClusterQueue shares quota with those of the same root; one that is not there with nobody', () => {
  const cache = aCache('cq', 'other', 'lone');
  expect(cache.rootOf('cq')).toEqual(cache.rootOf('other'));
  expect(cache.rootOf('lone')).toEqual(['ClusterQueue/lone']);
  expect(cache.rootOf('gone')).toEqual([]);
});

test('two records are the same admission whatever the order of their flavors', () => {
  const both = aRecord({ flavors: { cpu: 'a', memory: 'b' } });
  expect(isSameAdmission(both, aRecord({ flavors: { memory: 'b', cpu: 'a' } }))).toBe(true);
  expect(isSameAdmission(both, { ...both, epoch: 2 })).toBe(false);
  expect(isSameAdmission(both, { ...both, flavors: { cpu: 'a' } })).toBe(false);
});

describe('those that hold quota stand in the order in which they would be preempted', () => {
  const wish = (workloadClass: string, parts = {}) => ({ priorityWish: { workloadClass }, phase: 'Admitted' as const, ...parts });
  const world = () => {
    let classes: PriorityClasses = {
      ...NO_PRIORITY_CLASSES,
      workload: new Map([
        ['low', -5],
        ['high', 5],
      ]),
      fallback: 1,
    };
    const cache = createAdmissionCache(setup('cq'), () => classes);
    const order = () => cache.admitted.of('cq').map(({ reservation, priority }) => `${reservation.workload.name} ${priority}`);
    const value = (next: Record<string, number>): void => {
      classes = { ...classes, workload: new Map(Object.entries(next)) };
      cache.reprioritize(() => true);
      cache.continueVisits(() => false);
    };
    return { cache, order, value };
  };

  test('assumed and admitted, until they are forgotten', () => {
    const { cache, order } = world();
    cache.admit(aWorkload('a', {}, wish('high')), record);
    cache.assume(aWorkload('b', {}, { priorityWish: {} }), record);
    cache.admit(aWorkload('c', {}, wish('low')), record);
    expect(order()).toEqual(['c -5', 'b 1', 'a 5']);
    expect(cache.admitted.on('cq', 'eu-1')).toHaveLength(3);
    cache.forget('team/b');
    expect(order()).toEqual(['c -5', 'a 5']);
  });

  test('one that is being suspended goes before all others', () => {
    const { cache, order } = world();
    cache.admit(aWorkload('a', {}, wish('low')), record);
    cache.admit(aWorkload('b', {}, wish('high', { phase: 'Evicting' })), record);
    expect(order()).toEqual(['b 5', 'a -5']);
  });

  test('by what their classes are worth now; one whose class is gone keeps what it was worth', () => {
    const { cache, order, value } = world();
    cache.admit(aWorkload('a', {}, wish('low')), record);
    cache.admit(aWorkload('b', {}, wish('high')), record);
    value({ low: 9 });
    expect(order()).toEqual(['b 5', 'a 9']);
    cache.admit(aWorkload('b', {}, wish('high', { resourceVersion: '2' })), record);
    cache.admit(aWorkload('c', {}, wish('unknown')), record);
    expect(order()).toEqual(['c 1', 'b 5', 'a 9']);
  });

  test('by what their queue lets them choose', () => {
    const cache = aCache('cq');
    cache.admit(aWorkload('a', {}, { priorityWish: { annotated: 7 }, phase: 'Admitted' }), record);
    expect(cache.admitted.of('cq')[0]?.priority).toBe(0);
    const localQueues = [
      {
        metadata: { ...objects({}).namespaces[0]?.metadata, name: 'main', namespace: 'team' },
        spec: { clusterQueue: 'cq', priorityBounds: { max: 9 } },
      },
    ];
    cache.setQueueing(
      buildQueueingSetup(
        objects({ clusterQueues: [aClusterQueue('cq', { default: '9' })], localQueues: JSON.parse(JSON.stringify(localQueues)) }),
      ),
    );
    expect(cache.continueVisits(() => false)).toBe(false);
    expect(cache.admitted.of('cq')[0]?.priority).toBe(7);
  });
});

describe('a queue that blocks admission', () => {
  const blocking = (blockAdmission: boolean) =>
    buildQueueingSetup(
      objects({ clusterQueues: [aClusterQueue('cq', { default: '9' }, { blockAdmission }), aClusterQueue('other', { default: '9' })] }),
    );
  const cache = (): AdmissionCache => createAdmissionCache(blocking(true));
  const placed = (name: string, parts = {}) => aWorkload(name, { cpu: '1' }, { phase: 'Admitted', ...parts });

  test('is blocked from a decision on until the pods are ready, and again while they are not', () => {
    const of = cache();
    of.assume(aWorkload('a'), record);
    expect([of.isBlocked('cq'), of.isBlocked('other')]).toEqual([true, false]);
    of.admit(placed('a'), record);
    expect(of.isBlocked('cq')).toBe(true);
    of.admit(placed('a', { started: true }), record);
    expect(of.isBlocked('cq')).toBe(false);
    of.admit(placed('a', { started: true, podsLostSinceMs: 1 }), record);
    expect(of.isBlocked('cq')).toBe(true);
    of.forget('team/a');
    expect(of.isBlocked('cq')).toBe(false);
  });

  test('waits for all of them, but for none that is suspended, held back, or has no pods', () => {
    const of = cache();
    of.admit(placed('a'), record);
    of.admit(placed('b', { phase: 'Reserved' }), record);
    of.admit(placed('a', { phase: 'Evicting' }), record);
    expect(of.isBlocked('cq')).toBe(true);
    of.admit(placed('b', { started: true }), record);
    expect(of.isBlocked('cq')).toBe(false);
    of.admit(placed('c', { heldBack: true }), record);
    of.admit(placed('d', { requests: parseRequests({ pods: '0' }) }), record);
    expect(of.isBlocked('cq')).toBe(false);
  });

  test('is blocked only as long as it says so', () => {
    const of = cache();
    of.admit(placed('a'), record);
    of.setQueueing(blocking(false));
    while (of.continueVisits(() => false));
    expect(of.isBlocked('cq')).toBe(false);
    of.setQueueing(blocking(true));
    while (of.continueVisits(() => false));
    expect(of.isBlocked('cq')).toBe(true);
  });
});
