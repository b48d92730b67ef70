import { expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';

test.each([
  ["url('https://example.com:8443/a%20b?q=1').getScheme()", 'https'],
  ["url('https://example.com:8443/').getHost()", 'example.com:8443'],
  ["url('https://[::1]:8443/').getHostname()", '::1'],
  ["url('https://example.com:8443/').getPort()", '8443'],
  ["url('https://example.com/a%20b').getEscapedPath()", '/a%20b'],
  ["url('https://example.com/?q=1&q=2&r=').getQuery()", { q: ['1', '2'], r: [''] }],
  ["url('/only/a/path').getScheme()", ''],
  ["isURL('/only/a/path')", true],
  ["isURL('relative/path')", false],
  ["isURL('https://exa mple.com')", false],
])('%s is %j', (expression, value) => {
  expect(evaluate(expression)).toEqual(value);
});

test('a relative reference is an error that repeats it', () => {
  expect(evaluate("url('../up').getHost() == ''")).toBe(
    'error: URL parse error during conversion from string: parse "../up": invalid URI for request',
  );
});
