/** Kubeconfigs as files on disk, and what of them is read again when. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ClusterAccess } from '../../../../shared/kube/cluster-access.ts';
import { accessFromKubeconfig, defaultKubeconfigSource } from '../../../../shared/kube/kubeconfig.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aDirectory, aKubeconfig } from './kubeconfig/a-kubeconfig.ts';

const accessTo = (file: string, clock = new FakeClock(), context?: string): ClusterAccess =>
  accessFromKubeconfig({ kind: 'file', path: file, ...(context === undefined ? {} : { context }) }, clock);
const authorization = async (access: ClusterAccess) => (await access.credentials()).headers['authorization'];

test('a list of files is one kubeconfig, the first of each name wins, and files that are missing do not matter', async () => {
  const directory = aDirectory({
    'a/config': JSON.stringify({ users: [{ name: 'u', user: { tokenFile: 'token' } }] }),
    'a/token': 'from-a\n',
    'b/config': aKubeconfig({ token: 'from-b' }, {}, { namespace: 'team' }),
  });
  const access = accessTo([`${directory}/none`, `${directory}/a/config`, '', `${directory}/b/config`].join(':'));
  expect(access).toMatchObject({ server: 'https://k.test:6443', namespace: 'team' });
  expect(await authorization(access)).toBe('Bearer from-a');
});

test('a kubeconfig that cannot be read is named, with the reason', () => {
  const directory = aDirectory();
  const sorry = 'name a file that this program may read';
  const file = path.join(directory, 'none');
  expect(() => accessTo(file)).toThrow(`cannot read the kubeconfig ${file}: ENOENT: no such file or directory, open '${file}'; ${sorry}`);
  expect(() => accessTo(directory)).toThrow(`cannot read the kubeconfig ${directory}: EISDIR`);
  expect(() => accessTo(`${file}:${file}2`)).toThrow(`cannot read the kubeconfig ${file}:${file}2: none of these files exists`);
});

test('what is wrong in one file of a list is reported with the name of that file', () => {
  const directory = aDirectory({
    good: aKubeconfig(),
    bad: 'users: {}',
    lost: JSON.stringify({ contexts: [{ name: 'l', context: { cluster: 'x' } }] }),
  });
  expect(() => accessTo(`${directory}/good:${directory}/bad`)).toThrow(`the kubeconfig ${directory}/bad: users is not a list`);
  expect(() => accessTo(`${directory}/good:${directory}/lost`, new FakeClock(), 'l')).toThrow(
    `context "l" (the kubeconfig ${directory}/lost) names the cluster "x", which the kubeconfig lacks`,
  );
});

test('the context can be chosen, and its namespace is default unless it names one', () => {
  const file = path.join(
    aDirectory({
      config: aKubeconfig({}, {}, { namespace: 'team' }).replace('"contexts":[', '"contexts":[{"name":"d","context":{"cluster":"k"}},'),
    }),
    'config',
  );
  expect(accessTo(file).namespace).toBe('team');
  expect(accessTo(file, new FakeClock(), 'd').namespace).toBe('default');
});

test('the proxy and the TLS settings of the cluster are handed on', async () => {
  const plain = accessFromKubeconfig({ kind: 'text', yaml: aKubeconfig() }, new FakeClock());
  expect(plain.proxyUrl).toBeUndefined();
  expect((await plain.credentials()).tls).toEqual({});
  const cluster = { 'proxy-url': 'http://proxy.test:3128', 'tls-server-name': 'other.test', 'insecure-skip-tls-verify': true };
  const access = accessFromKubeconfig({ kind: 'text', yaml: aKubeconfig({}, cluster) }, new FakeClock());
  expect(access.proxyUrl).toBe('http://proxy.test:3128');
  expect((await access.credentials()).tls).toEqual({ rejectUnauthorized: false, servername: 'other.test' });
});

test('impersonation goes with every request, beside the credentials of who impersonates', async () => {
  const user = { token: 't', as: 'boss', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'example.com/team': ['x'] } };
  const access = accessFromKubeconfig({ kind: 'text', yaml: aKubeconfig(user) }, new FakeClock());
  expect((await access.credentials()).headers).toEqual({
    authorization: 'Bearer t',
    'impersonate-user': 'boss',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-example.com%2fteam': ['x'],
  });
});

test('a token file that rotates is read again after ten seconds', async () => {
  const directory = aDirectory({ config: aKubeconfig({ tokenFile: 'token' }), token: 'one\n' });
  const clock = new FakeClock();
  const access = accessTo(`${directory}/config`, clock);
  expect(await authorization(access)).toBe('Bearer one');
  writeFileSync(path.join(directory, 'token'), 'two\n');
  await clock.advance(9_999);
  expect(await authorization(access)).toBe('Bearer one');
  await clock.advance(1);
  expect(await authorization(access)).toBe('Bearer two');
});

test('a token file that is empty or gone is an error naming user and file, unless the kubeconfig has a token, too', async () => {
  const directory = aDirectory({
    config: aKubeconfig({ tokenFile: 'token' }),
    both: aKubeconfig({ tokenFile: 'token', token: 'fallback' }),
    token: '',
  });
  const who = `user "u" (the kubeconfig ${directory}/config)`;
  const access = accessTo(`${directory}/config`);
  await expect(access.credentials()).rejects.toThrow(`${who}: the tokenFile ${directory}/token is empty; put a token into it`);
  expect(await authorization(accessTo(`${directory}/both`))).toBe('Bearer fallback');
  rmSync(path.join(directory, 'token'));
  await expect(access.credentials()).rejects.toThrow(
    `${who}: the tokenFile ${directory}/token cannot be read; put it there, or name another file`,
  );
  expect(await authorization(accessTo(`${directory}/both`))).toBe('Bearer fallback');
  writeFileSync(path.join(directory, 'token'), 'at last');
  expect(await authorization(access)).toBe('Bearer at last');
  expect(await authorization(accessTo(`${directory}/both`))).toBe('Bearer at last');
});

test('certificates in files are read again after ten seconds, and one that is gone is named', async () => {
  const directory = aDirectory({
    config: aKubeconfig({ 'client-certificate': 'crt', 'client-key': 'key' }, { 'certificate-authority': 'ca' }),
    ca: 'A1',
    crt: 'C1',
    key: 'K1',
  });
  const clock = new FakeClock();
  const access = accessTo(`${directory}/config`, clock);
  expect((await access.credentials()).tls).toEqual({ ca: 'A1', cert: 'C1', key: 'K1' });
  for (const name of ['ca', 'crt', 'key']) writeFileSync(path.join(directory, name), `${name} renewed`);
  await clock.advance(10_000);
  expect((await access.credentials()).tls).toEqual({ ca: 'ca renewed', cert: 'crt renewed', key: 'key renewed' });
  rmSync(path.join(directory, 'key'));
  await clock.advance(10_000);
  await expect(access.credentials()).rejects.toThrow(
    `user "u" (the kubeconfig ${directory}/config): the client-key ${directory}/key cannot be read`,
  );
});

test('a refusal has the kubeconfig itself read again at once, and once more not before ten seconds later', async () => {
  const directory = aDirectory({ config: aKubeconfig({ token: 'one' }) });
  const file = path.join(directory, 'config');
  const clock = new FakeClock();
  const access = accessTo(file, clock);
  const first = await access.credentials();
  writeFileSync(file, aKubeconfig({ token: 'two' }));
  access.invalidate(first);
  const second = await access.credentials();
  expect(second.headers).toEqual({ authorization: 'Bearer two' });
  writeFileSync(file, aKubeconfig({ token: 'three' }));
  // Told late by a request that was sent with the first.
  access.invalidate(first);
  access.invalidate(second);
  expect(await access.credentials()).toBe(second);
  await clock.advance(10_000);
  expect(await authorization(access)).toBe('Bearer three');
});

test('after a refusal nobody gets the refused credentials any more, not even while others are being read', async () => {
  const directory = aDirectory({ config: aKubeconfig({ token: 'one' }) });
  const access = accessTo(`${directory}/config`);
  access.invalidate(await access.credentials());
  writeFileSync(path.join(directory, 'config'), aKubeconfig({ token: 'two' }));
  expect(await Promise.all([authorization(access), authorization(access)])).toEqual(['Bearer two', 'Bearer two']);
});

test('a refusal while credentials are being read has them read once more', async () => {
  const directory = aDirectory({ config: aKubeconfig({ token: 'one' }) });
  const clock = new FakeClock();
  const access = accessTo(`${directory}/config`, clock);
  const first = await access.credentials();
  await clock.advance(10_000);
  const reading = access.credentials();
  writeFileSync(path.join(directory, 'config'), aKubeconfig({ token: 'two' }));
  access.invalidate(first);
  expect((await reading).headers).toEqual({ authorization: 'Bearer one' });
  expect(await authorization(access)).toBe('Bearer two');
});

test('credentials for another server than before are not used', async () => {
  const directory = aDirectory({ config: aKubeconfig({ token: 'one' }) });
  const access = accessTo(`${directory}/config`);
  const first = await access.credentials();
  writeFileSync(path.join(directory, 'config'), aKubeconfig({ token: 'two' }, { server: 'https://other.test' }));
  access.invalidate(first);
  // Nor are those that were refused, by whoever asks first or later.
  for (let request = 0; request < 2; request++)
    await expect(access.credentials()).rejects.toThrow(
      `the kubeconfig ${directory}/config names another server by now; start this program again`,
    );
});

test('without a kubeconfig the service account of the pod is used, and its token read again when it rotates', async () => {
  const directory = aDirectory({ token: 'one', 'ca.crt': 'authority', namespace: 'switchyard\n' });
  const environment = { HOME: directory, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const clock = new FakeClock();
  const access = accessFromKubeconfig(defaultKubeconfigSource(environment, directory), clock);
  expect(access).toMatchObject({ server: 'https://10.0.0.1:443', namespace: 'switchyard' });
  expect(await access.credentials()).toEqual({ headers: { authorization: 'Bearer one' }, tls: { ca: 'authority' } });
  writeFileSync(path.join(directory, 'token'), 'two');
  await clock.advance(10_000);
  expect(await authorization(access)).toBe('Bearer two');
});

test('in a cluster of IPv6 addresses the host stands in brackets, and without a namespace file it is default', () => {
  const directory = aDirectory({ token: 'one', 'ca.crt': 'authority' });
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
  const access = accessFromKubeconfig(defaultKubeconfigSource(environment, directory), new FakeClock());
  expect(access).toMatchObject({ server: 'https://[fd00::1]:6443', namespace: 'default' });
});

test('a pod that does not know its API server says which variables are missing', async () => {
  const directory = aDirectory({ token: 'one' });
  expect(() => accessFromKubeconfig(defaultKubeconfigSource({}, directory), new FakeClock())).toThrow(
    'KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set; set both, or name a kubeconfig',
  );
  const environment = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  await expect(accessFromKubeconfig(defaultKubeconfigSource(environment, directory), new FakeClock()).credentials()).rejects.toThrow(
    `the service account of this pod: the certificate-authority ${directory}/ca.crt cannot be read`,
  );
});

test('KUBECONFIG comes before ~/.kube/config, that before the service account, and nothing at all is an error', () => {
  const directory = aDirectory({ token: 'one', '.kube/config': aKubeconfig() });
  const inHome = path.join(directory, '.kube', 'config');
  expect(defaultKubeconfigSource({ KUBECONFIG: '/x:/y', HOME: directory }, directory)).toEqual({ kind: 'file', path: '/x:/y' });
  expect(defaultKubeconfigSource({ KUBECONFIG: '', HOME: directory }, directory)).toEqual({ kind: 'file', path: inHome });
  expect(defaultKubeconfigSource({}, directory)).toMatchObject({ kind: 'in-cluster', directory });
  expect(() => defaultKubeconfigSource({}, '/does/not/exist')).toThrow('no kubeconfig found: name one with --kubeconfig');
});
