import { describe, expect, test } from 'vitest';
import { unifiedDiff } from '../../../../../shared/controlplane/apimachinery/unified-diff.ts';

const lines = (...numbers: (number | string)[]): string => numbers.join('\n');
const upTo = (end: number): number[] => Array.from({ length: end }, (_, i) => i + 1);

describe('a unified diff', () => {
  test('of equal texts is empty', () => expect(unifiedDiff('a\nb', 'a\nb')).toBe(''));
  test('shows three lines around a change', () => {
    const before = lines(...upTo(9));
    expect(unifiedDiff(before, before.replace('5', 'x'))).toBe('@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n');
  });
  test('shows changes that are far apart in hunks of their own', () => {
    const before = lines(...upTo(20));
    const after = lines('x', ...upTo(20).slice(1, -1), 'y');
    expect(unifiedDiff(before, after)).toBe('@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+y\n');
  });
  test('counts one line without saying so, and no line from the one before', () => {
    expect(unifiedDiff('a', 'b')).toBe('@@ -1 +1 @@\n-a\n+b\n');
    expect(unifiedDiff(lines(...upTo(4)), lines(...upTo(4), 'x'))).toBe('@@ -2,3 +2,4 @@\n 2\n 3\n 4\n+x\n');
  });
  test('keeps the longest common run, not the first', () => {
    expect(unifiedDiff(lines('a', 'b', 'c'), lines('c', 'a', 'b'))).toBe('@@ -1,3 +1,3 @@\n+c\n a\n b\n-c\n');
  });
  test('takes no line that fills a long text for an anchor', () => {
    const filled = Array.from({ length: 300 }, () => 'x');
    const diff = unifiedDiff(lines('a', 'x', 'b'), lines(...filled));
    expect(diff.split('\n').filter((line) => line.startsWith(' '))).toEqual([]);
  });
});
