import { describe, expect, test } from 'vitest';
import {
  ENTRY_BYTES_MAX,
  LogDecoder,
  LogEncoder,
  type LogView,
  tailPosition,
} from '../../../../../../shared/controlplane/controllers/node-agent/log-format.ts';
import { seededRandom } from '../../../../../../shared/runtime/random.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
/** A log of outputs that come a second after one another. */
const logOf = (...outputs: string[]): Buffer => {
  const encoder = new LogEncoder();
  const entries = outputs.map((output, second) => encoder.encode(Buffer.from(output), START + second * 1000));
  return Buffer.concat([...entries, encoder.end(START + outputs.length * 1000)]);
};
const shown = (log: Buffer, view: Partial<LogView> = {}): string =>
  new LogDecoder({ timestamps: false, ...view }).decode(log).toString('utf8');

describe('kept output', () => {
  test('has the time at which each line was complete', () => {
    expect(logOf('one\ntwo\nth', 'ree\n').toString()).toBe(
      '2026-01-01T00:00:00.000000000Z F one\n2026-01-01T00:00:00.000000000Z F two\n2026-01-01T00:00:01.000000000Z F three\n',
    );
  });
  test('tells a line that was never finished', () => {
    expect(logOf('one\ntw', 'o').toString()).toMatch(/Z F one\n2026-01-01T00:00:02.000000000Z P two\n$/);
  });
  test('cuts long lines into entries that are put together again', () => {
    const long = 'x'.repeat(2 * ENTRY_BYTES_MAX + 5);
    const log = logOf(`${long}\nshort\n`);
    expect(log.toString().match(/Z [PF] /g)).toEqual(['Z P ', 'Z P ', 'Z F ', 'Z F ']);
    expect(shown(log)).toBe(`${long}\nshort\n`);
    expect(shown(log, { timestamps: true })).toBe(`2026-01-01T00:00:00.000000000Z ${long}\n2026-01-01T00:00:00.000000000Z short\n`);
  });
  test('is what it was, whatever the bytes and however they came, on the way in and out', () => {
    const random = seededRandom(5);
    const bytes = Buffer.from(Array.from({ length: 100_000 }, () => (random() < 0.01 ? 10 : Math.floor(random() * 256))));
    const pieces = (whole: Buffer): Buffer[] => {
      const found: Buffer[] = [];
      for (let start = 0; start < whole.length; start += found.at(-1)?.length ?? 0) {
        found.push(whole.subarray(start, start + 1 + Math.floor(random() * 40_000)));
      }
      return found;
    };
    const encoder = new LogEncoder();
    const log = Buffer.concat([...pieces(bytes).map((piece) => encoder.encode(piece, START)), encoder.end(START)]);
    const decoder = new LogDecoder({ timestamps: false });
    expect(Buffer.concat(pieces(log).map((piece) => Buffer.from(decoder.decode(piece)))).equals(bytes)).toBe(true);
  });
});

describe('a log', () => {
  const log = logOf('one\n', 'two\n', 'three\n');
  test('is shown with times', () => {
    expect(shown(log, { timestamps: true })).toBe(
      '2026-01-01T00:00:00.000000000Z one\n2026-01-01T00:00:01.000000000Z two\n2026-01-01T00:00:02.000000000Z three\n',
    );
  });
  test('is shown from a time on', () => {
    expect(shown(log, { sinceMs: START + 1000 })).toBe('two\nthree\n');
    expect(shown(log, { sinceMs: START + 1001 })).toBe('three\n');
    expect(shown(log, { sinceMs: -1e15 })).toBe('one\ntwo\nthree\n');
  });
  test('is shown up to a number of bytes, in the middle of a line or of its time', () => {
    expect(shown(log, { limitBytes: 6 })).toBe('one\ntw');
    expect(shown(log, { limitBytes: 4, timestamps: true })).toBe('2026');
    const decoder = new LogDecoder({ timestamps: false, limitBytes: 4 });
    decoder.decode(log);
    expect(decoder.isFull).toBe(true);
  });
});

describe('the tail of a log', () => {
  const long = 'x'.repeat(ENTRY_BYTES_MAX + 1);
  const tail = (log: Buffer, lines: number): string => {
    const position = tailPosition(
      log.length,
      lines,
      (before) => (before <= 0 ? -1 : log.lastIndexOf(10, before - 1)),
      (at) => log[at],
    );
    return shown(log.subarray(position));
  };
  test.each([
    [0, ''],
    [1, 'three\n'],
    [2, `${long}\nthree\n`],
    [3, `one\n${long}\nthree\n`],
    [9, `one\n${long}\nthree\n`],
  ])('has the last %i lines, long ones counted once', (lines, expected) => {
    expect(tail(logOf(`one\n${long}\nthree\n`), lines)).toBe(expected);
  });
  test('counts a line that was never finished', () => {
    expect(tail(logOf('one\ntwo\nthr'), 1)).toBe('thr');
    expect(tail(logOf('one\ntwo\nthr'), 2)).toBe('two\nthr');
  });
  test('of nothing is nothing', () => {
    expect(tail(Buffer.alloc(0), 3)).toBe('');
  });
});
