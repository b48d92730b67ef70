import { describe, expect, test } from 'vitest';
import { readWorkerAccess } from '../../../../../manager/dispatch/token/worker-access.ts';
import { KubeconfigError } from '../../../../../shared/kube/kubeconfig/kubeconfig-error.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const KEY = '-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\n';

type Parts = { cluster?: object; user?: object; context?: object; document?: object };
const aKubeconfig = ({ cluster, user, context, document }: Parts = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...context } }],
    clusters: [{ name: 'k', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
    users: [{ name: 'u', user: { token: 't0ken', ...user } }],
    ...document,
  });
const problemOf = (kubeconfig: string): string => {
  try {
    readWorkerAccess(kubeconfig);
  } catch (error) {
    if (error instanceof KubeconfigError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('the access to a worker cluster', () => {
  test('is a server and a token', () => {
    expect(readWorkerAccess(aKubeconfig())).toEqual({ endpoint: { server: 'https://192.0.2.1:6443' }, credentials: { token: 't0ken' } });
  });

  test('may have an authority, a name of the server, a path and a certificate of its own', () => {
    const cluster = { server: 'https://host/path//', 'certificate-authority-data': base64(CERTIFICATE), 'tls-server-name': 'worker.test' };
    const user = { token: '', 'client-certificate-data': base64(CERTIFICATE), 'client-key-data': base64(KEY) };
    expect(readWorkerAccess(aKubeconfig({ cluster, user }))).toEqual({
      endpoint: { server: 'https://host/path', caPem: CERTIFICATE, tlsServerName: 'worker.test' },
      credentials: { certificate: { certificatePem: CERTIFICATE, keyPem: KEY } },
    });
  });

  test('is what the current context names; other entries are not looked into', () => {
    const kubeconfig = JSON.parse(aKubeconfig()) as { users: object[]; clusters: object[] };
    kubeconfig.users.push({ name: 'other', user: { exec: { command: 'rm' } } });
    kubeconfig.clusters.push({ name: 'other', cluster: 'nonsense' });
    expect(problemOf(JSON.stringify(kubeconfig))).toBe('accepted');
  });

  test('may note what says nothing', () => {
    expect(
      problemOf(
        aKubeconfig({ cluster: { 'insecure-skip-tls-verify': false, 'proxy-url': '' }, context: { namespace: 'x', extensions: [] } }),
      ),
    ).toBe('accepted');
  });
});

describe('a kubeconfig in a Secret does not make the manager', () => {
  test.each<[string, Parts, string]>([
    ['read a file', { user: { tokenFile: '/etc/shadow' } }, 'write the token itself into token'],
    ['read a certificate', { cluster: { 'certificate-authority': '/ca' } }, 'write the certificate itself into certificate-authority-data'],
    ['run a program', { user: { exec: { command: 'secret-program' } } }, 'use a token or a client certificate'],
    ['go through a proxy', { cluster: { 'proxy-url': 'http://secret-proxy' } }, 'give a server that the manager reaches without a proxy'],
    [
      'trust anybody',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'write the certificate of its authority into certificate-authority-data',
    ],
    ['be somebody else', { user: { as: 'root' } }, 'use credentials of the user itself'],
    [
      'do what has no name here',
      { user: { 'secret-field': 'x' } },
      'has a field that is not allowed here; only these are: token, client-certificate-data, client-key-data, extensions',
    ],
    ['take what every object inherits for a field', { user: { constructor: 'x' } }, 'has a field that is not allowed here'],
  ])('%s, and is told what to do instead', (_what, parts, remedy) => {
    const problem = problemOf(aKubeconfig(parts));
    expect(problem).toContain(remedy);
    expect(problem).not.toMatch(/shadow|secret-|root/);
  });
});

describe('a kubeconfig is refused', () => {
  test.each<[string, string, RegExp]>([
    ['without a context', aKubeconfig({ document: { 'current-context': '' } }), /current-context is not set; name an entry of contexts/],
    [
      'that names a context that is not there',
      aKubeconfig({ document: { 'current-context': 'x' } }),
      /current-context names no entry of contexts/,
    ],
    [
      'with two contexts of a name',
      aKubeconfig({
        document: {
          contexts: [
            { name: 'c', context: {} },
            { name: 'c', context: {} },
          ],
        },
      }),
      /several entries of contexts/,
    ],
    ['that names a user that is not there', aKubeconfig({ context: { user: 'x' } }), /user of the current context names no entry of users/],
    ['without a server', aKubeconfig({ cluster: { server: '' } }), /server is no https URL/],
    ['with a plain server', aKubeconfig({ cluster: { server: 'http://host' } }), /server is no https URL/],
    ['with a password in its server', aKubeconfig({ cluster: { server: 'https://a:s3cret@host' } }), /holds a user name or password/],
    ['with a query in its server', aKubeconfig({ cluster: { server: 'https://host?s3cret' } }), /holds a query or fragment/],
    [
      'with an impossible name of the server',
      aKubeconfig({ cluster: { 'tls-server-name': '-s3cret' } }),
      /tls-server-name is neither a DNS name nor an address/,
    ],
    [
      'with an authority that is no PEM',
      aKubeconfig({ cluster: { 'certificate-authority-data': base64('s3cret') } }),
      /certificate-authority-data is no PEM file/,
    ],
    ['without credentials', aKubeconfig({ user: { token: '' } }), /has no credentials/],
    ['with a token of several lines', aKubeconfig({ user: { token: 's3cret\n' } }), /token holds spaces, line breaks/],
    ['with half a certificate', aKubeconfig({ user: { 'client-certificate-data': base64(CERTIFICATE) } }), /client-key-data is missing/],
    ['with a key alone', aKubeconfig({ user: { 'client-key-data': base64(KEY) } }), /client-certificate-data is missing/],
    ['of another kind', aKubeconfig({ document: { kind: 's3cret' } }), /kind/],
    ['that is no mapping', '[1]', /not a YAML mapping/],
    ['that is empty', '', /current-context is not set/],
    ['that is too long', aKubeconfig({ context: { namespace: 'x'.repeat(128 * 1024) } }), /is longer than 131072 characters/],
  ])('%s, and the message repeats nothing of it', (_what, kubeconfig, problem) => {
    expect(problemOf(kubeconfig)).toMatch(problem);
    expect(problemOf(kubeconfig)).not.toContain('s3cret');
  });
});
