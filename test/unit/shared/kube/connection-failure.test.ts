import { describe, expect, test } from 'vitest';
import { connectionFailure, neverConnected } from '../../../../shared/kube/connection-failure.ts';

const failed = (code: string, cause?: unknown): Error => Object.assign(new Error('connect s3cret', { cause }), { code });

describe('why there was no answer', () => {
  test.each([
    ['ECONNREFUSED', 'the connection was refused (ECONNREFUSED)'],
    ['ENOTFOUND', 'the name of its server does not resolve (ENOTFOUND)'],
    ['EAI_AGAIN', 'the name of its server does not resolve (EAI_AGAIN)'],
    ['EHOSTUNREACH', 'there is no way to its server (EHOSTUNREACH)'],
    ['UND_ERR_CONNECT_TIMEOUT', 'there was no answer in time (UND_ERR_CONNECT_TIMEOUT)'],
    ['ECONNRESET', 'the connection broke (ECONNRESET)'],
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'the certificate of its server is not trusted; look at certificate-authority-data and tls-server-name (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'the certificate of its server is not trusted; look at certificate-authority-data and tls-server-name (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS failed; look at certificates and keys of the kubeconfig (ERR_SSL_WRONG_VERSION_NUMBER)'],
    ['EOTHER', 'there was no answer (EOTHER)'],
  ])('%s', (code, sentence) => {
    expect(connectionFailure(failed(code))).toBe(sentence);
  });

  test('is told by the innermost cause, also among several', () => {
    expect(connectionFailure(failed('UND_ERR_SOCKET', failed('ECONNREFUSED')))).toContain('(ECONNREFUSED)');
    expect(
      connectionFailure(new TypeError('fetch failed', { cause: new AggregateError([failed('ENOTFOUND'), failed('EOTHER')]) })),
    ).toContain('(ENOTFOUND)');
    expect(connectionFailure(new AggregateError([]))).toBe('there was no answer');
  });

  test('repeats nothing that others wrote', () => {
    for (const error of [new Error('s3cret'), failed('s3cret'), failed('X'.repeat(81)), 's3cret', undefined, { code: 'ECONNREFUSED' }])
      expect(connectionFailure(error)).toBe('there was no answer');
  });

  test('is found out also where causes go round in a circle', () => {
    const error = failed('ECONNRESET');
    error.cause = error;
    expect(connectionFailure(error)).toBe('the connection broke (ECONNRESET)');
  });
});

test('nothing was sent where there was no connection; one that broke may have carried it', () => {
  const sent = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'].map((code) => neverConnected(failed(code)));
  const unsent = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'].map((code) => neverConnected(failed('UND_ERR_SOCKET', failed(code))));
  expect([sent, unsent]).toEqual([
    [false, false, false, false],
    [true, true, true],
  ]);
});
