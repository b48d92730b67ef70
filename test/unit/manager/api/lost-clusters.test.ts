import { expect, test } from 'vitest';
import { createLostClusters } from '../../../../manager/api/lost-clusters.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const MINUTE = 60_000;
const condition = (type: string, status: 'True' | 'False', reason = 'Because') => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const aCluster = (status: WorkerCluster['status'] = {}, state: 'Active' | 'Lost' = 'Active'): WorkerCluster => ({
  metadata: { name: 'eu-1', uid: 'eu-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { local: true, state },
  status,
});
const setup = () => {
  const clock = new FakeClock();
  const lost = createLostClusters(clock);
  const ago = (minutes: number): string => toWireTime(clock.now() - minutes * MINUTE);
  const see = (status: WorkerCluster['status'], state?: 'Active' | 'Lost') => lost.handler.updated(aCluster(status, state));
  return { clock, lost, ago, see, minutes: () => (lost.of('eu-1')?.lostMs ?? Number.NaN) / MINUTE };
};

test('what passed before anybody looked here is what leaders before have counted, whatever the clock here says of lostSince', async () => {
  const { clock, lost, ago, minutes } = setup();
  const lostSince = ago(30);
  lost.handler.added(aCluster({ lostSince, lostCounted: { since: lostSince, seconds: 600 } }));
  expect([minutes(), lost.names()]).toEqual([10, ['eu-1']]);
  await clock.advance(5 * MINUTE);
  expect(minutes()).toBe(15);
});

test.each([
  ['nobody', undefined],
  ['somebody, for an earlier loss,', { since: '2025-01-01T00:00:00Z', seconds: 600 }],
])('where %s has counted it counts from now', (_, lostCounted) => {
  const { lost, ago, minutes } = setup();
  lost.handler.added(aCluster({ lostSince: ago(30), ...omitUndefined({ lostCounted }) }));
  expect(minutes()).toBe(0);
});

test('a clock that is put forward, or back, moves nothing', async () => {
  const { clock, lost, ago, see, minutes } = setup();
  lost.handler.added(aCluster());
  await clock.advance(MINUTE);
  const lostSince = ago(0);
  clock.stepTimeOfDay(600 * MINUTE);
  see({ lostSince });
  expect(minutes()).toBe(0);
  await clock.advance(MINUTE);
  clock.stepTimeOfDay(-1000 * MINUTE);
  expect(minutes()).toBe(1);
  see({ lostSince });
  expect(minutes()).toBe(1);
});

test('it was heard of later than was thought: that counts anew, and what is written down of the count does not', async () => {
  const { clock, lost, ago, see, minutes } = setup();
  const first = ago(10);
  lost.handler.added(aCluster({ lostSince: first, lostCounted: { since: first, seconds: 600 } }));
  const later = ago(8);
  see({ lostSince: later });
  expect(minutes()).toBe(0);
  await clock.advance(2 * MINUTE);
  see({ lostSince: later, lostCounted: { since: later, seconds: 60 } });
  expect(minutes()).toBe(2);
  // In the same second by the clock of the next leader.
  see({ lostSince: later, lostCounted: { since: later, seconds: 0 } });
  expect(minutes()).toBe(0);
});

test('it came back, and is lost again: that counts anew', async () => {
  const { clock, lost, ago, see, minutes } = setup();
  lost.handler.added(aCluster({ lostSince: ago(10) }));
  see({});
  expect([lost.of('eu-1'), lost.names()]).toEqual([undefined, []]);
  await clock.advance(MINUTE);
  see({ lostSince: ago(0.5) });
  expect(minutes()).toBe(0);
});

test('how long it is given up counts from when that was seen, until it is taken back', async () => {
  const { clock, lost, ago, see } = setup();
  see({ lostSince: ago(10) }, 'Lost');
  await clock.advance(MINUTE);
  see({ lostSince: ago(10) }, 'Lost');
  expect(lost.of('eu-1')?.givenUpMs).toBe(MINUTE);
  see({ lostSince: ago(10) });
  expect(lost.of('eu-1')?.givenUpMs).toBeUndefined();
});

test('what its worker last said of itself goes with it', () => {
  const { lost, ago, see } = setup();
  see({ lostSince: ago(1), worker: { fenceAfterSeconds: 60 }, conditions: [condition('WorkerAlive', 'True')] });
  expect(lost.of('eu-1')).toMatchObject({ fenceAfterSeconds: 60, workerAlive: true, otherManager: false });
  see({ lostSince: ago(1), conditions: [condition('WorkerAlive', 'False'), condition('Ready', 'False', 'OtherManager')] });
  expect(lost.of('eu-1')).toMatchObject({ fenceAfterSeconds: undefined, workerAlive: false, otherManager: true });
  lost.handler.deleted(aCluster());
  expect(lost.of('eu-1')).toBeUndefined();
});
