import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { withFixedTimes } from '../../../../scripts/release/archive-times.ts';

test('archives of the same files at other times become the same archive, which tar reads', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-tar-'));
  try {
    writeFileSync(path.join(folder, 'a'), 'x'.repeat(700));
    writeFileSync(path.join(folder, 'b'), '');
    const at = (seconds: number): Buffer => {
      for (const name of ['a', 'b']) utimesSync(path.join(folder, name), seconds, seconds);
      return execFileSync('tar', ['--format=ustar', '-cf', '-', 'a', 'b'], { cwd: folder });
    };
    const [first, second] = [at(1_000_000_000), at(1_500_000_000)];
    expect(first.equals(second)).toBe(false);
    const fixed = withFixedTimes(first, 1_700_000_000);
    expect(fixed.equals(withFixedTimes(second, 1_700_000_000))).toBe(true);
    const listed = execFileSync('tar', ['--utc', '--full-time', '-tvf', '-'], {
      input: fixed,
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    });
    expect(listed).toMatch(/^-rw-\S+ 0\/0 +700 2023-11-14 22:13:20 a\n-rw-\S+ 0\/0 +0 2023-11-14 22:13:20 b\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
