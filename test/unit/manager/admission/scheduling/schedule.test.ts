import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import type { Decision } from '../../../../../manager/admission/scheduling/decision.ts';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import { createCapacityBounds } from '../../../../../manager/admission/scheduling/capacity-bounds.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { decided } from '../kueue/cycle.ts';
import { aClusterQueue, aCluster, aSnapshot, aWorkload, head } from '../setup.ts';

const nowMs = Date.UTC(2026, 0, 1);
const outcome = (decisions: readonly Decision[]) =>
  Object.fromEntries(
    decisions.map((decision) => [decision.head.queued.workload.name, decision.kind === 'Inadmissible' ? decision.reason : decision.kind]),
  );

describe('one scheduling cycle', () => {
  test('admits a head that fits, with a record of where and from what', () => {
    const [decision] = schedule(
      aSnapshot([aClusterQueue('main', { default: '2' })], [aCluster('eu')]),
      [head('main', aWorkload('a'))],
      nowMs,
    );
    expect(decision).toMatchObject({
      kind: 'Admit',
      record: {
        clusterQueue: 'main',
        flavors: { cpu: 'default' },
        cluster: 'eu',
        epoch: 1,
        since: '2026-01-01T00:00:00Z',
        requests: { cpu: '1', pods: '1' },
      },
    });
  });

  test('a head that fitted until an earlier one took the room is requeued, not turned away', () => {
    const cohort = { cohortName: 'all' };
    const snapshot = aSnapshot(
      [aClusterQueue('a', { default: '1' }, cohort), aClusterQueue('b', { default: '1' }, cohort)],
      [aCluster('eu')],
    );
    const heads = [head('a', aWorkload('borrower', { cpu: '2' })), head('b', aWorkload('owner', { cpu: '1' }))];
    expect(outcome(schedule(snapshot, heads, nowMs))).toEqual({ owner: 'Admit', borrower: 'Requeue' });
  });

  test('of two heads of equal standing the older takes the last room of a cluster', () => {
    const queues = [aClusterQueue('a', { default: '9' }), aClusterQueue('b', { default: '9' })];
    const snapshot = aSnapshot(queues, [aCluster('eu', { capacity: { cpu: '1' } })]);
    const heads = [
      head('a', aWorkload('young', { cpu: '1' }, { createdMs: 2 })),
      head('b', aWorkload('old', { cpu: '1' }, { createdMs: 1 })),
    ];
    expect(outcome(schedule(snapshot, heads, nowMs))).toEqual({ old: 'Admit', young: 'Requeue' });
  });

  test('quota without a cluster waits for a cluster, what can never be given for other queues or clusters', () => {
    const snapshot = aSnapshot([aClusterQueue('main', { default: '2' })], []);
    expect(schedule(snapshot, [head('main', aWorkload('a'))], nowMs)).toMatchObject([
      { kind: 'Inadmissible', waitsFor: 'cluster', reason: 'NoClusterFits', message: 'no worker cluster is known' },
    ]);
    expect(schedule(snapshot, [head('main', aWorkload('a', { cpu: '3' }))], nowMs)).toMatchObject([
      { waitsFor: 'setup', reason: 'ExceedsQuota' },
    ]);
    const small = aSnapshot([aClusterQueue('main', { default: '2' })], [aCluster('eu', { capacity: { cpu: '1' } })]);
    const large = head('main', aWorkload('a', { cpu: '2' }));
    expect(schedule(small, [large], nowMs)).toMatchObject([{ waitsFor: 'setup', reason: 'NoClusterFits', message: 'eu: short of 1 cpu' }]);
    // Also while quota is short: that it becomes free would not help.
    small.usage.set('ClusterQueue/main', 'default/cpu', parseAmount('cpu', '1'));
    expect(schedule(small, [large], nowMs)).toMatchObject([{ waitsFor: 'setup', reason: 'NoClusterFits' }]);
    expect(schedule(small, [head('main', aWorkload('a', { cpu: '1' }))], nowMs)).toMatchObject([{ kind: 'Admit' }]);
  });

  test('the epoch rises with a move and stays with a resumption', () => {
    const previous = { clusterQueue: 'main', flavors: {}, cluster: 'eu', epoch: 3, since: '2025-01-01T00:00:00Z', requests: {} };
    const admit = (clusters: readonly string[]) =>
      schedule(
        aSnapshot(
          [aClusterQueue('main', { default: '2' })],
          clusters.map((name) => aCluster(name)),
        ),
        [head('main', aWorkload('a', { cpu: '1' }, { record: previous }))],
        nowMs,
      );
    expect(admit(['eu', 'us'])).toMatchObject([{ record: { cluster: 'eu', epoch: 3 } }]);
    expect(admit(['us'])).toMatchObject([{ record: { cluster: 'us', epoch: 4 } }]);
  });

  test('a record names the cluster by what it is, too: under another name it is resumed there, and another under its name is a move', () => {
    const previous = {
      clusterQueue: 'main',
      flavors: {},
      cluster: 'eu',
      clusterUID: 'uid-eu',
      epoch: 3,
      since: '2025-01-01T00:00:00Z',
      requests: {},
    };
    const admit = (name: string, uid: string | undefined) =>
      schedule(
        aSnapshot([aClusterQueue('main', { default: '2' })], [aCluster(name, { uid })]),
        [head('main', aWorkload('a', { cpu: '1' }, { record: previous }))],
        nowMs,
      );
    expect(admit('renamed', 'uid-eu')).toMatchObject([{ record: { cluster: 'renamed', clusterUID: 'uid-eu', epoch: 3 } }]);
    expect(admit('eu', 'uid-other')).toMatchObject([{ record: { cluster: 'eu', clusterUID: 'uid-other', epoch: 4 } }]);
    expect(admit('eu', 'uid-eu')).toMatchObject([{ record: { cluster: 'eu', clusterUID: 'uid-eu', epoch: 3 } }]);
  });

  test('a Job that was admitted before, and whose record is gone, gets an epoch beyond all that it can have had', () => {
    const snapshot = aSnapshot([aClusterQueue('main', { default: '2' })], [aCluster('eu')]);
    const workload = aWorkload('a', { cpu: '1' }, { finalizers: ['switchyard.dev/copies'], createdMs: nowMs - 90_000 });
    expect(schedule(snapshot, [head('main', workload)], nowMs)).toMatchObject([{ record: { epoch: 92 } }]);
  });

  test.each([
    [undefined, undefined, undefined],
    [undefined, 'Enabled', undefined],
    [undefined, 'Disabled', true],
    [true, 'Disabled', undefined],
    [false, 'Enabled', true],
  ] as const)(
    'a record says what fence was asked for when it was made: of a Job that says %s, of a queue that says %s',
    (fenced, fencing, unfenced) => {
      const snapshot = aSnapshot([aClusterQueue('main', { default: '2' }, omitUndefined({ fencing }))], [aCluster('eu')]);
      const [decision] = schedule(snapshot, [head('main', aWorkload('a', { cpu: '1' }, { fenced }))], nowMs);
      expect(decision?.kind === 'Admit' ? decision.record.unfenced : 'none').toBe(unfenced);
    },
  );

  test.each([
    [undefined, undefined, undefined, undefined],
    [true, undefined, undefined, 120],
    [undefined, 'Enabled', undefined, 120],
    [false, 'Enabled', undefined, undefined],
    [true, 'Disabled', undefined, 120],
    // Nobody renews the pods of what is not fenced.
    [undefined, 'Enabled', 'Disabled', undefined],
  ] as const)(
    'a record says whether its copy has a pod fence: of a Job that says %s, of a queue that says %s, and has fencing %s',
    (podFenced, podFence, fencing, seconds) => {
      const snapshot = aSnapshot([aClusterQueue('main', { default: '2' }, omitUndefined({ podFence, fencing }))], [aCluster('eu')]);
      const [decision] = schedule(snapshot, [head('main', aWorkload('a', { cpu: '1' }, { podFenced }))], nowMs);
      expect(decision?.kind === 'Admit' ? decision.record.podFence : 'none').toBe(seconds);
    },
  );

  test('a Job that goes on where it was has the pod fence that its copy was made with, whatever it says now', () => {
    const before = {
      clusterQueue: 'main',
      flavors: {},
      cluster: 'eu',
      epoch: 3,
      since: '2025-01-01T00:00:00Z',
      requests: {},
      evicted: true as const,
    };
    const snapshot = (name: string) => aSnapshot([aClusterQueue('main', { default: '2' })], [aCluster(name)]);
    const recorded = (cluster: string, podFenced: boolean, podFence?: number) => {
      const workload = aWorkload('a', { cpu: '1' }, { podFenced, record: { ...before, ...omitUndefined({ podFence }) } });
      const [decision] = schedule(snapshot(cluster), [head('main', workload)], nowMs);
      return decision?.kind === 'Admit' ? [decision.record.epoch, decision.record.podFence] : [];
    };
    expect([recorded('eu', true), recorded('eu', false, 120)]).toEqual([
      [3, undefined],
      [3, 120],
    ]);
    expect([recorded('us', true), recorded('us', false, 120)]).toEqual([
      [4, 120],
      [4, undefined],
    ]);
  });

  test('a cluster that refused the Job is tried when its time has come, as a placement of its own, and then with the refusal remembered', () => {
    const eu = { until: '2026-01-01T00:01:00Z', reason: 'NameTaken', refusals: 1, epoch: 3 };
    const record = {
      clusterQueue: 'main',
      flavors: {},
      cluster: 'eu',
      epoch: 3,
      since: '2025-01-01T00:00:00Z',
      requests: {},
      avoid: { eu },
    };
    const at = (ms: number) =>
      schedule(
        aSnapshot([aClusterQueue('main', { default: '2' })], [aCluster('eu')]),
        [head('main', aWorkload('a', { cpu: '1' }, { record }))],
        ms,
      );
    expect(at(nowMs)).toMatchObject([
      {
        kind: 'Inadmissible',
        reason: 'NoClusterFits',
        waitsFor: 'cluster',
        retryAtMs: nowMs + 60_000,
        message: 'eu: refused it (NameTaken), avoided until 2026-01-01T00:01:00Z',
      },
    ]);
    expect(at(nowMs + 60_000)).toMatchObject([{ kind: 'Admit', record: { cluster: 'eu', epoch: 4, avoid: { eu } } }]);
  });
});

