import { describe, expect, test } from 'vitest';
import { createCall, fieldManagerOf } from '../../../../../shared/controlplane/request/call.ts';
import { parseRequest } from '../../../../../shared/controlplane/request/request.ts';

const call = (agent: string) =>
  createCall({ method: 'PATCH', path: '/api/v1/pods', headers: { 'user-agent': agent }, body: '' }, parseRequest('PATCH', '/api/v1/pods'), {
    name: 'somebody',
    groups: [],
  });

describe('the owner of the fields of a write', () => {
  test('is who the option names', () => {
    expect(fieldManagerOf(call('kubectl/v1.36'), 'me')).toBe('me');
  });

  test.each([
    ['kubectl/v1.36 (linux/amd64)', 'kubectl'],
    ['', 'unknown'],
    ['\u0001\u0002', 'unknown'],
    ['a\u0000b/1', 'ab'],
    ['x'.repeat(200), 'x'.repeat(128)],
  ])('is otherwise the program of the user agent %j', (agent, manager) => {
    expect(fieldManagerOf(call(agent), '')).toBe(manager);
  });
});

test('warnings gather on the call', () => {
  const one = call('');
  one.warn('first');
  one.warn('second');
  expect(one.warnings).toEqual(['first', 'second']);
});
