import { expect, test } from 'vitest';
import { startDeadline } from '../../../../../manager/admission/cache/start-deadlines.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCluster, aClusterQueue, aWorkload, objects } from '../setup.ts';

const SINCE = '2026-01-01T00:00:00Z';
const START = Date.parse(SINCE);
const MINUTE = 60_000;
const world = (startTimeout?: string, cluster = {}) => ({
  setup: buildQueueingSetup(
    objects({ clusterQueues: [aClusterQueue('cq', { default: '9' }, startTimeout === undefined ? {} : { startTimeout })] }),
  ),
  clusters: new Map([['eu-1', aCluster('eu-1', cluster)]]),
});
const recovering = (recoveryTimeout: string, cluster = {}) => ({
  ...world(undefined, cluster),
  setup: buildQueueingSetup(objects({ clusterQueues: [aClusterQueue('cq', { default: '9' }, { recoveryTimeout })] })),
});
const placed = (name: string, parts: Partial<Workload> = {}, since = SINCE): Reservation => ({
  workload: aWorkload(name, {}, { phase: 'Admitted', ...parts }),
  record: aRecord({ since }),
  held: new Map(),
  assumed: false,
});

test.each<[string, Parameters<typeof startDeadline>, number | undefined]>([
  ['ten minutes when nobody says otherwise', [placed('a'), world()], 10],
  ['as long as its queue says', [placed('a'), world('3m')], 3],
  ['as long as it says itself', [placed('a', { startTimeoutMs: MINUTE }), world('3m')], 1],
  ['any time when its queue says so', [placed('a'), world('0s')], undefined],
  ['any time when it says so', [placed('a', { startTimeoutMs: 0 }), world('3m')], undefined],
  ['from when its cluster came back', [placed('a'), world('3m', { reachableSinceMs: START + 2 * MINUTE })], 5],
  ['any time while its cluster is lost', [placed('a'), world('3m', { lost: true })], undefined],
  ['no more when it has started', [placed('a', { started: true }), world()], undefined],
  ['any time while it is held back', [placed('a', { heldBack: true }), world()], undefined],
  ['no more when it is being suspended', [placed('a', { phase: 'Evicting' }), world()], undefined],
  ['not while its admission is being written', [{ ...placed('a'), assumed: true }, world()], undefined],
  ['never when it has no pods to start', [placed('a', { requests: new Map([['pods', 0 as never]]) }), world()], undefined],
  ['never on a cluster that nobody knows', [{ ...placed('a'), record: aRecord({ cluster: 'gone' }) }, world()], undefined],
  [
    'no time when it has lost pods and nobody says otherwise',
    [placed('a', { started: true, podsLostSinceMs: START + 60 * MINUTE }), world()],
    undefined,
  ],
  [
    'to recover as long as its queue says, from when it lost pods',
    [placed('a', { started: true, podsLostSinceMs: START + 60 * MINUTE }), recovering('5m')],
    65,
  ],
  [
    'to recover as long as it says itself',
    [placed('a', { started: true, podsLostSinceMs: START, recoveryTimeoutMs: MINUTE }), recovering('5m')],
    1,
  ],
  [
    'any time to recover when it says so',
    [placed('a', { started: true, podsLostSinceMs: START, recoveryTimeoutMs: 0 }), recovering('5m')],
    undefined,
  ],
  [
    'to recover from when its cluster came back',
    [placed('a', { started: true, podsLostSinceMs: START }), recovering('5m', { reachableSinceMs: START + 2 * MINUTE })],
    7,
  ],
])('a Workload has time: %s', (_what, [reservation, where], minutes) => {
  expect(startDeadline(reservation, where)?.dueMs).toBe(minutes === undefined ? undefined : START + minutes * MINUTE);
});
