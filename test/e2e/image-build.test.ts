/**
 * Goal: the build stage of the Dockerfile makes the tree that the tests start, from what an engine is given: the files of the repository
 * but for those of .dockerignore, and the packages that `npm ci` installs there. The steps are done as the Dockerfile says them, but for
 * `npm ci` itself, whose packages are taken from here.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { productionPlaces } from '../../scripts/image/production-files.ts';
import type { PackageLock } from '../../scripts/supply-chain/production-packages.ts';
import { isSlow } from '../support/slow.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 180_000;
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
/** Instructions of a Dockerfile, without comments and on one line each. */
const instructions = read('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const stage = (name: string): string[] => {
  const from = instructions.findIndex((line) => line.startsWith('FROM ') && line.endsWith(` AS ${name}`));
  const until = instructions.findIndex((line, index) => index > from && line.startsWith('FROM '));
  return instructions.slice(from + 1, until);
};

const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-build-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the last stage is small, says what it is, runs as nobody, and brings no way to install anything', () => {
  const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')));
  expect(last.map((line) => line.split(' ')[0])).toEqual(['FROM', 'LABEL', 'RUN', 'WORKDIR', 'ENV', 'COPY', 'USER', 'CMD']);
  const [, label = '', run = '', workdir, , copy, user, cmd] = last;
  expect(label).toMatch(/org\.opencontainers\.image\.licenses="?Apache-2\.0/);
  for (const tool of ['node_modules', 'npm', 'npx', 'corepack', 'yarn']) expect(run).toContain(tool);
  expect(run).toContain('ln -s /app/manager/cli/main.js /usr/local/bin/switchyard');
  expect([workdir, copy, user, cmd]).toEqual([
    'WORKDIR /app',
    'COPY --from=build /app /app',
    'USER 65532:65532',
    'CMD ["node", "manager/main.js"]',
  ]);
});

describe.skipIf(!isSlow)('the build stage', () => {
  test('makes of an engine’s context the tree that is made here', { timeout: LIMIT_MS }, () => {
    const steps = stage('build');
    expect(stage('page').at(-1)).toMatch(/^RUN node .*scripts\/build-page\.ts$/);
    expect(steps.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'WORKDIR /source',
      'COPY package.json',
      'RUN npm',
      'COPY .',
      'COPY --from=page',
      'RUN node',
    ]);
    expect(steps[2]).toMatch(/npm ci --omit=dev --omit=optional --ignore-scripts/);
    const [, command = ''] = /^RUN (node .*) --into \/app$/.exec(steps[5] ?? '') ?? [];
    // First here, where the page is built.
    const here = path.join(folder, 'here');
    execFileSync(process.execPath, [...command.split(' ').slice(1), '--into', here], { cwd: ROOT });
    const source = path.join(folder, 'source');
    copyContext(source);
    copyPackages(source);
    const [, from = '', to = ''] = /^COPY --from=page \/source\/(\S+) (\S+)$/.exec(steps[4] ?? '') ?? [];
    cpSync(path.join(ROOT, from), path.join(source, to), { recursive: true });
    const there = path.join(folder, 'there');
    execFileSync(process.execPath, [...command.split(' ').slice(1), '--into', there], { cwd: source });
    expect(contentsOf(there)).toEqual(contentsOf(here));
    expect(Object.keys(contentsOf(there))).toContain('manager/dashboard/dist/index.html');
    // What the link of the last stage points to can be run, by whoever finds Node.
    const program = path.join(there, 'manager', 'cli', 'main.js');
    expect([lstatSync(program).mode & 0o777, readFileSync(program, 'utf8').split('\n')[0]]).toEqual([0o755, '#!/usr/bin/env node']);
  });
});

test.runIf(!isSlow)('the build stage of the Dockerfile', ({ skip }) => skip('SWITCHYARD_SLOW=1'));

/** What git knows, without what an engine is told to leave out: names at the top, as .dockerignore has them. */
function copyContext(target: string): void {
  const left = read('.dockerignore').split('\n').filter(Boolean);
  expect(left.filter((name) => /[*!/]/.test(name))).toEqual([]);
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of files.split('\0').filter(Boolean)) {
    if (left.includes(file.split('/')[0] ?? '') || !existsSync(path.join(ROOT, file))) continue;
    mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(target, file));
  }
}

function copyPackages(target: string): void {
  for (const place of productionPlaces(JSON.parse(read('package-lock.json')) as PackageLock)) {
    if (existsSync(path.join(target, place))) continue;
    mkdirSync(path.dirname(path.join(target, place)), { recursive: true });
    execFileSync('cp', ['--archive', path.join(ROOT, place), path.join(target, place)]);
  }
}

/** The digest of each file, by its path. */
function contentsOf(tree: string): Record<string, string> {
  const files = readdirSync(tree, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .toSorted()
      .map((file) => [path.relative(tree, file), createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}
