import { expect, test } from 'vitest';
import { createStatusWindow } from '../../../../manager/dispatch/status-window.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function aWindow() {
  const clock = new FakeClock();
  return { clock, window: createStatusWindow(clock) };
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