test('with fair sharing a queue whose Job is preempted has a smaller share from then on in the same cycle', () => {
  const of = { cohort: 'all', quota: { cpu: '4' } };
  const running = [
    { name: 'borrower', queue: 'b', requests: { cpu: '8' } },
    { name: 'small', queue: 'c', requests: { cpu: '1' } },
  ];
  const waiting = [
    { name: 'owner', queue: 'a', requests: { cpu: '4' }, priority: 5, created: 1 },
    { name: 'older', queue: 'b', requests: { cpu: '2' }, created: 2 },
    { name: 'younger', queue: 'c', requests: { cpu: '2' }, created: 3 },
  ];
  const queues = { a: { ...of, preemption: { reclaimWithinCohort: 'Any' } }, b: of, c: of } as const;
  const fairSharing = { preemptionStrategies: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'] } as const;
  // Three are free: once the borrower is to go, neither of the two borrows, and the older one has them.
  expect(decided({ queues, running, waiting, fairSharing })).toEqual([
    'borrower stops (InCohortReclamation)',
    'older runs on default',
    'owner makes room',
    'younger is too late',
  ]);
});

test('a queue that blocks admission admits one Workload in a cycle, and none while its pods are not ready; the others keep their claims', () => {
  const spec = { blockAdmission: true };
  const snapshot = aSnapshot([aClusterQueue('main', { default: '9' }, spec), aClusterQueue('other', { default: '9' })], [aCluster('eu')]);
  const heads = [head('main', aWorkload('a')), head('main', aWorkload('b', {}, { createdMs: 1 })), head('other', aWorkload('c'))];
  expect(outcome(schedule(snapshot, heads, nowMs))).toEqual({ a: 'Admit', b: 'Requeue', c: 'Admit' });
  const blocked = { ...snapshot, isBlocked: (name: string) => name === 'main' };
  expect(outcome(schedule(blocked, heads, nowMs))).toEqual({ a: 'Requeue', b: 'Requeue', c: 'Admit' });
  expect(createCapacityBounds(blocked).isOpen('main')).toBe(false);
  expect(createCapacityBounds(blocked).isOpen('other')).toBe(true);
});
