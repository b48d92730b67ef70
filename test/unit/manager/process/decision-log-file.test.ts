import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { BUFFER_CHARACTERS_MAX, createDecisionLogFile, type DecisionLogFileDeps } from '../../../../manager/process/decision-log-file.ts';
import type { LogDisk } from '../../../../shared/runtime/log-disk.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const inNewDirectory = (): string => path.join(mkdtempSync(path.join(tmpdir(), 'switchyard-decisions-')), 'decisions.log');
const aFile = (destination: string, parts: Partial<DecisionLogFileDeps> = {}) =>
  createDecisionLogFile({ config: { destination, fileBytesMax: 1_000, filesMax: 3 }, clock: systemClock, log: silentLogger, ...parts });
const linesIn = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

/** A disk that does what it is told to. */
function aDisk(): LogDisk & { written: string; renamed: string[]; now: 'takes' | 'hangs' | 'is full' } {
  const disk = {
    written: '',
    renamed: [] as string[],
    now: 'takes' as 'takes' | 'hangs' | 'is full',
    append: () =>
      Promise.resolve({
        write: (text: string) => {
          if (disk.now === 'hangs') return new Promise<never>(() => {});
          if (disk.now === 'is full') {
            disk.written += text.slice(0, 3);
            return Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
          }
          disk.written += text;
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
    rename: (from: string, to: string) => {
      disk.renamed.push(`${from} ${to}`);
      return Promise.resolve();
    },
  };
  return disk;
}

test('lines are written in order, for nobody else to read, and files follow one another up to so many', async () => {
  const destination = inNewDirectory();
  const file = aFile(destination);
  await file.open();
  for (let number = 1; number <= 5; number++) {
    expect(file.write(`"line ${number}"\n`)).toBe(true);
    expect(file.rotate()).toBe(true);
  }
  await file.close(5_000);
  expect(readdirSync(path.dirname(destination)).toSorted()).toEqual(['decisions.log.1', 'decisions.log.2']);
  expect(linesIn(`${destination}.1`)).toEqual(['"line 5"']);
  expect(linesIn(`${destination}.2`)).toEqual(['"line 4"']);
  expect(statSync(`${destination}.1`).mode & 0o777).toBe(0o600);
});

test('a file that a crash has cut off goes on in a line of its own', async () => {
  const destination = inNewDirectory();
  writeFileSync(destination, '{"kind":"log"}\n{"kind":"jo');
  const file = aFile(destination);
  await file.open();
  file.write('{"kind":"log"}\n');
  await file.close(5_000);
  expect(linesIn(destination)).toEqual(['{"kind":"log"}', '{"kind":"jo', '{"kind":"log"}']);
});

test('what can never be written is found when it is opened', async () => {
  await expect(aFile('/nowhere/at/all/decisions.log').open()).rejects.toThrow(/ENOENT/);
});

test('a disk that does not answer costs a bounded buffer, and what is over is lost and counted', async () => {
  const clock = new FakeClock();
  const disk = aDisk();
  const file = aFile('decisions.log', { clock, disk });
  let counted = 0;
  file.countLost({ inc: (count) => (counted += count) });
  disk.now = 'hangs';
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
  let taken = 0;
  while (taken < 100 && file.write(line)) taken++;
  expect(taken).toBe(BUFFER_CHARACTERS_MAX / line.length);
  file.lost(1);
  await clock.advance(60_000);
  expect(file.hasRoom()).toBe(false);
  expect(file.write(line)).toBe(false);
  const closing = file.close(1_000);
  await clock.advance(1_000);
  await closing;
  expect(counted).toBe(1 + taken);
});

test('a full disk loses what it had no room for; after a while it is tried again, and the caller has been told of the hole', async () => {
  const clock = new FakeClock();
  const disk = aDisk();
  const file = aFile('decisions.log', { clock, disk });
  file.write('"before"\n');
  await clock.advance(100);
  disk.now = 'is full';
  file.write('"lost"\n');
  file.write('"lost, too"\n');
  await clock.advance(100);
  await clock.settle();
  expect(file.takeLost()).toBe(2);
  disk.now = 'takes';
  await clock.advance(5_000);
  // The first line after a loss is refused whatever there is room for: its caller believes that all before it was written.
  expect(file.hasRoom()).toBe(false);
  expect(file.write('"unaware"\n')).toBe(false);
  expect(file.hasRoom()).toBe(true);
  expect(file.write('"after"\n')).toBe(true);
  await clock.advance(100);
  await clock.settle();
  expect(disk.written.split('\n').filter((line) => line !== '')).toEqual(['"before"', '"lo', '"after"']);
});

test('standard output has no next file', () => {
  const file = aFile('-');
  expect(file.rotate()).toBe(false);
  expect(file.fileBytesMax).toBeUndefined();
});
