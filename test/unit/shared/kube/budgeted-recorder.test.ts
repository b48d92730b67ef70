import { expect, test } from 'vitest';
import { createBudgetedRecorder } from '../../../../shared/kube/budgeted-recorder.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import { aHomeJob } from '../../../support/jobs.ts';

test('what the budget has no room for is dropped and counted, and later Events are written again', () => {
  const written: string[] = [];
  let [nowMs, dropped] = [0, 0];
  const inner = { event: (...[, , , reason]: readonly unknown[]) => void written.push(String(reason)), flush: () => Promise.resolve() };
  const recorder = createBudgetedRecorder(inner, { qps: 1, clock: { now: () => nowMs }, onDropped: () => dropped++ });
  const record = (reason: string): void => recorder.event(JOBS, aHomeJob(), 'Normal', reason, '');
  for (let step = 1; step <= 10; step++) record(`step${step}`);
  expect(written).toEqual(['step1', 'step2', 'step3', 'step4']);
  expect(dropped).toBe(6);
  nowMs += 1_000;
  record('later');
  expect(written.at(-1)).toBe('later');
});

test('without a budget nothing is written', () => {
  let dropped = 0;
  const inner = { event: () => expect.unreachable(), flush: () => Promise.resolve() };
  const recorder = createBudgetedRecorder(inner, { qps: 0, clock: { now: () => 0 }, onDropped: () => dropped++ });
  recorder.event(JOBS, aHomeJob(), 'Normal', 'Admitted', '');
  expect(dropped).toBe(1);
});
