import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { mergedKubeconfig, namedKubeconfig } from '../../../../../manager/cli/local/kubeconfigs.ts';
import { kubeconfigFor } from '../../../../../shared/controlplane/server/kubeconfig-file.ts';

const of = (name: string): string => namedKubeconfig(kubeconfigFor({ url: `https://${name}.test`, caPem: name }, `token-of-${name}`), name);

test('a kubeconfig is called as its cluster throughout', () => {
  expect(parse(of('east'))).toMatchObject({
    'current-context': 'east',
    clusters: [{ name: 'east', cluster: { server: 'https://east.test' } }],
    users: [{ name: 'east', user: { token: 'token-of-east' } }],
    contexts: [{ name: 'east', context: { cluster: 'east', user: 'east' } }],
  });
});

test('one kubeconfig has the contexts of all clusters, and the first is the current one', () => {
  const merged = parse(mergedKubeconfig(['manager', 'east', 'west'].map(of))) as Record<string, { name: string }[]>;
  expect(merged['current-context']).toBe('manager');
  for (const list of ['clusters', 'users', 'contexts']) expect(merged[list]?.map(({ name }) => name)).toEqual(['manager', 'east', 'west']);
});
