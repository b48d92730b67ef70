import { expect, test } from 'vitest';
import { createProgressLine } from '../../../../manager/cli/progress-line.ts';
import type { Output } from '../../../../manager/cli/session.ts';

function terminal(isTerminal = true): Output & { text: string } {
  const output = { text: '', isTerminal, width: 60, colours: false, write: async (text: string) => void (output.text += text) };
  return output;
}
const at = (done: number) => () => ({ done, total: 3, words: '' });

test('on a terminal a line is rewritten in place, lines that stay go above it, and nothing of it is left at the end', async () => {
  const output = terminal();
  let now = 0;
  const progress = createProgressLine(output, 3, () => now);
  await progress.show(at(0));
  await progress.show(at(1));
  now = 50;
  await progress.line('a has failed');
  await progress.show(at(2));
  await progress.show(at(3), true);
  await progress.end();
  const [none, two, all] = ['[>                       ] 0/3', '[================>       ] 2/3', '[========================] 3/3'];
  const erase = '\r\u001b[K';
  expect(output.text).toBe(`${erase}${none}${erase}a has failed\n${none}${erase}${two}${erase}${all}${erase}`);
});

test.each([
  ['in a pipe', terminal(false), 3],
  ['of one part', terminal(), 1],
])('%s there is none, and lines are lines', async (_where, output, parts) => {
  const progress = createProgressLine(output, parts, () => 0);
  await progress.show(at(1), true);
  await progress.line('a has ended');
  await progress.end();
  expect([progress.isShown, output.text]).toEqual([false, 'a has ended\n']);
});
