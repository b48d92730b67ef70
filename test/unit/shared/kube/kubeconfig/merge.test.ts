import { expect, test } from 'vitest';
import { mergeKubeconfigs } from '../../../../../shared/kube/kubeconfig/merge.ts';
import { parseKubeconfig } from '../../../../../shared/kube/kubeconfig/parse.ts';

const merged = (...texts: readonly string[]) =>
  mergeKubeconfigs(texts.map((text, index) => parseKubeconfig(text, { name: `F${index}`, directory: `/d${index}` })));

test('the first file to name an entry wins with the whole entry, and nothing of the others is mixed in', () => {
  const { users } = merged(
    'users: [{name: u, user: {token: one}}]',
    'users: [{name: u, user: {token: two, as: boss}}, {name: v, user: {token: three}}]',
  );
  expect(users.get('u')).toMatchObject({ origin: 'F0', token: 'one', impersonate: undefined });
  expect(users.get('v')).toMatchObject({ origin: 'F1', token: 'three' });
});

test('the current context is that of the first file that sets one', () => {
  expect(merged('users: []', 'current-context: b', 'current-context: c').currentContext).toBe('b');
  expect(merged('users: []', '').currentContext).toBeUndefined();
});

test('a context may name cluster and user of other files, each with paths of its own', () => {
  const config = merged(
    'contexts: [{name: c, context: {cluster: k, user: u}}]',
    'clusters: [{name: k, cluster: {certificate-authority: ca}}]',
    'users: [{name: u, user: {tokenFile: token}}]',
  );
  expect(config.contexts.get('c')).toMatchObject({ cluster: 'k', user: 'u' });
  expect(config.clusters.get('k')?.caFile).toBe('/d1/ca');
  expect(config.users.get('u')?.tokenFile).toBe('/d2/token');
});
