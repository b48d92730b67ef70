import { beforeEach, expect, test } from 'vitest';
import { createCreateOutcomes, type CreateOutcomes } from '../../../../../manager/dispatch/writes/create-outcomes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const problem = { reason: 'ClusterError', message: 'down' } as const;
let clock: FakeClock;
let trials: number;
let creates: CreateOutcomes;
beforeEach(() => {
  clock = new FakeClock();
  trials = 0;
  creates = createCreateOutcomes(clock, () => void trials++);
});
const failThree = (): boolean[] => ['a', 'b', 'c'].map((name) => creates.failed(`team/${name}`, problem));

test('three Jobs that fail in a row close the cluster, and it is said when one may try it again', async () => {
  expect(failThree()).toEqual([false, false, true]);
  expect(creates.ability().kind).toBe('NotAble');
  await clock.advance(119_000);
  expect(trials).toBe(0);
  await clock.advance(1_000);
  expect({ trials, kind: creates.ability().kind }).toEqual({ trials: 1, kind: 'Trying' });
});

test('a failure while it is closed puts the trial off', async () => {
  failThree();
  await clock.advance(60_000);
  creates.failed('team/d', problem);
  await clock.advance(119_000);
  expect(trials).toBe(0);
  await clock.advance(1_000);
  expect(trials).toBe(1);
});

test('a create that succeeds opens it, and so does forgetting what failed on the way out', () => {
  failThree();
  creates.succeeded('team/d');
  expect(creates.ability()).toEqual({ kind: 'Able' });
  failThree();
  creates.forget();
  expect(creates.ability()).toEqual({ kind: 'Able' });
});

test('nothing is said once it is stopped', async () => {
  failThree();
  creates.stop();
  await clock.advance(600_000);
  expect(trials).toBe(0);
});
