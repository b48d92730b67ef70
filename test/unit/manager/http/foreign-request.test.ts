import { expect, test } from 'vitest';
import { foreignRequest } from '../../../../manager/http/foreign-request.ts';

test('only a page of the same site is taken for ours: browsers say which it is, and none sends our header for another one', () => {
  const problem = (headers: Readonly<Record<string, string>>) => foreignRequest((name) => headers[name]);
  const ours = { 'x-switchyard-dashboard': '1' };
  expect(problem({})).toContain('x-switchyard-dashboard');
  expect(problem(ours)).toBeUndefined();
  for (const site of ['cross-site', 'same-site', 'none']) expect(problem({ ...ours, 'sec-fetch-site': site })).toBe('another site asks');
  // A proxy in between may have another host.
  expect(problem({ ...ours, 'sec-fetch-site': 'same-origin', origin: 'https://yard.example', host: 'manager:8444' })).toBeUndefined();
  expect(problem({ ...ours, origin: 'https://yard.example', host: 'yard.example' })).toBeUndefined();
  for (const origin of ['https://evil.example', 'null', 'https://yard.example.evil'])
    expect(problem({ ...ours, origin, host: 'yard.example' })).toBe('another site asks');
});
