import { expect, test } from 'vitest';
import { reportsLossOnly } from '../../../../../manager/dispatch/mirror/lost-place.ts';
import { createStatusWindow } from '../../../../../manager/dispatch/mirror/status-window.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aCondition, aHomeJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

function aWindow() {
  const clock = new FakeClock();
  return { clock, window: createStatusWindow(JOB_KIND, clock) };
}

test('progress waits 0.2 s while the API server answers at once, or was never asked', () => {
  const { window } = aWindow();
  expect(window.ms()).toBe(200);
  for (let write = 0; write < 100; write++) window.answered(8);
  expect(window.ms()).toBe(200);
});

test('the slower the answers are, the longer progress waits, up to 4 s', () => {
  const { window } = aWindow();
  window.answered(100);
  expect(window.ms()).toBe(1_600);
  for (let write = 0; write < 100; write++) window.answered(400);
  expect(window.ms()).toBe(4_000);
});

test('one slow answer among quick ones changes little, and is made up for by the next ones', () => {
  const { window } = aWindow();
  window.answered(8);
  window.answered(160);
  expect(window.ms()).toBe(16 * 27);
  for (let write = 0; write < 20; write++) window.answered(8);
  expect(window.ms()).toBe(200);
});

test('answers of two seconds ago say nothing of the server of now', async () => {
  const { clock, window } = aWindow();
  window.answered(400);
  await clock.advance(1_999);
  expect(window.ms()).toBe(4_000);
  await clock.advance(1);
  expect(window.ms()).toBe(200);
  window.answered(20);
  expect(window.ms()).toBe(320);
});

const saying = (message: string, status: object = {}) => ({
  active: 1,
  conditions: [aCondition('Dispatched', { status: 'True', reason: 'Dispatched', message }), aCondition('QuotaReserved')],
  ...status,
});
const aRunningJob = (spec = {}): Job => {
  const job = aHomeJob({ status: saying('dispatched to cluster "eu-1"') });
  return { ...job, spec: { ...job.spec, ...spec } };
};
const LOST = 'dispatched to cluster "eu-1"; lost since 2026-01-01T00:00:00Z';

test('of 20,000 Jobs whose clusters are lost, or back, twenty a second say so, and whatever else there is to say waits for none of them', () => {
  const { clock, window } = aWindow();
  const local = aRunningJob();
  const waits = Array.from({ length: 20_000 }, () => window.dueMs(local, saying(LOST), undefined) - clock.now());
  expect([waits[0], waits[20], waits.at(-1)]).toEqual([200, 1_200, 200 + 19_999 * 50]);
  const due = clock.now() + 500_000;
  expect(window.dueMs(local, saying(LOST), due)).toBe(due);
  // Its progress is news, and takes what it was to say along.
  expect(window.dueMs(local, saying(LOST, { ready: 1 }), due) - clock.now()).toBe(200);
  expect(window.dueMs(aRunningJob({ suspend: true }), saying('another', { active: 0 }), due) - clock.now()).toBe(200);
});

test.each([
  ['an end', { conditions: [aCondition('Complete', { status: 'True' })] }],
  [
    'that it is not dispatched',
    { active: 1, conditions: [aCondition('Dispatched', { status: 'False', reason: 'AtRest', message: 'rests' })] },
  ],
  ['nothing new', saying('dispatched to cluster "eu-1"')],
])('%s is not taken for news of a loss', (_, status) => {
  expect(reportsLossOnly(aRunningJob().status, status)).toBe(false);
});
