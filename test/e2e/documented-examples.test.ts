/**
 * Goal: what docs/submitting.md and docs/client.md show to programmers runs as it stands, with the package as it is packed: on a real
 * Redis, with a manager's queue whose Jobs are checked as the manager does, and end soon.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manifestOf } from '../../manager/submission/tenant-manifest.ts';
import { SUBMISSION_QUEUE } from '../../shared/api/names.ts';
import { done, running, startQueue, type QueueUnderTest } from '../support/queue-under-test.ts';
import { testTenant } from '../support/submission-source.ts';
import { FIRST_MADE } from '../support/submissions.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 120_000;

/** The programs in a document, in their order. */
const programsIn = (document: string): string[] =>
  [...readFileSync(path.join(ROOT, document), 'utf8').matchAll(/```js\n(import [\s\S]*?)```/g)].map(([, program = '']) => program);
const PROGRAMS = ['docs/submitting.md', 'docs/client.md'].flatMap((document) =>
  programsIn(document).map((program, index) => ({ name: `${document}, program ${index + 1}`, program })),
);

let folder: string;
let world: QueueUnderTest;
/**
 * Jobs end as soon as the program has told of their progress, where it does: how far they are is told once a second at most, and not after
 * their end.
 */
let heardOf: Promise<void>;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'switchyard-examples-'));
  const installed = path.join(folder, 'node_modules', 'switchyard');
  mkdirSync(installed, { recursive: true });
  for (const name of readdirSync(path.join(ROOT, 'node_modules')))
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
  const build = ['--disable-warning=ExperimentalWarning', path.join(ROOT, 'scripts/build-package.ts'), installed];
  expect(spawnSync(process.execPath, build, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  world = await startQueue(5, SUBMISSION_QUEUE);
  world.consume((submission) => {
    manifestOf(JOB_KIND, testTenant(), { ...submission, made: FIRST_MADE });
    const accepted = running(submission);
    const runAndEnd = async (): Promise<void> => {
      await world.queue.report(submission, { phase: 'Running', cluster: 'west', active: 1, succeeded: 0, failed: 0 });
      await heardOf;
      await world.queue.finish(submission, done(1), accepted.uid);
    };
    void runAndEnd();
    return accepted;
  });
}, LIMIT_MS);
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const onOurRedis = (program: string): string => program.replaceAll('redis://localhost:6379', world.redis.url);

async function run(file: string, followsProgress: boolean): Promise<{ readonly code: number | null; readonly output: string }> {
  const heard = Promise.withResolvers<void>();
  heardOf = heard.promise;
  if (!followsProgress) heard.resolve();
  const child = spawn(process.execPath, [file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Running west')) heard.resolve();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, output };
}

test('there are programs to run', () => {
  expect(PROGRAMS.map(({ name }) => name)).toEqual([
    'docs/submitting.md, program 1',
    'docs/client.md, program 1',
    'docs/client.md, program 2',
  ]);
});

test.each(PROGRAMS)('$name runs as it stands, and does what its comments say', { timeout: LIMIT_MS }, async ({ program }) => {
  const file = path.join(folder, 'example.mjs');
  writeFileSync(file, onOurRedis(program));
  const followsProgress = program.includes('switchyard.progress');
  const { code, output } = await run(file, followsProgress);
  expect({ code, output }).toMatchObject({ code: 0 });
  for (const [, promised = ''] of program.matchAll(/\/\/ \{ ([^}]*) \}/g))
    for (const word of promised.matchAll(/(namespace|name|succeeded|failed|cancelled: \w+|state: '\w+')\b/g))
      expect(output).toContain(word[1]);
  if (program.includes('switchyard.wait')) expect(output).toMatch(/Running west 1[\s\S]*1 pods succeeded[\s\S]*Running on west/);
});

test('they compile against the types of the package, too', { timeout: LIMIT_MS }, () => {
  const files = PROGRAMS.map(({ program }, index) => {
    const file = path.join(folder, `example-${index}.mts`);
    writeFileSync(file, program);
    return file;
  });
  const options = '--noEmit --strict --skipLibCheck --target es2024 --module nodenext --types node'.split(' ');
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  expect(spawnSync(process.execPath, [compiler, ...options, ...files], { cwd: folder, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: '',
  });
});
