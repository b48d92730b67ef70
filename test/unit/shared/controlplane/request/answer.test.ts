import { describe, expect, test } from 'vitest';
import { tooManyRequests } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { errorAnswer, jsonAnswer, pageNotFound, withWarnings } from '../../../../../shared/controlplane/request/answer.ts';

test('JSON ends with a line feed, as Go writes it', () => {
  expect(jsonAnswer(200, '{"a":1}')).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"a":1}\n' });
});

test('YAML has its keys in order', () => {
  expect(jsonAnswer(200, '{"b":1,"a":[2]}', 'yaml')).toMatchObject({
    headers: { 'content-type': 'application/yaml' },
    body: 'a:\n  - 2\nb: 1\n',
  });
});

test('an error that names a time to wait says so in a header too', () => {
  const answer = errorAnswer(tooManyRequests('slow down', 3));
  expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
});

test('an unknown path gets plain text', () => {
  expect(pageNotFound()).toMatchObject({ status: 404, body: '404 page not found\n' });
});

describe('warnings', () => {
  test('are quoted, and each is said once', () => {
    const { headers } = withWarnings(jsonAnswer(200, '{}'), ['a "b" \\', 'a "b" \\', 'c']);
    expect(headers['warning']).toEqual(['299 - "a \\"b\\" \\\\"', '299 - "c"']);
  });

  test('with control characters cannot stand in a header, and empty ones say nothing', () => {
    expect(withWarnings(jsonAnswer(200, '{}'), ['a\nb', '']).headers['warning']).toEqual([]);
  });

  test('where there are none, there is no header', () => {
    expect(withWarnings(jsonAnswer(200, '{}'), []).headers['warning']).toBeUndefined();
  });

  test('are cut off when they are too much together, and left out when they are too much even then', () => {
    const headers = (warnings: string[]): unknown => withWarnings(jsonAnswer(200, '{}'), warnings).headers['warning'];
    const long = (n: number): string => `${n}${'x'.repeat(999)}`;
    const all = Array.from({ length: 20 }, (_, n) => long(n));
    expect(headers(all.slice(0, 4))).toEqual(all.slice(0, 4).map((text) => `299 - "${text}"`));
    expect(headers(all)).toEqual(all.slice(0, 16).map((text) => `299 - "${text.slice(0, 256)}"`));
  });
});
