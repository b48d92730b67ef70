import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { execInfo, readExecCredential } from '../../../../../shared/kube/kubeconfig/exec-credential.ts';
import { failureOf } from './a-kubeconfig.ts';

const V1 = 'client.authentication.k8s.io/v1';
const V1BETA1 = 'client.authentication.k8s.io/v1beta1';
const CLUSTER = {
  server: 'https://k.test:6443',
  caPem: 'authority',
  skipTlsVerify: false,
  tlsServerName: 'other.test',
  proxyUrl: 'http://p.test',
  execConfig: { audience: 'prod' },
};
const printed = (status: unknown, apiVersion = V1, kind = 'ExecCredential'): string => JSON.stringify({ apiVersion, kind, status });

test('a plugin that asks for the cluster is told all of it, and one that does not nothing', () => {
  expect(JSON.parse(execInfo({ apiVersion: V1, provideClusterInfo: true }, true, CLUSTER))).toEqual({
    apiVersion: V1,
    kind: 'ExecCredential',
    spec: {
      interactive: true,
      cluster: {
        server: 'https://k.test:6443',
        'certificate-authority-data': Buffer.from('authority').toString('base64'),
        'tls-server-name': 'other.test',
        'proxy-url': 'http://p.test',
        config: { audience: 'prod' },
      },
    },
  });
  expect(JSON.parse(execInfo({ apiVersion: V1BETA1, provideClusterInfo: false }, false, CLUSTER))).toEqual({
    apiVersion: V1BETA1,
    kind: 'ExecCredential',
    spec: { interactive: false },
  });
});

test('token, client certificate and expiry are read in both versions', () => {
  for (const apiVersion of [V1, V1BETA1]) {
    const status = { token: 't', clientCertificateData: 'c', clientKeyData: 'k', expirationTimestamp: '2026-01-01T00:00:00+01:00' };
    expect(readExecCredential(printed(status, apiVersion), apiVersion, 'P')).toEqual({
      token: 't',
      clientCertificate: { certificatePem: 'c', keyPem: 'k' },
      expiresAtMs: Date.UTC(2025, 11, 31, 23),
    });
  }
  expect(readExecCredential(printed({ token: 't' }), V1, 'P')).toEqual({
    token: 't',
    clientCertificate: undefined,
    expiresAtMs: undefined,
  });
});

test.each([
  ['hello s3cret', 'P printed no JSON; it must print an ExecCredential and nothing else on standard output'],
  [printed({ token: 's3cret' }, V1BETA1), `P printed no ExecCredential of ${V1}, which exec.apiVersion promises; make the two agree`],
  [printed({ token: 's3cret' }, V1, 'Token'), `P printed no ExecCredential of ${V1}, which exec.apiVersion promises; make the two agree`],
  ['[]', `P printed no ExecCredential of ${V1}, which exec.apiVersion promises; make the two agree`],
  [printed(undefined), 'P printed no credentials: status has neither token nor clientCertificateData'],
  [printed({ token: 7 }), 'P printed no credentials: status has neither token nor clientCertificateData'],
  [printed({ clientKeyData: 's3cret' }), 'P printed only one of clientCertificateData and clientKeyData; a client certificate needs both'],
  [printed({ token: 's3cret', expirationTimestamp: 'soon' }), 'P printed a status.expirationTimestamp that is no time in RFC 3339'],
  [printed({ token: 's3cret', expirationTimestamp: '2026' }), 'P printed a status.expirationTimestamp that is no time in RFC 3339'],
])('an answer that is no credential is refused and not quoted: %s', (text, message) => {
  const failure = failureOf(() => readExecCredential(text, V1, 'P'));
  expect(failure).toMatchObject({ name: 'KubeconfigError', message });
  expect(inspect(failure)).not.toContain('s3cret');
});
