import { expect, test } from 'vitest';
import { createLostClusters } from '../../../../manager/api/lost-clusters.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
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

test('what passed before anybody looked is taken from lostSince', async () => {
  const { clock, lost, ago, minutes } = setup();
  lost.handler.added(aCluster({ lostSince: ago(10) }));
  expect([minutes(), lost.names()]).toEqual([10, ['eu-1']]);
  await clock.advance(5 * MINUTE);
  expect(minutes()).toBe(15);
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

test('a lostSince ahead of our clock counts from now', () => {
  const { lost, ago, minutes } = setup();
  lost.handler.added(aCluster({ lostSince: ago(-10) }));
  expect(minutes()).toBe(0);
});

test('it was heard of a little later than was thought: that much less has passed', async () => {
  const { clock, lost, ago, see, minutes } = setup();
  lost.handler.added(aCluster({ lostSince: ago(10) }));
  see({ lostSince: ago(8) });
  expect(minutes()).toBe(8);
  await clock.advance(MINUTE);
  see({ lostSince: ago(100) });
  expect(minutes()).toBe(9);
  see({ lostSince: ago(0) });
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
