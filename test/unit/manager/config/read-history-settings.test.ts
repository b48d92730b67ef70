import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHistorySettings } from '../../../../manager/config/read-history-settings.ts';
import { parseStoreAddress } from '../../../../manager/history/store-address.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'hunter2' };
const S3 = parseStoreAddress('s3://jobs/history');

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'switchyard-history-settings-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A directory like a mounted Secret. */
function secretWith(name: string, data: Readonly<Record<string, string>>): string {
  const secret = path.join(directory, name);
  mkdirSync(secret);
  for (const [key, value] of Object.entries(data)) writeFileSync(path.join(secret, key), value);
  return secret;
}
const problemOf = (act: () => unknown): string => {
  try {
    return JSON.stringify(act());
  } catch (error) {
    return String(error);
  }
};

test('the store of a file is as one of the flag, whatever white space an editor left around it', () => {
  const secret = secretWith('store', { url: 'redis://:hunter2@r:1/2\n' });
  expect(readHistorySettings({ store: { kind: 'File', path: path.join(secret, 'url') } }, {})).toEqual({
    address: parseStoreAddress('redis://:hunter2@r:1/2'),
    credentials: undefined,
  });
});

test('keys are those of the environment, both or none, unless a directory has them', () => {
  expect(readHistorySettings({ store: S3 }, KEYS).credentials).toEqual({ accessKeyId: 'AKID', secretAccessKey: 'hunter2' });
  expect(readHistorySettings({ store: S3 }, { AWS_ACCESS_KEY_ID: 'AKID' }).credentials).toBeUndefined();
  const credentialsDirectory = secretWith('keys', { AWS_ACCESS_KEY_ID: 'of-a-file\n', AWS_SECRET_ACCESS_KEY: 'a secret of words\n' });
  expect(readHistorySettings({ store: S3, credentialsDirectory }, KEYS).credentials).toEqual({
    accessKeyId: 'of-a-file',
    secretAccessKey: 'a secret of words',
  });
  writeFileSync(path.join(credentialsDirectory, 'AWS_SESSION_TOKEN'), 'session');
  expect(readHistorySettings({ store: S3, credentialsDirectory }, {}).credentials?.sessionToken).toBe('session');
});

test.each([
  ['no-store', { url: 'ftp://:hunter2@host' }, '--history-store-file: ".*url" is neither a directory nor '],
  ['empty', { url: '\n' }, '--history-store-file: ".*url" is empty; write one URL into it, such as s3://jobs/history'],
  [
    'half',
    { url: 's3://jobs', AWS_ACCESS_KEY_ID: 'hunter2' },
    '--history-credentials-directory: ".*SECRET_ACCESS_KEY" cannot be read \\(ENOENT\\)',
  ],
  [
    'two-lines',
    { url: 's3://jobs', AWS_ACCESS_KEY_ID: 'a\nhunter2', AWS_SECRET_ACCESS_KEY: 'b' },
    '--history-credentials-directory: ".*KEY_ID" holds more than one line; write the value of AWS_ACCESS_KEY_ID into it',
  ],
])('files that cannot be used are refused by flag, file and remedy, and nothing in them is quoted: %s', (name, data, remedy) => {
  const credentialsDirectory = secretWith(name, data);
  const store = { kind: 'File', path: path.join(credentialsDirectory, 'url') } as const;
  const problem = problemOf(() => readHistorySettings({ store, credentialsDirectory }, {}));
  expect(problem).toMatch(new RegExp(`^FlagError: ${remedy}`));
  expect(problem).not.toContain('hunter2');
});
