import { beforeEach, expect, test } from 'vitest';
import { createWorkerAbsence, type WorkerAbsence } from '../../../../../manager/dispatch/lease/worker-absence.ts';
import type { WorkerFinding } from '../../../../../manager/dispatch/cluster/worker-finding.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const NONE: WorkerFinding = { kind: 'None', where: 'leases/worker', mayStart: true };
const BEATING: WorkerFinding = {
  kind: 'Announced',
  where: 'leases/worker',
  pulse: 'Beating',
  worker: { name: 'pod-1', version: '1', controllerName: 'switchyard.dev/worker', fenceAfterSeconds: 60 },
};

let clock: FakeClock;
let changes: number;
let absence: WorkerAbsence;
beforeEach(() => {
  clock = new FakeClock();
  changes = 0;
  absence = createWorkerAbsence(clock, () => void changes++);
});

test('a worker may be starting for 40 seconds, and its absence is told after a minute, once', async () => {
  expect(absence.found(NONE)).toMatchObject({ mayStart: true });
  await clock.advance(39_999);
  expect(absence.found(NONE)).toMatchObject({ mayStart: true });
  await clock.advance(1);
  expect(absence.found(NONE)).toMatchObject({ mayStart: false });
  expect(absence.reason()).toBeUndefined();
  await clock.advance(20_000);
  absence.found(NONE);
  absence.found(NONE);
  expect(absence.reason()).toMatch(/^no worker has announced itself in Lease leases\/worker/);
  expect(changes).toBe(1);
});

test('one that is back within a minute is never missed, and one that is back later no more', async () => {
  absence.found(NONE);
  await clock.advance(59_000);
  absence.found(BEATING);
  await clock.advance(5_000);
  absence.found(NONE);
  expect([absence.reason(), changes]).toEqual([undefined, 0]);
  await clock.advance(60_000);
  absence.found(NONE);
  expect(absence.reason()).toBeDefined();
  absence.found(BEATING);
  expect([absence.reason(), changes]).toEqual([undefined, 2]);
});

test('while the cluster is out of reach what was told stays', async () => {
  absence.found(NONE);
  await clock.advance(60_000);
  absence.found(NONE);
  const told = absence.reason();
  absence.found({ kind: 'OutOfSight' });
  expect([absence.reason(), changes]).toEqual([told, 1]);
});
