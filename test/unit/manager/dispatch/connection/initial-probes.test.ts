import { expect, test } from 'vitest';
import { NEVER_PROBED } from '../../../../../manager/dispatch/cluster/cluster-health.ts';
import type { Finding } from '../../../../../manager/dispatch/cluster/cluster-status.ts';
import { createInitialProbes } from '../../../../../manager/dispatch/connection/initial-probes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const told = (status: 'True' | 'False') => ({
  conditions: [{ type: 'Ready', status, reason: 'Said', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
});
const found = (contact: 'Connecting' | 'Ready' | 'Lost', nodesListed = true): Finding => ({
  kind: 'Running',
  health: { ...NEVER_PROBED, contact },
  ability: { kind: 'Able' },
  capacity: { allocatable: {}, isAll: nodesListed },
  worker: { kind: 'OutOfSight' },
});

test('that a cluster is being connected to is told at once where nothing was told of it, and else after three seconds', async () => {
  const clock = new FakeClock();
  const first = createInitialProbes(clock, () => ['eu']);
  expect(first.putOffMs('eu', undefined, found('Connecting'))).toBeUndefined();
  expect(first.putOffMs('eu', told('True'), found('Connecting'))).toBe(3_000);
  await clock.advance(2_000);
  expect(first.putOffMs('eu', told('True'), found('Connecting'))).toBe(1_000);
  await clock.advance(1_000);
  expect(first.putOffMs('eu', told('True'), found('Connecting'))).toBeUndefined();
});

test('what is found is told at once, and so is everything once it was', () => {
  const first = createInitialProbes(new FakeClock(), () => ['eu']);
  expect(first.putOffMs('eu', told('True'), found('Lost'))).toBeUndefined();
  expect(first.putOffMs('eu', told('False'), found('Ready', false))).toBeUndefined();
  expect(
    first.putOffMs('eu', told('True'), { kind: 'Misconfigured', problem: { reason: 'KubeconfigMissing', message: '' } }),
  ).toBeUndefined();
  // Its nodes may have something to tell.
  expect(first.putOffMs('eu', told('True'), found('Ready', false))).toBe(3_000);
  first.agreed('eu');
  expect(first.putOffMs('eu', told('True'), found('Connecting'))).toBeUndefined();
});

test('all is settled when each cluster is known or gone, and after ten seconds whatever is known', async () => {
  const clock = new FakeClock();
  let names = ['eu', 'us', 'gone'];
  const first = createInitialProbes(clock, () => names);
  let settled = 0;
  const { signal } = new AbortController();
  void first.reported(signal).then(() => settled++);
  first.agreed('eu');
  first.agreed('us');
  await clock.advance(1_000);
  expect(settled).toBe(0);
  names = ['eu', 'us'];
  first.forget('gone');
  await clock.advance(0);
  expect(settled).toBe(1);
  void createInitialProbes(clock, () => ['silent'])
    .reported(signal)
    .then(() => settled++);
  await clock.advance(9_000);
  expect(settled).toBe(1);
  await clock.advance(1_000);
  expect(settled).toBe(2);
});
