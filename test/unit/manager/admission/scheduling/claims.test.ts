import { describe, expect, test } from 'vitest';
import { quotaToReserve } from '../../../../../manager/admission/scheduling/claims.ts';
import type { FlavorOption } from '../../../../../manager/admission/flavors/flavor-assigner.ts';
import { addUsage, type FlavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { aClusterQueue, aCluster, aFlavor, aSnapshot, aWorkload, head, queueOf } from '../setup.ts';

const quota = (flavor: string, resource: string, nominalQuota: number, borrowingLimit?: number) => ({
  name: flavor,
  resources: [{ name: resource, nominalQuota, ...omitUndefined({ borrowingLimit }) }],
});

describe('what of its quota a Workload has kept for it, as in Kueue', () => {
  const clusterQueue = aClusterQueue(
    'cq',
    {},
    {
      cohortName: 'eng',
      resourceGroups: [
        { coveredResources: ['memory'], flavors: [quota('on-demand', 'memory', 100), quota('spot', 'memory', 0, 100)] },
        { coveredResources: ['gpu'], flavors: [quota('model-a', 'gpu', 10, 0), quota('model-b', 'gpu', 10, 5)] },
      ],
    },
  );
  const reserved = (
    mode: 'Fit' | 'Preempt',
    borrowing: number,
    asked: Record<FlavorResource, number>,
    used: Record<FlavorResource, number>,
  ) => {
    const snapshot = aSnapshot([clusterQueue], [], {
      resourceFlavors: ['on-demand', 'spot', 'model-a', 'model-b'].map((name) => aFlavor(name)),
    });
    const queue = queueOf(snapshot, 'cq');
    const each = (amounts: Record<FlavorResource, number>) =>
      Object.entries(amounts).map(([key, amount]) => [key as FlavorResource, parseAmount('gpu', amount)] as const);
    for (const [key, amount] of each(used)) addUsage(queue.node, snapshot.usage, key, amount);
    const flavors = each(asked).map(
      (charge): Pick<FlavorOption, 'mode' | 'borrowing' | 'charges'> => ({ mode, borrowing, charges: [charge] }),
    );
    return Object.fromEntries(quotaToReserve(queue, flavors, snapshot.usage));
  };
  const busy = { 'on-demand/memory': 60, 'spot/memory': 60, 'model-a/gpu': 2, 'model-b/gpu': 10 };

  test('what is left of its nominal quota, where that is less than it asks for', () => {
    expect(reserved('Preempt', 0, { 'on-demand/memory': 50, 'model-a/gpu': 6 }, { ...busy, 'model-a/gpu': 6 })).toEqual({
      'on-demand/memory': 40,
      'model-a/gpu': 4,
    });
  });
  test('no more than it asks for', () => {
    expect(reserved('Preempt', 0, { 'on-demand/memory': 30, 'model-a/gpu': 2 }, busy)).toEqual({
      'on-demand/memory': 30,
      'model-a/gpu': 2,
    });
  });
  test('all that it asks for, where that is free', () => {
    expect(reserved('Fit', 0, { 'on-demand/memory': 50, 'model-a/gpu': 2 }, busy)).toEqual({ 'on-demand/memory': 50, 'model-a/gpu': 2 });
  });
  test('nothing, where its queue has borrowed already', () => {
    expect(reserved('Preempt', 0, { 'spot/memory': 50, 'model-b/gpu': 2 }, busy)).toEqual({ 'spot/memory': 0, 'model-b/gpu': 0 });
  });
  test('of what it would borrow as much as the limit leaves', () => {
    expect(reserved('Preempt', 1, { 'spot/memory': 50, 'model-b/gpu': 2 }, busy)).toEqual({ 'spot/memory': 40, 'model-b/gpu': 2 });
  });
  test('all of what it would borrow, where there is no limit', () => {
    expect(reserved('Preempt', 1, { 'on-demand/memory': 50, 'model-b/gpu': 2 }, busy)).toEqual({
      'on-demand/memory': 50,
      'model-b/gpu': 2,
    });
  });
});

describe('one cycle', () => {
  const all = { cohortName: 'all' };
  const kinds = (...args: Parameters<typeof schedule>) =>
    Object.fromEntries(schedule(...args).map(({ head: { queued }, kind }) => [queued.workload.name, kind]));

  test('a borrower does not take what an owner waits for', () => {
    const snapshot = aSnapshot([aClusterQueue('a', { default: '2' }, all), aClusterQueue('b', { default: '0' }, all)], [aCluster('eu')]);
    addUsage(queueOf(snapshot, 'a').node, snapshot.usage, 'default/cpu', parseAmount('cpu', '1'));
    const heads = [head('a', aWorkload('owner', { cpu: '2' })), head('b', aWorkload('borrower', { cpu: '1' }, { createdMs: 1 }))];
    expect(kinds(snapshot, heads, 0)).toEqual({ owner: 'Inadmissible', borrower: 'Requeue' });
  });

  test('a borrower takes what an owner waits for who can have it back from anybody', () => {
    const preemption = { reclaimWithinCohort: 'Any' } as const;
    const queues = [aClusterQueue('a', { default: '2' }, { ...all, preemption }), aClusterQueue('b', { default: '0' }, all)];
    const snapshot = aSnapshot(queues, [aCluster('eu')]);
    addUsage(queueOf(snapshot, 'a').node, snapshot.usage, 'default/cpu', parseAmount('cpu', '1'));
    const heads = [head('a', aWorkload('owner', { cpu: '2' })), head('b', aWorkload('borrower', { cpu: '1' }, { createdMs: 1 }))];
    expect(kinds(snapshot, heads, 0)).toEqual({ owner: 'Inadmissible', borrower: 'Admit' });
  });

  test('who borrows from near goes before one of higher priority that must reach further', () => {
    const snapshot = aSnapshot(
      [
        aClusterQueue('guaranteed', { default: '0' }, { cohortName: 'near' }),
        aClusterQueue('best-effort', { default: '0' }, { cohortName: 'root' }),
      ],
      [aCluster('eu')],
      {
        cohorts: [
          {
            metadata: { name: 'near', uid: 'near', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
            spec: {
              parentName: 'root',
              resourceGroups: [{ coveredResources: ['cpu'], flavors: [quota('default', 'cpu', 4)] }],
            },
          },
        ],
      },
    );
    const urgent = head('best-effort', aWorkload('best-effort', { cpu: '4' }));
    const heads = [{ ...urgent, queued: { ...urgent.queued, priority: 3 } }, head('guaranteed', aWorkload('guaranteed', { cpu: '4' }))];
    expect(kinds(snapshot, heads, 0)).toEqual({ guaranteed: 'Admit', 'best-effort': 'Requeue' });
  });

  test('what a request beyond nominal could only have from the whole cohort is not kept', () => {
    const snapshot = aSnapshot([aClusterQueue('a', { default: '2' }, all), aClusterQueue('b', { default: '2' }, all)], [aCluster('eu')]);
    addUsage(queueOf(snapshot, 'b').node, snapshot.usage, 'default/cpu', parseAmount('cpu', '1'));
    const heads = [head('a', aWorkload('greedy', { cpu: '4' })), head('b', aWorkload('small', { cpu: '1' }, { createdMs: 1 }))];
    expect(kinds(snapshot, heads, 0)).toEqual({ greedy: 'Inadmissible', small: 'Admit' });
  });

  test('one that stands from an earlier cycle stops those after it, and they are told', () => {
    const queues = [aClusterQueue('a', { default: '9' }), aClusterQueue('b', { default: '9' })];
    const snapshot = aSnapshot(queues, [aCluster('eu', { capacity: { cpu: '4' } })]);
    snapshot.usage.set('WorkerCluster/eu', 'cpu', parseAmount('cpu', '1'));
    const large = head('a', aWorkload('large', { cpu: '4' }));
    const [waits] = schedule(snapshot, [large], 0);
    expect(waits).toMatchObject({
      kind: 'Inadmissible',
      reason: 'NoClusterFits',
      claim: { cluster: 'eu', flavors: [{ flavor: 'default' }] },
    });
    const claim = waits?.kind === 'Inadmissible' ? waits.claim : undefined;
    if (claim === undefined) throw new Error('nothing is kept');
    const heads = [head('b', aWorkload('small', { cpu: '1' }, { createdMs: 1 }))];
    expect(schedule(snapshot, heads, 0, [{ ...large, claim }])).toMatchObject([
      { kind: 'Inadmissible', waitsFor: 'cluster', reason: 'BehindOtherQueues' },
    ]);
  });
});
