import { describe, expect, test } from 'vitest';
import { lineDisplay, terminalDisplay } from '../../../../../manager/cli/local/display.ts';
import type { JobRow } from '../../../../../manager/cli/local/job-row.ts';

const row = (name: string, parts: Partial<JobRow> = {}): JobRow => ({
  name,
  cluster: undefined,
  state: 'Waiting',
  reason: '',
  active: 0,
  succeeded: 0,
  failed: 0,
  createdMillis: 0,
  admittedMillis: undefined,
  startedMillis: undefined,
  finishedMillis: undefined,
  ...parts,
});

/** A terminal as far as it is used here: text, line ends, the cursor going up, and clearing what is below. */
function aTerminal(columns?: number) {
  const lines: string[] = [''];
  let at = 0;
  const apply = (part: string): void => {
    if (part === '\n') lines[++at] ??= '';
    else if (part === '\r') return;
    else if (part === '\u001b[0J') lines.splice(at, lines.length, '');
    else if (part.startsWith('\u001b[')) at -= Number.parseInt(part.slice(2), 10);
    else lines[at] = part;
  };
  const write = (text: string): boolean => {
    // eslint-disable-next-line no-control-regex
    for (const part of text.split(/(\u001b\[\d+[AJ]|\r|\n)/)) if (part !== '') apply(part);
    return true;
  };
  return { output: { write, columns } as NodeJS.WriteStream, lines };
}

describe('on a terminal', () => {
  test('the table is rewritten in place, and shrinks with its rows', () => {
    const { output, lines } = aTerminal(200);
    const display = terminalDisplay(output, () => 1000);
    display.show([row('a'), row('b')]);
    display.show([row('a', { state: 'Running', cluster: 'east' })]);
    expect(lines).toEqual([expect.stringMatching(/^JOB /), expect.stringMatching(/^a +east +Running /), '']);
  });

  test('a note stays above the table', () => {
    const { output, lines } = aTerminal(200);
    const display = terminalDisplay(output, () => 1000);
    display.note('first');
    display.show([row('a')]);
    display.note('second');
    expect(lines).toEqual(['first', 'second', expect.stringMatching(/^JOB /), expect.stringMatching(/^a /), '']);
  });

  test('what was shown last stays when it ends, and what comes then stands below', () => {
    const { output, lines } = aTerminal(200);
    const display = terminalDisplay(output, () => 1000);
    display.show([row('a')]);
    display.end();
    display.note('done');
    expect(lines).toEqual([expect.stringMatching(/^JOB /), expect.stringMatching(/^a /), 'done', '']);
  });

  test.each<[string, number | undefined, number]>([
    ['narrow terminal', 30, 29],
    ['terminal that does not tell its width', undefined, 79],
  ])('no line is as wide as a %s', (_what, columns, most) => {
    const { output, lines } = aTerminal(columns);
    terminalDisplay(output, () => 1000).show([row('a', { reason: 'x'.repeat(200) })]);
    expect(Math.max(...lines.map(({ length }) => length))).toBe(most);
  });
});

test('in a pipe there is a line for every change, with the time since the start', () => {
  let written = '';
  const clock = { nowMs: 5000 };
  const output = { write: (text: string) => ((written += text), true) } as NodeJS.WriteStream;
  const display = lineDisplay(output, () => clock.nowMs);
  clock.nowMs = 6500;
  display.show([row('a'), row('b')]);
  display.note('a note');
  display.show([row('a'), row('b', { state: 'Running', cluster: 'west', active: 1 })]);
  display.show([row('a'), row('b', { state: 'Running', cluster: 'west', active: 1 })]);
  display.end();
  expect(written.split('\n')).toEqual([
    '  1.5s  a: Waiting',
    '  1.5s  b: Waiting',
    'a note',
    '  1.5s  b: Running on west (active 1, succeeded 0, failed 0)',
    '',
  ]);
});
