import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseKubeconfig } from '../../../../../shared/kube/kubeconfig/parse.ts';
import { failureOf } from './a-kubeconfig.ts';

const parse = (text: string) => parseKubeconfig(text, { name: 'F', directory: '/home/me/.kube' });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('every field that kubectl knows is read, and the others are left out', () => {
  const config = parse(`
apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: c
contexts:
- name: c
  context: {cluster: k, user: u, namespace: team, extensions: [{name: x, extension: {}}]}
clusters:
- name: k
  cluster:
    server: https://k.test:6443
    certificate-authority-data: ${base64('authority')}
    insecure-skip-tls-verify: true
    tls-server-name: other.test
    proxy-url: http://proxy.test:3128
    disable-compression: true
    extensions:
    - {name: other, extension: 1}
    - {name: client.authentication.k8s.io/exec, extension: {audience: prod}}
users:
- name: u
  user:
    token: t
    username: me
    password: pw
    client-certificate-data: ${base64('certificate')}
    client-key-data: ${base64('key')}
    as: boss
    as-uid: '7'
    as-groups: [a, b]
    as-user-extra: {team: [x, y]}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: plugin
      args: [get, token]
      env: [{name: A, value: b}]
      installHint: install it
      provideClusterInfo: true
      interactiveMode: Never
    auth-provider: {name: oidc, config: {id-token: x}}
`);
  expect(config).toEqual({
    currentContext: 'c',
    contexts: new Map([['c', { origin: 'F', cluster: 'k', user: 'u', namespace: 'team' }]]),
    clusters: new Map([
      [
        'k',
        {
          origin: 'F',
          server: 'https://k.test:6443',
          caFile: undefined,
          caPem: 'authority',
          skipTlsVerify: true,
          tlsServerName: 'other.test',
          proxyUrl: 'http://proxy.test:3128',
          execConfig: { audience: 'prod' },
        },
      ],
    ]),
    users: new Map([
      [
        'u',
        {
          origin: 'F',
          token: 't',
          tokenFile: undefined,
          username: 'me',
          password: 'pw',
          certificateFile: undefined,
          certificatePem: 'certificate',
          keyFile: undefined,
          keyPem: 'key',
          impersonate: { user: 'boss', uid: '7', groups: ['a', 'b'], extra: new Map([['team', ['x', 'y']]]) },
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'plugin',
            args: ['get', 'token'],
            env: [{ name: 'A', value: 'b' }],
            installHint: 'install it',
            provideClusterInfo: true,
            interactiveMode: 'Never',
          },
          authProvider: { name: 'oidc', config: { 'id-token': 'x' } },
        },
      ],
    ]),
  });
});

test('relative paths start at the directory of the kubeconfig, and the command of a plugin only when it has a slash', () => {
  const { users, clusters } = parse(`
clusters: [{name: k, cluster: {certificate-authority: pki/ca.crt}}]
users:
- {name: a, user: {client-certificate: a.crt, client-key: /etc/a.key, tokenFile: ../token, exec: {command: bin/plugin}}}
- {name: b, user: {exec: {command: plugin}}}
- {name: c, user: {exec: {command: /opt/plugin}}}
`);
  expect(clusters.get('k')?.caFile).toBe('/home/me/.kube/pki/ca.crt');
  expect(users.get('a')).toMatchObject({
    certificateFile: '/home/me/.kube/a.crt',
    keyFile: '/etc/a.key',
    tokenFile: '/home/me/.kube/../token',
    exec: { command: '/home/me/.kube/bin/plugin' },
  });
  expect(users.get('b')?.exec?.command).toBe('plugin');
  expect(users.get('c')?.exec?.command).toBe('/opt/plugin');
});

test('an empty document, empty texts and nulls are a kubeconfig without those entries', () => {
  expect(parse('')).toEqual({ currentContext: undefined, contexts: new Map(), clusters: new Map(), users: new Map() });
  const { currentContext, users } = parse(
    'current-context: ""\nclusters: null\nusers: [{name: u, user: {token: "", as: ~, exec: null}}, {name: v}]',
  );
  expect(currentContext).toBeUndefined();
  expect(users.get('u')).toEqual({ ...users.get('v') });
  expect(users.get('u')?.impersonate).toBeUndefined();
});

test.each([
  ['just text', 'F is not valid: it is not a YAML mapping'],
  ['a: [', 'F is not valid: it is not YAML (BAD_INDENT in line 1, column 5)'],
  ['a: *nothing', 'F is not valid: its YAML aliases cannot be resolved; write the values out'],
  ['kind: Pod', 'F: kind is not Config; it is no kubeconfig of a version that is understood'],
  ['apiVersion: v2', 'F: apiVersion is not v1; it is no kubeconfig of a version that is understood'],
  ['users: {}', 'F: users is not a list'],
  ['users: [u]', 'F: users[0] is not a YAML mapping'],
  ['users: [{user: {}}]', 'F: users[0].name is missing'],
  ['users: [{name: u}, {name: u}]', 'F: users[1].name is "u" twice; keep one of the two'],
  ['users: [{name: u, user: {token: 4711}}]', 'F: users[0].user.token is not text; put quotes around it'],
  ['users: [{name: u, user: {as-groups: [1]}}]', 'F: users[0].user.as-groups[0] is not text; put quotes around it'],
  ['users: [{name: u, user: {exec: sh}}]', 'F: users[0].user.exec is not a YAML mapping'],
  [
    'clusters: [{name: k, cluster: {insecure-skip-tls-verify: "yes"}}]',
    'F: clusters[0].cluster.insecure-skip-tls-verify is neither true nor false',
  ],
  [
    'clusters: [{name: k, cluster: {certificate-authority-data: "-----BEGIN"}}]',
    'F: clusters[0].cluster.certificate-authority-data is not base64; write what `base64 -w0 FILE` prints of the PEM file',
  ],
])('%s is refused with the field and the remedy', (text, message) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'KubeconfigError', message }) as Error);
});

test.each([
  'users: [{name: u, user: {token: s3cret}',
  'users:\n- name: u\n  user: {token: "s3cret}\n',
  'token: s3cret: s3cret',
  'token: *s3cret',
  'token: !s3cret x\ntoken: y',
  'users: [{name: u, user: {client-key-data: "s3cret!"}}]',
])('what is refused is never quoted: %s', (text) => {
  expect(inspect(failureOf(() => parse(text)))).not.toContain('s3cret');
});
