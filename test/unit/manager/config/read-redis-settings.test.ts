import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRedisSettings, readRedisUrl } from '../../../../manager/config/read-redis-settings.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'switchyard-redis-settings-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const fileWith = (name: string, text: string): string => {
  const file = path.join(directory, name);
  writeFileSync(file, text);
  return file;
};
const problemOf = (act: () => unknown): string => {
  try {
    return JSON.stringify(act());
  } catch (error) {
    return String(error);
  }
};

test('a URL in a file is as one of the flag, whatever white space an editor left around it', () => {
  for (const text of ['redis://u:p@r:1/2', 'redis://u:p@r:1/2\n', '\ufeff  redis://u:p@r:1/2\r\n\n'])
    expect(readRedisSettings({ servers: { kind: 'Single', urlFile: fileWith('url', text) } })).toEqual({
      servers: { kind: 'Single', url: 'redis://u:p@r:1/2' },
    });
});

test('passwords keep the white space that is theirs, and lose a line end', () => {
  const servers = { kind: 'Sentinel', sentinels: [{ host: 'a', port: 1 }], name: 'main' } as const;
  const [passwordFile, sentinelPasswordFile] = [fileWith('password', ' a b \n'), fileWith('sentinel', 'c\r\n')];
  expect(readRedisSettings({ servers, passwordFile, sentinelPasswordFile })).toEqual({
    servers: { ...servers, password: 'c' },
    password: ' a b ',
  });
});

describe('a file of the URL is refused by flag, file and remedy, and nothing in it is quoted', () => {
  test.each([
    ['empty', ' \n', 'is empty; write one URL into it, such as redis://localhost:6379'],
    ['no-url', 'hunter2', 'is no redis:// or rediss:// URL; write one such as redis://localhost:6379'],
    ['no-redis', 'http://:hunter2@r', 'is no redis:// or rediss:// URL; write one such as redis://localhost:6379'],
    ['two', 'redis://:hunter2@a\nredis://:hunter2@b\n', 'holds more than one word; write one URL into it'],
    ['large', `redis://:hunter2@${'a'.repeat(8 * 1024)}`, 'holds more than 8 KiB; name the file that holds this alone'],
  ])('%s', (name, text, remedy) => {
    const file = fileWith(name, text);
    const problem = problemOf(() => readRedisUrl(file));
    expect(problem).toContain(`FlagError: --redis-url-file: ${JSON.stringify(file)} ${remedy}`);
    expect(problem).not.toContain('hunter2');
  });

  test('one that is not there, or is a directory', () => {
    const folder = path.join(directory, 'folder');
    mkdirSync(folder);
    for (const [file, code] of [
      [path.join(directory, 'absent'), 'ENOENT'],
      [folder, 'EISDIR'],
    ] as const)
      expect(problemOf(() => readRedisUrl(file))).toBe(
        `FlagError: --redis-url-file: ${JSON.stringify(file)} cannot be read (${code}); name a file that is there and readable`,
      );
  });

  test('one without TLS where other flags ask for it', () => {
    const urlFile = fileWith('plain', 'redis://:hunter2@r');
    const problem = problemOf(() => readRedisSettings({ servers: { kind: 'Single', urlFile }, tls: {} }));
    expect(problem).toMatch(/--redis-url-file: ".*plain" says redis:\/\/, and other flags ask for TLS: write rediss:\/\//);
    expect(problem).not.toContain('hunter2');
  });
});

test('a file that never ends is not read to its end', () => {
  expect(problemOf(() => readRedisUrl('/dev/zero'))).toContain('--redis-url-file: "/dev/zero" holds more than 8 KiB');
});
