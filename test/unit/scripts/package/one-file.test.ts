import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { oneFile } from '../../../../scripts/package/one-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'one-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
const run = (file: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, 'argument'], { encoding: 'utf8', cwd: folder });
  return { status, stdout, stderr };
};

const MODULES = new Map([
  [
    'cli/main.js',
    "import { greet } from '../chunks/greet.js';\nimport path from 'node:path';\nconsole.log(greet(path.basename(process.argv[1])), (await import('../chunks/later.js')).default);\n",
  ],
  ['chunks/greet.js', 'export const greet = (name) => `${name} says “hello”`;\n'],
  [
    'chunks/later.js',
    "import { createRequire } from 'node:module';\nexport default createRequire(import.meta.url)('node:os').EOL.length;\n",
  ],
  ['chunks/broken.js', 'this is no JavaScript\n'],
]);

test('modules of one file import one another, and what nobody imports is never read', () => {
  const file = path.join(folder, 'program.mjs');
  writeFileSync(file, oneFile(MODULES, 'cli/main.js'));
  expect(run(file)).toEqual({ status: 0, stdout: 'program.mjs says “hello” 1\n', stderr: '' });
  const linked = path.join(folder, 'kubectl-program');
  symlinkSync(file, linked);
  expect(run(linked).stdout).toMatch(/^kubectl-program says/);
});

test('the same modules give the same bytes, in whatever order they come', () => {
  expect(oneFile(new Map([...MODULES].toReversed()), 'cli/main.js')).toBe(oneFile(MODULES, 'cli/main.js'));
});

test('a program without a beginning is refused', () => {
  expect(() => oneFile(MODULES, 'main.js')).toThrow('there is no module main.js to begin with');
});
