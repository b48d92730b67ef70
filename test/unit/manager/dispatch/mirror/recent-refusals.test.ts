import { expect, test } from 'vitest';
import { createRecentRefusals } from '../../../../../manager/dispatch/mirror/recent-refusals.ts';
import { toWireTime } from '../../../../../shared/api/wire-time.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const job = (image: string, name = 'sum') =>
  aHomeJob({ metadata: { name, uid: name }, spec: { template: { spec: { containers: [{ name: 'main', image }] } } } });

test('those of a shape that were on their way when one was refused are held back for a minute, and no longer', async () => {
  const clock = new FakeClock();
  const refusals = createRecentRefusals(JOB_KIND, clock);
  const since = toWireTime(clock.now());
  await clock.advance(1_000);
  refusals.note('eu-1', job('a'), 'Refused');
  expect(refusals.holdMs('eu-1', job('a', 'other'), { since })).toBe(60_000);
  await clock.advance(59_999);
  expect(refusals.holdMs('eu-1', job('a', 'other'), { since })).toBe(1);
  await clock.advance(1);
  expect(refusals.holdMs('eu-1', job('a', 'other'), { since })).toBe(0);
});

test('others are not: of another shape, on another cluster, or admitted since', async () => {
  const clock = new FakeClock();
  const refusals = createRecentRefusals(JOB_KIND, clock);
  const since = toWireTime(clock.now());
  refusals.note('eu-1', job('a'), 'Refused');
  await clock.advance(2_000);
  expect(refusals.holdMs('eu-1', job('b'), { since })).toBe(0);
  expect(refusals.holdMs('us-2', job('a'), { since })).toBe(0);
  expect(refusals.holdMs('eu-1', job('a'), { since: toWireTime(clock.now()) })).toBe(0);
});

test('that a name is taken keeps nobody else back', () => {
  const clock = new FakeClock();
  const refusals = createRecentRefusals(JOB_KIND, clock);
  const since = toWireTime(clock.now());
  refusals.note('eu-1', job('a'), 'NameTaken');
  expect(refusals.holdMs('eu-1', job('a', 'other'), { since })).toBe(0);
});
