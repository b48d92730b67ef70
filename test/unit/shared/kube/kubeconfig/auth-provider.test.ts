import { expect, test } from 'vitest';
import { loadAuthProvider } from '../../../../../shared/kube/kubeconfig/auth-provider.ts';
import { accessFromKubeconfig } from '../../../../../shared/kube/kubeconfig.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aKubeconfig } from './a-kubeconfig.ts';

const accessBy = (name: string, config: object) =>
  accessFromKubeconfig({ kind: 'text', yaml: aKubeconfig({ 'auth-provider': { name, config }, as: 'boss' }) }, new FakeClock());

test('a legacy auth provider gives its token', async () => {
  const access = accessBy('gcp', { 'access-token': 'from-provider', expiry: '2099-01-01T00:00:00Z' });
  expect((await access.credentials()).headers).toEqual({ authorization: 'Bearer from-provider', 'impersonate-user': 'boss' });
}, 60_000);

test('a provider that fails, or that nobody knows, is named with its user and what to use instead', async () => {
  await expect(
    accessBy('gcp', { 'access-token': 'old', expiry: '2001-01-01T00:00:00Z', 'cmd-path': 'false' }).credentials(),
  ).rejects.toThrow(
    'user "u" (the kubeconfig): the auth-provider "gcp" gives no credentials; log in anew with its own program, or use an exec plugin',
  );
  await expect(accessBy('abacus', {}).credentials()).rejects.toThrow(
    'user "u" (the kubeconfig): the auth-provider "abacus" is unknown or gives no credentials; use an exec plugin',
  );
}, 60_000);

test('where the library is not installed, the message says what to install, and a library that is broken says so itself', async () => {
  const withLibrary = (load: () => Promise<never>) => loadAuthProvider({ name: 'oidc', config: {} }, 'user "u"', load);
  const missing = Object.assign(new Error("Cannot find package '@kubernetes/client-node'"), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(withLibrary(() => Promise.reject(missing))).rejects.toThrow(
    'user "u": the auth-provider "oidc" needs the package @kubernetes/client-node, which does not come with Switchyard; install it beside (npm install @kubernetes/client-node@2, with -g where Switchyard is), or use an exec plugin',
  );
  await expect(withLibrary(() => Promise.reject(new SyntaxError('it is broken')))).rejects.toThrow('it is broken');
});
