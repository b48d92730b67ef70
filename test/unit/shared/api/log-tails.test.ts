import { describe, expect, test } from 'vitest';
import { copyOfLogTails, cutToTail, lastLineOf, logTailsName } from '../../../../shared/api/log-tails.ts';

test('the tails of a copy are found by its UID', () => {
  expect(logTailsName('4711')).toBe('switchyard-logs-4711');
  expect([copyOfLogTails('switchyard-logs-4711'), copyOfLogTails('kube-root-ca.crt')]).toEqual(['4711', undefined]);
});

describe('the tail of a log', () => {
  test('is all of a short one', () => expect(cutToTail('a\nb\n', 10)).toBe('a\nb\n'));
  test('begins with a whole line', () => expect(cutToTail('first line\nsecond\nthird\n', 14)).toBe('second\nthird\n'));
  test('of one endless line are its last bytes', () => expect(cutToTail('x'.repeat(100), 10)).toBe('x'.repeat(10)));
  test('begins with a whole character', () => {
    expect(cutToTail('語'.repeat(10), 10)).toBe('語'.repeat(3));
    expect(cutToTail('語'.repeat(10), 10)).not.toContain('\ufffd');
  });
});

describe('the last line of a log', () => {
  test.each([
    ['is the last that says anything', 'one\ntwo\n\n   \n', 'two'],
    ['needs no end', 'one\ntwo', 'two'],
    ['has no colours and steers no terminal', '\u001b[31mboom\u001b[0m\u0007\r\n', 'boom'],
    ['cannot read as another', 'a\u202eb', 'a b'],
    ['is cut', 'abcdefghijklmnopqrstuvwxyz', 'abcdefghijklmnopqrs…'],
  ])('%s', (_, log, line) => expect(lastLineOf(log, 20)).toBe(line));

  test('is none where nothing is said', () => {
    expect(lastLineOf('', 20)).toBeUndefined();
    expect(lastLineOf('\n \n\u001b[0m\n', 20)).toBeUndefined();
  });
});
