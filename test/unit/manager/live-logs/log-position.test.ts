import { describe, expect, test } from 'vitest';
import {
  createLogReader,
  formatPosition,
  LINE_LENGTH_MAX,
  parsePosition,
  sinceTimeOf,
  writtenMs,
  type LogPosition,
} from '../../../../manager/live-logs/log-position.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';

const at = (seconds: number, nanos: number, text: string): string =>
  `2026-01-01T00:00:${String(seconds).padStart(2, '0')}.${String(nanos).padStart(9, '0')}Z ${text}\n`;
/** What an API server sends of a log that is read from then on. */
const since = (log: readonly string[], position: LogPosition | undefined): string =>
  position === undefined ? log.join('') : log.filter((line) => line.slice(0, 19) >= sinceTimeOf(position).slice(0, 19)).join('');

test('lines come without their times, when they are whole, however they are cut', () => {
  const reader = createLogReader();
  expect(reader.take('2026-01-01T00:00:01.5Z fir')).toBe('');
  expect(reader.at).toBeUndefined();
  expect(reader.take('st\n2026-01-01T02:00:02.000000001+02:00 second\n2026-01-01T00:00:03Z \n2026')).toBe('first\nsecond\n\n');
  expect(reader.at).toEqual({
    stamp: `${String(Date.parse('2026-01-01T00:00:03Z') / 1000).padStart(11, '0')}.000000000`,
    same: 1,
    after: 0,
  });
  expect(reader.take('-01-01T00:00:04Z without an end')).toBe('');
  expect(reader.rest()).toBe('without an end\n');
  expect(reader.rest()).toBe('');
});

test('a line without a time is shown, and moves nothing', () => {
  const reader = createLogReader();
  expect(reader.take(`${at(1, 0, 'a')}unable to retrieve container logs\n`)).toBe('a\nunable to retrieve container logs\n');
  expect(reader.at).toMatchObject({ same: 1, after: 0 });
});

test('a line that never ends takes no more memory than what is shown of it', () => {
  const reader = createLogReader();
  reader.take('2026-01-01T00:00:01.000000000Z ');
  for (let piece = 0; piece < 1_000; piece++) expect(reader.take('x'.repeat(1_000))).toBe('');
  const [line = ''] = reader.take('\n').split('\n');
  expect(line).toBe(`${'x'.repeat(LINE_LENGTH_MAX)} [${1_000_000 - LINE_LENGTH_MAX} more characters of this line]`);
});

describe('who comes back', () => {
  test('says where he was, and is believed where that can be', () => {
    const position = { stamp: '01767225601.000000005', same: 2, after: 3 };
    expect(parsePosition(formatPosition(position))).toEqual(position);
    expect(sinceTimeOf(position)).toBe('2026-01-01T00:00:00Z');
    expect(writtenMs(position)).toBe(Date.parse('2026-01-01T00:00:01Z'));
    for (const text of [undefined, '', 'epoch1-5', '01767225601.000000005-2', '99999999999999.1-1-1', '01767225601.000000005-1-1\n'])
      expect(parsePosition(text)).toBeUndefined();
  });

  test('reads on behind lines of the same time, and behind older ones that came after them', () => {
    const log = [at(5, 7, 'a'), at(5, 7, 'b'), at(5, 6, 'older'), at(5, 7, 'c'), at(5, 3, 'older still'), at(6, 0, 'd')];
    for (let read = 1; read <= log.length; read++) {
      const first = createLogReader();
      const before = first.take(log.slice(0, read).join(''));
      const again = createLogReader(parsePosition(formatPosition(first.at!)));
      expect(before + again.take(since(log, first.at))).toBe('a\nb\nolder\nc\nolder still\nd\n');
    }
  });

  test('reads what there is where the rest was thrown away, as when a log is rotated', () => {
    const first = createLogReader();
    first.take(at(5, 7, 'a') + at(5, 7, 'b'));
    const again = createLogReader(first.at);
    expect(again.take(at(9, 0, 'new') + at(9, 1, 'newer'))).toBe('new\nnewer\n');
  });

  test('reads all lines once, of any log that is out of order by less than a second, whenever he leaves', () => {
    const random = seededRandom(13);
    for (let round = 0; round < 200; round++) {
      let nowNanos = 10_000_000_000;
      const log = Array.from({ length: 40 }, (_, line) => {
        nowNanos += Math.floor(random() * 4) * 200_000_000;
        const nanos = nowNanos - (random() < 0.3 ? Math.floor(random() * 4) * 200_000_000 : 0);
        return at(Math.floor(nanos / 1e9), nanos % 1e9, String(line));
      });
      let position: LogPosition | undefined;
      let text = '';
      let written = 0;
      while (written < log.length) {
        // What was written meanwhile, of which he reads a part.
        written = Math.min(log.length, written + 1 + Math.floor(random() * 8));
        const all = since(log.slice(0, written), position);
        const reader = createLogReader(position);
        text += reader.take(all.slice(0, written === log.length ? all.length : Math.floor(random() * (all.length + 1))));
        position = parsePosition(formatPosition(reader.at ?? { stamp: '', same: 0, after: 0 }));
      }
      expect(text, `round ${round}`).toBe(log.map((_, line) => `${line}\n`).join(''));
    }
  });
});
