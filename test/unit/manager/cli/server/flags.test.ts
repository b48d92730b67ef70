import { expect, test } from 'vitest';
import { SERVER_FLAGS, serverUrl } from '../../../../../manager/cli/server/flags.ts';
import { FlagError } from '../../../../../shared/runtime/flags.ts';

test('a token goes over TLS, or to this machine', () => {
  expect(['https://switchyard.example:8443/', 'http://127.0.0.1:8443', 'http://localhost:1', 'http://[::1]:1'].map(serverUrl)).toEqual([
    'https://switchyard.example:8443',
    'http://127.0.0.1:8443',
    'http://localhost:1',
    'http://[::1]:1',
  ]);
  for (const refused of [
    'http://switchyard.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'ftp://localhost',
    'x',
  ])
    expect(serverUrl(refused), refused).toBeUndefined();
});

test('the flag takes such an address, or none', () => {
  const { parse } = SERVER_FLAGS.server;
  expect(parse('none')).toBe('none');
  expect(() => parse('http://switchyard.example')).toThrow(FlagError);
});
