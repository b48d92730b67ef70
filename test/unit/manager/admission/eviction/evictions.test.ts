import { expect, test } from 'vitest';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { findEvictions, type Eviction } from '../../../../../manager/admission/eviction/evictions.ts';
import { buildQueueingSetup, type QueueingSetup, type StopPolicy } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { WorkloadPhase } from '../../../../../manager/admission/workload/workload.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCluster, aClusterQueue, aWorkload, objects } from '../setup.ts';

const queues = (clusterQueue: StopPolicy = 'None', localQueue: StopPolicy = 'None'): QueueingSetup =>
  buildQueueingSetup(
    objects({
      clusterQueues: [aClusterQueue('cq', { default: '9' }, { stopPolicy: clusterQueue }), aClusterQueue('other', { default: '9' })],
      localQueues: [
        {
          metadata: { name: 'main', namespace: 'team', uid: 'lq', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
          spec: { clusterQueue: 'cq', stopPolicy: localQueue },
        },
      ],
    }),
  );
const held = (
  name: string,
  { phase = 'Admitted' as WorkloadPhase, assumed = false, clusterQueue = 'cq', cluster = 'eu-1' } = {},
): Reservation => ({
  held: new Map(),
  workload: aWorkload(name, {}, { phase, queue: clusterQueue === 'cq' ? 'main' : 'elsewhere' }),
  record: aRecord({ clusterQueue, cluster }),
  assumed,
});
const clusters = (draining = false) => [aCluster('eu-1', { draining }), aCluster('us-1')];
type Held = Partial<Record<'reservations' | 'mismatched' | 'refused' | 'resting' | 'displaced', readonly Reservation[]>> & {
  readonly alike?: readonly (readonly [Reservation, string])[];
};
const evictionsOf = (
  { reservations = [], mismatched = [], refused = [], alike = [], resting = [], displaced = [] }: Held,
  setup: QueueingSetup,
  states = clusters(),
): Eviction[] =>
  findEvictions(
    {
      reservations: () => reservations.values(),
      onCluster: (name) => reservations.filter(({ record }) => record.cluster === name),
      mismatched: () => mismatched,
      refused: () => refused,
      refusedAlike: () => alike,
      held: () => resting,
      displaced: () =>
        displaced.map((reservation) => ({
          reservation,
          by: { key: 'team/train', uid: 'uid-train', clusterQueue: 'cq' },
          rule: 'InClusterQueue',
        })),
    },
    setup,
    states,
  );
test('an unsteady cluster is left by those that could run on a steady one, unless they are not fenced', () => {
  const at = (states: Parameters<typeof evictionsOf>[2], reservation = held('a')) =>
    evictionsOf({ reservations: [reservation] }, queues(), states);
  const unsteady = aCluster('eu-1', { unsteady: true, closed: 'not ready (NotAble)' });
  expect(at([unsteady, aCluster('us-1')])).toMatchObject([
    {
      reason: 'ClusterUnsteady',
      message: 'cluster eu-1 has stopped it again and again, because its worker did not hear of the manager',
      refusal: 'Fenced',
      event: 'Evicted',
    },
  ]);
  expect(at([unsteady])).toEqual([]);
  expect(at([unsteady, aCluster('us-1', { closed: 'cordoned' })])).toEqual([]);
  expect(at([unsteady, aCluster('us-1', { tryingSinceMs: 1 })])).toEqual([]);
  expect(at([unsteady, aCluster('us-1', { servedNamespaces: ['other'] })])).toEqual([]);
  expect(at([unsteady, aCluster('us-1')], { ...held('a'), assumed: true })).toEqual([]);
  const unfenced = held('a');
  expect(at([unsteady, aCluster('us-1')], { ...unfenced, record: { ...unfenced.record, unfenced: true } })).toEqual([]);
});

const found = (reservations: readonly Reservation[], setup: QueueingSetup, states = clusters()): string[] =>
  evictionsOf({ reservations }, setup, states).map(
    ({ reservation, reason, message }) => `${reservation.workload.name}: ${reason}: ${message}`,
  );

test('one that is to give its place up for another is evicted once its admission is seen, and told for whom', () => {
  const evictions = evictionsOf({ displaced: [held('a'), held('b', { phase: 'Evicting' }), held('c', { assumed: true })] }, queues());
  expect(evictions).toMatchObject([
    {
      reservation: { workload: { name: 'a' } },
      reason: 'Preempted',
      message: 'preempted by Job team/train of cluster queue cq (InClusterQueue: it goes first in the same cluster queue)',
      event: 'Preempted',
      displacement: { by: { key: 'team/train' } },
    },
  ]);
  expect(evictions).toHaveLength(1);
});

test('a Workload that is to rest is evicted, unless it is being suspended already', () => {
  const evictions = evictionsOf({ resting: [held('a'), held('b', { phase: 'Evicting' })] }, queues());
  expect(evictions.map(({ reservation, reason }) => [reservation.workload.name, reason])).toEqual([['a', 'Held']]);
});

test('nobody is evicted while nothing is drained; Hold only keeps new ones out', () => {
  expect(found([held('a')], queues())).toEqual([]);
  expect(found([held('a')], queues('Hold', 'Hold'))).toEqual([]);
});

test('a drained ClusterQueue evicts its Workloads, and those of no other', () => {
  expect(found([held('a'), held('b', { clusterQueue: 'other' })], queues('HoldAndDrain'))).toEqual([
    'a: ClusterQueueStopped: cluster queue cq is being drained',
  ]);
});

test('a drained LocalQueue evicts what was submitted to it', () => {
  expect(found([held('a'), held('b', { clusterQueue: 'other' })], queues('None', 'HoldAndDrain'))).toEqual([
    'a: LocalQueueStopped: local queue main is being drained',
  ]);
});

test('a draining cluster evicts what is placed there', () => {
  expect(found([held('a'), held('b', { cluster: 'us-1' })], queues(), clusters(true))).toEqual([
    'a: ClusterDraining: cluster eu-1 is draining',
  ]);
});

test('of several reasons the widest is told: the ClusterQueue, then the LocalQueue, then the cluster', () => {
  const reason = (setup: QueueingSetup) =>
    evictionsOf({ reservations: [held('a')] }, setup, clusters(true)).map((eviction) => eviction.reason);
  expect(reason(queues('HoldAndDrain', 'HoldAndDrain'))).toEqual(['ClusterQueueStopped']);
  expect(reason(queues('None', 'HoldAndDrain'))).toEqual(['LocalQueueStopped']);
});

test('what is being admitted or suspended already is left alone', () => {
  expect(
    found([held('a', { assumed: true }), held('b', { phase: 'Evicting' }), held('c', { phase: 'Pending' })], queues('HoldAndDrain')),
  ).toEqual([]);
});

test('a Workload that asks for more than it holds is evicted, whatever is drained; one that asks for less is not', () => {
  const holding = (name: string, parts: object, holds: Record<string, string>): Reservation => ({
    ...held(name),
    workload: aWorkload(name, { cpu: '2' }, { phase: 'Admitted', ...parts }),
    held: parseRequests(holds),
  });
  const mismatched = [
    holding('grown', {}, { cpu: '1500m', pods: '1' }),
    holding('shrunk', {}, { cpu: '3', pods: '1' }),
    holding('evicting', { phase: 'Evicting' }, { cpu: '1', pods: '1' }),
    { ...holding('assumed', {}, { cpu: '1', pods: '1' }), assumed: true },
  ];
  expect(
    evictionsOf({ reservations: mismatched, mismatched }, queues()).map(
      ({ reservation, reason, message }) => `${reservation.workload.name}: ${reason}: ${message}`,
    ),
  ).toEqual(['grown: ExceedsReservation: it asks for 500m cpu more than it was admitted with']);
});

test('a Workload that its cluster has refused is evicted with what it was refused for; one that is suspended already is not', () => {
  const refused = (name: string, phase: WorkloadPhase): Reservation => {
    const reservation = held(name, { phase });
    return { ...reservation, workload: { ...reservation.workload, refusal: 'NameTaken' } };
  };
  const both = [refused('running', 'Admitted'), refused('evicting', 'Evicting')];
  expect(evictionsOf({ reservations: both, refused: both }, queues())).toMatchObject([
    {
      reservation: { workload: { name: 'running' } },
      reason: 'ClusterRefused',
      message: 'cluster eu-1 refused it (NameTaken)',
      refusal: 'NameTaken',
    },
  ]);
});
