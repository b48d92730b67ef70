import { expect, test } from 'vitest';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { nominate } from '../../../../../manager/admission/scheduling/nominate.ts';
import { classOf } from '../../../../../manager/admission/queues/pending-class.ts';
import { isRepeatedlyPreempted } from '../../../../../manager/admission/preemption/repeated-preemption.ts';
import { addUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { toWireTime } from '../../../../../shared/api/wire-time.ts';
import { incoming, told } from './preemption-world.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, head, queueOf } from '../setup.ts';

const START_MS = Date.UTC(2026, 0, 1);
/** The record of a Job that was stopped at these minutes, the last time for another Job. */
const stoppedAt = (minutes: readonly number[], parts: Partial<AdmissionRecord> = {}): AdmissionRecord => ({
  clusterQueue: 'main',
  flavors: { cpu: 'default' },
  cluster: 'eu',
  epoch: 1,
  since: toWireTime(START_MS),
  requests: { cpu: '1' },
  evicted: true,
  preempted: { by: 'team/other', clusterQueue: 'other', rule: 'InCohortFairSharing' },
  pastAdmissions: minutes.map((minute) => ({
    cluster: 'eu',
    since: toWireTime(START_MS),
    until: toWireTime(START_MS + minute * 60_000),
  })),
  ...parts,
});

test.each([
  ['five times within an hour', [0, 10, 20, 30, 60], true],
  ['five times within more', [0, 10, 20, 30, 61], false],
  ['five times within an hour, after others', [-200, -100, 0, 10, 20, 30, 60], true],
  ['four times', [0, 10, 20, 30], false],
])('a Job that was stopped %s', (_, minutes, isOften) => {
  expect(isRepeatedlyPreempted(stoppedAt(minutes))).toBe(isOften);
});

test('a Job that was never admitted, or stopped last for another reason, was not preempted', () => {
  const { preempted: _preempted, ...otherwise } = stoppedAt([0, 1, 2, 3, 4]);
  expect([isRepeatedlyPreempted(undefined), isRepeatedlyPreempted(otherwise)]).toEqual([false, false]);
});

test('it preempts where its queue does not borrow afterwards, and nobody otherwise', () => {
  const preemption = {
    withinClusterQueue: 'LowerPriority',
    reclaimWithinCohort: 'Any',
    borrowWithinCohort: { policy: 'LowerPriority', maxPriorityThreshold: 9 },
  } as const;
  const queues = { main: { cohort: 'all', quota: { cpu: '2' }, preemption }, other: { cohort: 'all', quota: { cpu: '2' } } };
  const admitted = [
    { name: 'own', queue: 'main', priority: -1, requests: { cpu: '1' } },
    { name: 'large', queue: 'other', priority: -1, requests: { cpu: '3' } },
  ];
  const takes = (cpu: string, record: AdmissionRecord) =>
    told(incoming({ queues, admitted }, { queue: 'main', priority: 5, requests: { cpu }, record }).victims);
  const [once, often] = [stoppedAt([0]), stoppedAt([0, 1, 2, 3, 4])];
  expect(takes('1', once)).toEqual(['large InCohortReclamation']);
  expect(takes('1', often)).toEqual(['large InCohortReclamation']);
  expect(takes('3', once)).toEqual(['large InCohortReclaimWhileBorrowing']);
  expect(takes('3', often)).toEqual([]);
});

test('what keeps it from preempting keeps no other Job of its queue, and is part of its condition', () => {
  const [often, once] = [stoppedAt([0, 1, 2, 3, 4]), stoppedAt([0])];
  const elsewhere = stoppedAt([0], { preempted: { by: 'team/other', clusterQueue: 'third', rule: 'InCohortFairSharing' } });
  const ids = [often, once, elsewhere].map((record) => classOf(aWorkload('job', { cpu: '1' }, { record }), []).id);
  expect(new Set(ids).size).toBe(3);
  const preemption = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;
  const snapshot = aSnapshot([aClusterQueue('main', { default: '1' }, { cohortName: 'all', preemption })], [aCluster('eu')]);
  addUsage(queueOf(snapshot, 'main').node, snapshot.usage, 'default/cpu', parseAmount('cpu', '1'));
  const messageOf = (record: AdmissionRecord): string => {
    const outcome = nominate(snapshot, head('main', aWorkload('job', { cpu: '1' }, { record })), START_MS);
    return outcome.kind === 'ReservingHead' ? outcome.decision.message : outcome.kind;
  };
  expect(messageOf(once)).toBe('cluster queue main: flavor default is short of 1 cpu');
  expect(messageOf(often)).toMatch(/is short of 1 cpu; it was stopped five times within an hour, and waits for capacity/);
});
