import { describe, expect, test } from 'vitest';
import { lineDisplay, terminalDisplay, type Terminal } from '../../../../../manager/cli/local/display.ts';
import type { JobRow } from '../../../../../manager/cli/job-row.ts';

const row = (name: string, parts: Partial<JobRow> = {}): JobRow => ({
  name,
  cluster: undefined,
  state: 'Waiting',
  reason: '',
  active: 0,
  succeeded: 0,
  failed: 0,
  createdMillis: 0,
  nextTryMillis: undefined,
  admittedMillis: undefined,
  startedMillis: undefined,
  finishedMillis: undefined,
  ...parts,
});

const ESCAPE = '\u001b[';
const CLEAR_BELOW = `${ESCAPE}0J`;
const CONTROLS = new RegExp(`(${ESCAPE.replace('[', '\\[')}\\d+[AJ]|\r|\n)`);

/** A terminal as far as it is used here: text, line ends, the cursor going up, and clearing what is below. */
function aTerminal(size: { columns?: number; rows?: number } = { columns: 100, rows: 40 }) {
  const lines: string[] = [''];
  let at = 0;
  const apply = (part: string): void => {
    if (part === '\n') lines[++at] ??= '';
    else if (part === '\r') return;
    else if (part === CLEAR_BELOW) lines.splice(at, lines.length, '');
    else if (part.startsWith(ESCAPE)) at -= Number.parseInt(part.slice(ESCAPE.length), 10);
    else lines[at] = part;
  };
  const write = (text: string): void => {
    for (const part of text.split(CONTROLS)) if (part !== '') apply(part);
  };
  const output: Terminal = { write, ...size };
  return { output, lines };
}
const HEAD = expect.stringMatching(/^JOB /) as string;
const lineOf = (name: string): string => expect.stringMatching(new RegExp(`^${name} `)) as string;

describe('on a terminal', () => {
  test('the table is rewritten in place, and shrinks with its rows', () => {
    const { output, lines } = aTerminal();
    const display = terminalDisplay(output, () => 1000);
    display.show([row('a'), row('b')]);
    display.show([row('a', { state: 'Running', cluster: 'east' })]);
    expect(lines).toEqual([HEAD, expect.stringMatching(/^a +east +Running /), '']);
  });

  test('an address in a note stays whole, so that it can be followed and copied', () => {
    const { output, lines } = aTerminal({ columns: 40, rows: 40 });
    const display = terminalDisplay(output, () => 1000);
    const url = `http://127.0.0.1:16450/#/yard?token=${'x'.repeat(100)}`;
    display.note(`dashboard ${url}`);
    expect(lines.map((line) => line.trim())).toContain(url);
  });

  test('a note stays above the table, and what is being done stands below it until it is done', () => {
    const { output, lines } = aTerminal();
    const display = terminalDisplay(output, () => 1000);
    display.note('first');
    display.doing('waiting for it');
    display.show([row('a')]);
    display.note('second');
    expect(lines).toEqual(['first', 'second', HEAD, lineOf('a'), 'waiting for it', '']);
    display.doing('');
    expect(lines).toEqual(['first', 'second', HEAD, lineOf('a'), '']);
  });

  test('what was shown last stays when it ends, and what comes then stands below', () => {
    const { output, lines } = aTerminal();
    const display = terminalDisplay(output, () => 1000);
    display.show([row('a')]);
    display.end();
    display.note('done');
    expect(lines).toEqual([HEAD, lineOf('a'), 'done', '']);
  });

  test.each<[string, { columns?: number; rows?: number }, number]>([
    ['of 100 columns', { columns: 100, rows: 40 }, 99],
    ['that does not tell its width', {}, 79],
    ['that says it has no width', { columns: 0, rows: 0 }, 79],
  ])('%s the last column stays empty', (_what, size, most) => {
    const { output, lines } = aTerminal(size);
    const display = terminalDisplay(output, () => 1000);
    display.doing('x'.repeat(200));
    expect(display.width()).toBe(most);
    expect(lines[0]).toHaveLength(most);
  });

  test('no more is shown than can be rewritten', () => {
    const { output, lines } = aTerminal({ columns: 100, rows: 3 });
    terminalDisplay(output, () => 1000).show([row('a'), row('b'), row('c')]);
    expect(lines).toEqual([HEAD, lineOf('a'), '']);
  });

  test('that became narrower the lines which it has wrapped are rewritten, too', () => {
    const written: string[] = [];
    const output = { columns: 100, rows: 40, write: (text: string) => written.push(text) };
    const display = terminalDisplay(output, () => 1000);
    display.doing('x'.repeat(90));
    output.columns = 50;
    display.doing('y');
    expect(written.at(-1)).toBe('\u001b[2A\r\u001b[0Jy\n');
  });
});

test('in a pipe there is a line for every change, with the time since the start, and nothing of what is being done', () => {
  let written = '';
  const clock = { nowMs: 5000 };
  const display = lineDisplay({ write: (text) => (written += text) }, () => clock.nowMs);
  clock.nowMs = 6500;
  display.show([row('a'), row('b')]);
  display.doing('waiting');
  display.note('a note');
  display.show([row('a'), row('b', { state: 'Running', cluster: 'west', active: 1 })]);
  display.show([row('a'), row('b', { state: 'Running', cluster: 'west', active: 1 })]);
  display.end();
  expect(display.width()).toBe(Number.POSITIVE_INFINITY);
  expect(written.split('\n')).toEqual([
    '  1.5s  a: Waiting',
    '  1.5s  b: Waiting',
    'a note',
    '  1.5s  b: Running on west (active 1, succeeded 0, failed 0)',
    '',
  ]);
});
