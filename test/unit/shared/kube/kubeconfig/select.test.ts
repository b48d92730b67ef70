import { expect, test } from 'vitest';
import { parseKubeconfig } from '../../../../../shared/kube/kubeconfig/parse.ts';
import { selectContext } from '../../../../../shared/kube/kubeconfig/select.ts';
import { aKubeconfig } from './a-kubeconfig.ts';

const select = (text: string, context?: string) => selectContext(parseKubeconfig(text, { name: 'F', directory: '/d' }), context, 'F');
const authentication = (user: object) => select(aKubeconfig(user)).user.authentication;

test('the current context is taken unless another is named, and its cluster and user with it', () => {
  const text = `
current-context: a
contexts: [{name: a, context: {cluster: k, user: u, namespace: team}}, {name: b, context: {cluster: l}}]
clusters: [{name: k, cluster: {server: "https://k.test/base/"}}, {name: l, cluster: {server: "http://l.test", proxy-url: "http://p.test"}}]
users: [{name: u, user: {token: t}}]
`;
  expect(select(text)).toMatchObject({
    namespace: 'team',
    cluster: { server: 'https://k.test/base' },
    user: { authentication: { kind: 'Token', token: 't' } },
  });
  expect(select(text, 'b')).toMatchObject({
    namespace: undefined,
    cluster: { server: 'http://l.test', proxyUrl: 'http://p.test' },
    user: { authentication: { kind: 'None' } },
  });
});

test('what the context does not use may contradict itself', () => {
  const text = `${aKubeconfig({ token: 't' }).slice(0, -1)},"preferences":{}}`.replace(
    '"users":[',
    '"users":[{"name":"broken","user":{"exec":{}}},',
  );
  expect(select(text).user.authentication).toEqual({ kind: 'Token', token: 't' });
});

test.each([
  ['contexts: [{name: a, context: {}}]', 'F sets no current-context; choose one with `kubectl config use-context` (it has: a)'],
  ['current-context: x\ncontexts: [{name: a, context: {}}, {name: b}]', 'F has no context "x"; it has: a, b'],
  ['current-context: x', 'F has no context "x"; it has: none'],
  ['current-context: a\ncontexts: [{name: a, context: {}}]', 'context "a" (F) names no cluster; set its field cluster'],
  [
    'current-context: a\ncontexts: [{name: a, context: {cluster: k}}]',
    'context "a" (F) names the cluster "k", which the kubeconfig lacks; add it, or name another',
  ],
  [
    'current-context: a\ncontexts: [{name: a, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: "https://k"}}]',
    'context "a" (F) names the user "u", which the kubeconfig lacks; add it, or name another',
  ],
  [
    'current-context: a\ncontexts: [{name: a, context: {cluster: k}}]\nclusters: [{name: k, cluster: {}}]',
    'cluster "k" (F): server is no http or https URL; write one, such as https://192.0.2.1:6443',
  ],
])('a context that leads nowhere is refused: %s', (text, message) => {
  expect(() => select(text)).toThrow(expect.objectContaining({ name: 'KubeconfigError', message }) as Error);
});

test.each([
  [{ server: 'k.test:6443' }, 'cluster "k" (F): server is no http or https URL; write one, such as https://192.0.2.1:6443'],
  [
    { 'proxy-url': 'socks5://me:s3cret@p.test' },
    'cluster "k" (F): this proxy-url is not supported; use an http or https proxy, such as http://proxy.example:3128',
  ],
  [
    { 'certificate-authority': 'ca', 'certificate-authority-data': 'eA==' },
    'cluster "k" (F): certificate-authority and certificate-authority-data are both set; keep one of them',
  ],
  [
    { 'certificate-authority': 'ca', 'insecure-skip-tls-verify': true },
    'cluster "k" (F): insecure-skip-tls-verify leaves the certificate authority unused; remove one of the two, preferably the former',
  ],
])('a cluster that cannot be used is refused: %j', (cluster, message) => {
  expect(() => select(aKubeconfig({}, cluster))).toThrow(expect.objectContaining({ message }) as Error);
});

const EXEC = { apiVersion: 'client.authentication.k8s.io/v1', command: 'plugin', interactiveMode: 'Never' };

test.each([
  [{ 'client-certificate': 'a' }, 'a client-certificate needs its key; set client-key or client-key-data'],
  [{ 'client-key-data': 'eA==' }, 'a client-key needs its certificate; set client-certificate or client-certificate-data'],
  [
    { 'client-certificate': 'a', 'client-certificate-data': 'eA==', 'client-key': 'b' },
    'client-certificate and client-certificate-data are both set; keep one of them',
  ],
  [{ token: 't', username: 'me' }, 'token and username with password exclude each other; keep one way to authenticate'],
  [{ password: 'pw' }, 'a password needs a username; set it, or remove the password'],
  [{ 'as-groups': ['g'] }, 'as-uid, as-groups and as-user-extra need a user to act as; set the field as'],
  [{ exec: EXEC, 'auth-provider': { name: 'oidc' } }, 'exec and auth-provider exclude each other; keep exec'],
  [{ exec: { ...EXEC, command: '' } }, 'exec.command is missing; name the program that prints credentials'],
  [
    { exec: { ...EXEC, apiVersion: 'client.authentication.k8s.io/v1alpha1' } },
    'exec.apiVersion is not supported; write client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1',
  ],
  [{ exec: { ...EXEC, env: [{ value: 'x' }] } }, 'an entry of exec.env has no name; give it one'],
  [{ exec: { ...EXEC, interactiveMode: 'Sometimes' } }, 'exec.interactiveMode is unknown; write Never, IfAvailable, Always'],
])('a user that contradicts itself is refused: %j', (user, message) => {
  expect(() => select(aKubeconfig(user))).toThrow(expect.objectContaining({ message: `user "u" (F): ${message}` }) as Error);
});

test('each way to authenticate is told apart, and credentials in the kubeconfig spare the plugin', () => {
  expect(authentication({})).toEqual({ kind: 'None' });
  expect(authentication({ token: 't', exec: EXEC })).toEqual({ kind: 'Token', token: 't' });
  expect(authentication({ tokenFile: 'f', token: 't' })).toEqual({ kind: 'TokenFile', path: '/d/f', fallback: 't' });
  expect(authentication({ username: 'me', exec: EXEC })).toEqual({ kind: 'Basic', username: 'me', password: '' });
  expect(authentication({ exec: EXEC })).toMatchObject({ kind: 'Exec', plugin: { command: 'plugin', interactiveMode: 'Never' } });
  expect(authentication({ exec: EXEC, 'client-certificate': 'a', 'client-key': 'b' })).toEqual({ kind: 'None' });
  expect(authentication({ 'auth-provider': { name: 'oidc' } })).toEqual({ kind: 'AuthProvider', provider: { name: 'oidc', config: {} } });
});

test('a plugin of either version that says nothing of interaction is asked where somebody is there', () => {
  for (const apiVersion of ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'])
    expect(authentication({ exec: { apiVersion, command: 'plugin' } })).toMatchObject({
      plugin: { apiVersion, interactiveMode: 'IfAvailable' },
    });
});

test('a client certificate and an authority may be text or files', () => {
  const user = { 'client-certificate-data': 'YQ==', 'client-key': 'k' };
  const { cluster, user: selected } = select(aKubeconfig(user, { 'certificate-authority': 'ca' }));
  expect(cluster.ca).toEqual({ kind: 'File', path: '/d/ca' });
  expect(selected.clientCertificate).toEqual({ certificate: { kind: 'Text', pem: 'a' }, key: { kind: 'File', path: '/d/k' } });
});
