import { describe, expect, test } from 'vitest';
import { MANAGER_PROGRAM } from '../../../../manager/config/config.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const read = (...args: string[]) => parseFlags(MANAGER_PROGRAM, args, {});

describe('history', () => {
  test('is kept nowhere unless somebody says where', () => {
    expect(read()).toMatchObject({ kind: 'Run', config: { history: undefined } });
  });

  test('is kept for a month and up to a GiB', () => {
    expect(read('--history-store', 'here')).toMatchObject({
      config: { history: { store: { kind: 'Directory', path: 'here' }, limits: { ageMs: 30 * 24 * 3_600_000, bytesMax: 1024 ** 3 } } },
    });
  });

  test('in a store and with keys that files name, but in one store only', () => {
    expect(read('--history-store-file', '/where/url', '--history-credentials-directory', '/keys')).toMatchObject({
      config: { history: { store: { kind: 'File', path: '/where/url' }, credentialsDirectory: '/keys' } },
    });
    expect(JSON.stringify(read('--history-store-file', '/where/url', '--history-store', 'here'))).toContain('exclude one another');
    for (const store of [[], ['--history-store', 'here'], ['--history-store', 'redis://r']])
      expect(JSON.stringify(read('--history-credentials-directory', '/keys', ...store))).toContain(
        'needs --history-store or --history-store-file',
      );
  });

  test('a store that is none is refused without its password', () => {
    expect(JSON.stringify(read('--history-store', 'ftp://me:secret@host/x'))).toMatch(
      /^(?!.*secret).*--history-store: is neither a directory nor/,
    );
  });
});
