import { beforeEach, expect, test } from 'vitest';
import { createTrips, reportsTrip, type Trips } from '../../../../../manager/dispatch/cluster/cluster-trust.ts';
import type { Job, JobCondition } from '../../../../../shared/api/kubernetes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
let clock: FakeClock;
let trips: Trips;
let changes: string[];
beforeEach(() => {
  clock = new FakeClock(START);
  changes = [];
  trips = createTrips(clock, () => changes.push(`${(clock.now() - START) / MINUTE} ${trips.trust().kind}`));
});

const fenced = (status: 'True' | 'False', at: string): JobCondition => ({
  type: 'Fenced',
  status,
  reason: 'ManagerOutOfReach',
  message: '',
  lastTransitionTime: at,
  lastProbeTime: at,
});
const copy = (...conditions: JobCondition[]): Job => ({ metadata: { uid: 'copy' }, status: { conditions } }) as unknown as Job;
const stops = (uid = 'copy'): void => trips.seen({ ...copy(fenced('True', 'now')), metadata: { uid } as Job['metadata'] }, copy());
/** Its fence trips at these minutes. */
async function tripAt(...minutes: number[]): Promise<void> {
  for (const minute of minutes) {
    await clock.advance(START + minute * MINUTE - clock.now());
    stops();
  }
}
async function kindAt(minute: number): Promise<string> {
  await clock.advance(START + minute * MINUTE - clock.now());
  return trips.trust().kind;
}

test('a cluster whose fence trips now and then is used as before', async () => {
  expect(trips.trust().kind).toBe('Able');
  await tripAt(0, 1);
  expect(trips.trust().kind).toBe('Able');
  await tripAt(62, 123, 184);
  expect(trips.trust().kind).toBe('Able');
});

test('the third trip keeps Jobs away for a minute, and then it is tried for as long again', async () => {
  await tripAt(0, 1, 2);
  expect(trips.trust()).toMatchObject({
    problem: {
      reason: 'Unsteady',
      message: 'its worker has stopped the copies there 3 times since 2026-01-01T00:00:00Z, because it did not hear of the manager',
    },
    untilMs: START + 3 * MINUTE,
  });
  changes.length = 0;
  await clock.advance(120 * MINUTE);
  expect(changes).toEqual(['3 Trying', '4 Able', '62 Able']);
});

test('each further trip keeps them away for twice as long, up to an hour', async () => {
  await tripAt(0, 1, 2, 3.5);
  const kinds = [];
  for (const minute of [5.4, 5.5, 7.4, 7.5]) kinds.push(await kindAt(minute));
  expect(kinds).toEqual(['NotAble', 'Trying', 'Trying', 'Able']);
  await tripAt(...Array.from({ length: 30 }, (_, index) => index + 8));
  const later = [];
  for (const minute of [96, 98, 156, 157]) later.push(await kindAt(minute));
  expect(later).toEqual(['NotAble', 'Trying', 'Trying', 'Able']);
});

test('trust comes back with time: an hour without a trip, and they are forgotten', async () => {
  await tripAt(0, 1, 2, 62.1);
  expect(trips.trust().kind).toBe('Able');
});

test('what many copies tell of one trip counts once, and what one copy tells of three, after an interruption, three times', () => {
  for (const uid of ['a', 'b', 'c']) stops(uid);
  expect(changes).toHaveLength(1);
  for (const uid of ['a', 'a', 'b']) stops(uid);
  expect([changes.length, trips.trust().kind]).toEqual([3, 'NotAble']);
  trips.stop();
});

test.each<[string, Job, Job, boolean]>([
  ['nothing of a fence', copy(), copy(), false],
  ['that it is stopped', copy(fenced('True', 'a')), copy(), true],
  ['that it was stopped, and goes on', copy(fenced('False', 'b')), copy(), true],
  ['what it told before', copy(fenced('True', 'a')), copy(fenced('True', 'a')), false],
  ['that it goes on', copy(fenced('False', 'b')), copy(fenced('True', 'a')), false],
  ['that it is stopped again', copy(fenced('True', 'c')), copy(fenced('False', 'b')), true],
  ['that it was stopped again in the meantime, and goes on', copy(fenced('False', 'd')), copy(fenced('False', 'b')), true],
])('a copy that tells %s', (_, now, before, expected) => {
  expect(reportsTrip(now, before)).toBe(expected);
});
