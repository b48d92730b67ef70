import { describe, expect, test } from 'vitest';
import { linesOf, NO_LINES, partsOf, withText } from '../../../../../manager/dashboard/page/log-lines.ts';

describe('the lines of a log', () => {
  test('come in pieces that end anywhere', () => {
    const log = ['one\ntw', 'o\n', 'thr'].reduce((before, text) => withText(before, text, 10), NO_LINES);
    expect(linesOf(log)).toEqual(['one', 'two', 'thr']);
    expect(linesOf(withText(log, 'ee\n', 10))).toEqual(['one', 'two', 'three']);
  });

  test('are let go from the front when there are too many, and counted', () => {
    const log = withText(withText(NO_LINES, '1\n2\n3\n', 2), '4\n5', 2);
    expect(log).toEqual({ lines: ['3', '4'], rest: '5', dropped: 2 });
  });
});

describe('what is looked for in a line', () => {
  const marked = (line: string, wanted: string): string =>
    partsOf(line, wanted)
      .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
      .join('');

  test('is marked wherever it stands, whatever its case', () => {
    expect(marked('Loss 1, loss 2', 'LOSS')).toBe('[Loss] 1, [loss] 2');
    expect(marked('aaa', 'aa')).toBe('[aa]a');
    expect(marked('none', 'x')).toBe('none');
    expect(marked('', 'x')).toBe('');
    expect(marked('all', '')).toBe('all');
  });

  test('changes no letter of it: not of one that is longer in the other case, and not of markup', () => {
    expect(marked('İstanbul gate', 'gate')).toBe('İstanbul gate');
    expect(marked('<img src=x>', 'img')).toBe('<[img] src=x>');
  });
});
