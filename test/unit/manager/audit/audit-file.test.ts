import { copyFileSync, mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AUDIT_BUFFER_CHARACTERS_MAX, createAuditFile, type AuditDisk } from '../../../../manager/audit/audit-file.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const inNewDirectory = (): string => path.join(mkdtempSync(path.join(tmpdir(), 'switchyard-audit-')), 'audit.log');
const onDisk = (destination: string) => createAuditFile({ destination, clock: systemClock, log: silentLogger });

type TestDisk = AuditDisk & { written: string; now: 'takes' | 'hangs' | 'is full' };
function aDisk(): TestDisk {
  const disk: TestDisk = {
    written: '',
    now: 'takes',
    isCutOff: async () => disk.written !== '' && !disk.written.endsWith('\n'),
    append: async () => ({
      write: (text) => {
        if (disk.now === 'hangs') return new Promise<never>(() => undefined);
        disk.written += disk.now === 'is full' ? text.slice(0, 3) : text;
        return disk.now === 'is full' ? Promise.reject(new Error('no space left on device')) : Promise.resolve();
      },
      close: async () => undefined,
    }),
  };
  return disk;
}

test('lines are appended in order, for nobody else to read, across restarts and without empty lines', async () => {
  const destination = inNewDirectory();
  for (const line of ['"first"\n', '"second"\n']) {
    const file = onDisk(destination);
    await file.open();
    expect(file.write(line)).toBe(true);
    expect(await file.close(5_000)).toBe(0);
  }
  expect(readFileSync(destination, 'utf8')).toBe('"first"\n"second"\n');
  expect(statSync(destination).mode & 0o777).toBe(0o600);
});

test('a line that a crash has cut off ends before the next one', async () => {
  const destination = inNewDirectory();
  writeFileSync(destination, '"whole"\n"cut o');
  const file = onDisk(destination);
  await file.open();
  file.write('"next"\n');
  await file.close(5_000);
  expect(readFileSync(destination, 'utf8')).toBe('"whole"\n"cut o\n"next"\n');
});

test('a file that is copied and truncated while it is open goes on at its beginning', async () => {
  const destination = inNewDirectory();
  writeFileSync(destination, '"before"\n');
  const file = onDisk(destination);
  await file.open();
  copyFileSync(destination, `${destination}.1`);
  truncateSync(destination);
  file.write('"after"\n');
  await file.close(5_000);
  expect(readFileSync(destination, 'utf8')).toBe('"after"\n');
});

test('a file that can never be written is found when it is opened', async () => {
  await expect(onDisk('/nowhere/at/all/audit.log').open()).rejects.toThrow(/ENOENT/);
});

test('a disk that does not answer costs bounded memory, and the caller hears at once what is dropped', async () => {
  const clock = new FakeClock();
  const disk = aDisk();
  const file = createAuditFile({ destination: 'audit.log', disk, clock, log: silentLogger });
  await file.open();
  disk.now = 'hangs';
  const line = `${'x'.repeat(1023)}\n`;
  let taken = 0;
  while (taken < 10_000 && file.write(line)) taken++;
  expect(taken).toBe(AUDIT_BUFFER_CHARACTERS_MAX / line.length);
  const closing = file.close(1_000);
  await clock.advance(1_000);
  expect(await closing).toBe(taken);
});

test('lines of a time without room on the disk wait, and are all written afterwards', async () => {
  const clock = new FakeClock();
  const disk = aDisk();
  const file = createAuditFile({ destination: 'audit.log', disk, clock, log: silentLogger });
  await file.open();
  disk.now = 'is full';
  file.write('"one"\n');
  await clock.settle();
  file.write('"two"\n');
  disk.now = 'takes';
  await clock.advance(1_000);
  await clock.settle();
  expect(disk.written).toBe('"on\n"one"\n"two"\n');
});
