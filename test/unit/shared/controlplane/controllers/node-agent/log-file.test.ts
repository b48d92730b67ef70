import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogFile } from '../../../../../../shared/controlplane/controllers/node-agent/log-file.ts';
import { LogEncoder } from '../../../../../../shared/controlplane/controllers/node-agent/log-format.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'log-file-'));
  path = join(directory, '0.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const lines = (from: number, to: number): string => Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('');
const encoded = (text: string): Buffer => new LogEncoder().encode(Buffer.from(text), 0);
const textOf = (log: LogFile): string => {
  let text = '';
  log.read((more) => (text += more.toString()));
  return text;
};

test('a log longer than any buffer is read whole, and on from there when it has grown', () => {
  writeFileSync(path, encoded(lines(0, 10_000)));
  const log = new LogFile(path, { timestamps: false });
  expect(textOf(log)).toBe(lines(0, 10_000));
  expect(textOf(log)).toBe('');
  appendFileSync(path, encoded(lines(10_000, 10_002)));
  expect(textOf(log)).toBe(lines(10_000, 10_002));
  log.close();
});

test.each([1, 2, 1000, 1600, 5000, 9999, 10_000, 20_000])('the last %i lines of 10,000 are found', (count) => {
  writeFileSync(path, encoded(lines(0, 10_000)));
  const log = new LogFile(path, { timestamps: false }, count);
  expect(textOf(log)).toBe(lines(Math.max(0, 10_000 - count), 10_000));
  log.close();
});

test('nothing more is wanted when the limit is reached', () => {
  writeFileSync(path, encoded(lines(0, 10_000)));
  const log = new LogFile(path, { timestamps: false, limitBytes: 8 });
  let text = '';
  expect(log.read((more) => (text += more.toString()))).toBe(false);
  expect(text).toBe('line 0\nl');
  log.close();
});
