import { describe, expect, test } from 'vitest';
import { isChosenEnd, isChosenPod, lastLines, lineCutter, printed } from '../../../../../manager/cli/logs/log-lines.ts';
import type { Pod } from '../../../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX } from '../../../../../shared/api/names.ts';

test('pods are chosen by index and by how they ended', () => {
  const pod = (index: string, phase: string): Pod =>
    ({ metadata: { annotations: { [JOB_COMPLETION_INDEX]: index } }, status: { phase } }) as unknown as Pod;
  expect(isChosenPod(pod('3', 'Running'), { index: undefined, failed: false })).toBe(true);
  expect(isChosenPod(pod('3', 'Running'), { index: 3, failed: false })).toBe(true);
  expect(isChosenPod(pod('13', 'Running'), { index: 3, failed: false })).toBe(false);
  expect(isChosenPod(pod('3', 'Running'), { index: 3, failed: true })).toBe(false);
  expect(isChosenEnd({ pod: 'p', phase: 'Failed', index: 3 }, { index: 3, failed: true })).toBe(true);
  expect(isChosenEnd({ pod: 'p', phase: 'Succeeded', index: 3 }, { index: 3, failed: true })).toBe(false);
  expect(isChosenEnd({ pod: 'p', phase: 'Failed' }, { index: 3, failed: false })).toBe(false);
});

describe('lines of a log', () => {
  test('have the name of their pod in front where there are several', () => {
    expect(printed('a\nb\n', 'p')).toBe('p: a\np: b\n');
    expect(printed('a\nb', undefined)).toBe('a\nb\n');
    expect(printed('', 'p')).toBe('');
  });

  test('keep their tabs, and steer no terminal', () => {
    expect(printed('a\tb\u001b[2Jc\r\n', undefined)).toBe('a\tb\\u{1b}[2Jc\n');
  });

  test('are counted from the end', () => {
    expect(lastLines('a\nb\nc\n', 2)).toBe('b\nc\n');
    expect(lastLines('a\nb', 5)).toBe('a\nb\n');
    expect(lastLines('a\n', 0)).toBe('');
    expect(lastLines('a\nb', undefined)).toBe('a\nb');
  });

  test('that come in pieces are put together, and one without an end does not wait for ever', () => {
    const cutter = lineCutter();
    expect([cutter.take('ab'), cutter.take('c\nd'), cutter.take('\n'), cutter.take('e'), cutter.rest()]).toEqual([
      '',
      'abc\n',
      'd\n',
      '',
      'e',
    ]);
    expect(lineCutter().take('x'.repeat(70_000))).toHaveLength(70_000);
  });
});
