import { expect, test } from 'vitest';
import { SignInProblem, signInProblem } from '../../../../manager/sign-in/sign-in-problem.ts';

const words = (error: unknown): string => signInProblem(error, 'Example').message;

test('what cannot be reached is told of with the code of the network', () => {
  const error = Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) });
  expect(words(error)).toBe(
    'Example cannot be reached from the manager (ECONNREFUSED): try again, and check --dashboard-oidc-issuer-url, --dashboard-oidc-ca-file and the network policy.',
  );
  expect(words({ code: 'OAUTH_TIMEOUT' })).toContain('(OAUTH_TIMEOUT)');
  for (const nothing of [undefined, null, 'text', {}]) expect(words(nothing)).toContain('(unknown)');
});

test('a provider that leaves out the ID token, or is none, is told of with the flag to look at', () => {
  expect(words({ code: 'OAUTH_INVALID_RESPONSE', cause: { message: '"response" body "id_token" property must be a string' } })).toContain(
    'as a client of OpenID Connect',
  );
  expect(words({ code: 'OAUTH_RESPONSE_IS_NOT_JSON' })).toContain('check --dashboard-oidc-issuer-url');
  expect(words({ code: 'OAUTH_KEY_SELECTION_FAILED' })).toContain('try again in a minute');
});

test('a description is quoted as printable text, and a long one in part; a code that is no word is not repeated', () => {
  expect(words({ error: 'access_denied', error_description: `a\u202eb\nc${'d'.repeat(300)}` })).toBe(
    `Example did not let you in ("a b c${'d'.repeat(195)}"): ask its administrator for access to this application.`,
  );
  expect(words({ error: 'x'.repeat(300) })).toContain('refused the sign-in: unknown');
  expect(words({ error: 'access_denied', error_description: ['a'] })).toContain('did not let you in: ask');
});

test('a problem stays what it is', () => {
  const problem = new SignInProblem('So it is.', 'own');
  expect(signInProblem(problem, 'Example')).toBe(problem);
});
