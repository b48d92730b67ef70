import { expect, test } from 'vitest';
import { parseRequest, Query } from '../../../../../shared/controlplane/request/request.ts';

test('pairs that cannot be decoded, or hold a semicolon, are left out', () => {
  const query = new Query('a=1&b=%zz&c=2;d=3&e=x+y&e=z&f');
  expect([query.get('a'), query.has('b'), query.has('c'), query.getAll('e'), query.has('f'), query.get('f')]).toEqual([
    '1',
    false,
    false,
    ['x y', 'z'],
    true,
    '',
  ]);
});

test.each([
  ['watch=1', true],
  ['watch=', true],
  ['watch=maybe', true],
  ['watch=0', false],
  ['watch=False', false],
  ['', false],
])('%j as a flag: %s', (text, expected) => {
  expect(new Query(text).flag('watch')).toBe(expected);
});

test('a list or watch of one name is about that name, a deletion is not', () => {
  const nameOf = (method: string, selector: string): string =>
    parseRequest(method, `/api/v1/namespaces/ns/pods?fieldSelector=${encodeURIComponent(selector)}`).name;
  expect(nameOf('GET', 'metadata.name=a')).toBe('a');
  expect(nameOf('GET', 'status.phase!=Failed,metadata.name==a')).toBe('a');
  expect(nameOf('GET', 'metadata.name!=a')).toBe('');
  expect(nameOf('GET', 'metadata.name=a/b')).toBe('');
  expect(nameOf('GET', 'not a selector')).toBe('');
  expect(nameOf('DELETE', 'metadata.name=a')).toBe('');
});
