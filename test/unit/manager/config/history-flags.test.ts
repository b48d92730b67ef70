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

  test('a store that is none is refused without its password', () => {
    expect(JSON.stringify(read('--history-store', 'ftp://me:secret@host/x'))).toMatch(
      /^(?!.*secret).*--history-store: is neither a directory nor/,
    );
  });
});
