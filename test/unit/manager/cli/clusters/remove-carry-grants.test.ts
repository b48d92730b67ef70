import { expect, test } from 'vitest';
import { accessObjects } from '../../../../../manager/cli/clusters/access-rights.ts';
import { removeCarryGrants } from '../../../../../manager/cli/clusters/remove-carry-grants.ts';
import type { KubeObject } from '../../../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../../../shared/api/resources.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';

const ACCOUNT = { namespace: 'switchyard', name: 'access' };
const NAME = 'access-carry';
const WISH = { ...ACCOUNT, kinds: [], leaseNamespaces: [], servedNamespaces: [], createNamespaces: false, liveLogs: false };

const forbidden = (): ApiError => new ApiError(403, { reason: 'Forbidden', message: 'no' });

/** A cluster with the objects that `clusters join` has made for these namespaces, and others. */
function aCluster(
  carryNamespaces: readonly string[],
  more: readonly [string, object][] = [],
  denied: (call: string) => boolean = () => false,
) {
  const objects = new Map<string, object>(more);
  for (const { resource, object } of accessObjects({ ...WISH, carryNamespaces }))
    if (object.metadata.name === NAME) objects.set(`${resource.plural} ${object.metadata.namespace}/${NAME}`, object);
  const client = {
    list: async ({ plural }: Resource, { fieldSelector }: { fieldSelector?: string }) => {
      if (denied(`list ${plural}`)) throw forbidden();
      expect(fieldSelector).toBe(`metadata.name=${NAME}`);
      return { items: [...objects].flatMap(([key, object]) => (key.startsWith(`${plural} `) ? [object as KubeObject] : [])) };
    },
    delete: async ({ plural }: Resource, { namespace, name }: { namespace: string; name: string }) => {
      const key = `${plural} ${namespace}/${name}`;
      if (denied(`delete ${key}`)) throw forbidden();
      if (!objects.delete(key)) throw new ApiError(404, { reason: 'NotFound', message: 'gone' });
    },
  };
  return { client: client as unknown as KubeClient, left: () => [...objects.keys()].toSorted() };
}

const binding = (namespace: string, ...accounts: readonly string[]): [string, object] => [
  `rolebindings ${namespace}/${NAME}`,
  {
    metadata: { name: NAME, namespace },
    subjects: accounts.map((name) => ({ kind: 'ServiceAccount', name, namespace: ACCOUNT.namespace })),
  },
];
const role = (namespace: string): [string, object] => [`roles ${namespace}/${NAME}`, { metadata: { name: NAME, namespace } }];

test('they are found in all namespaces without being named', async () => {
  const { client, left } = aCluster(['b', 'a']);
  expect(left()).toHaveLength(4);
  expect(await removeCarryGrants(client, ACCOUNT, 'east')).toEqual({ removed: ['a', 'b'], left: [] });
  expect(left()).toEqual([]);
  expect(await removeCarryGrants(client, ACCOUNT, 'east')).toEqual({ removed: [], left: [] });
});

test('a Role whose RoleBinding an interrupted run has deleted is deleted as well', async () => {
  const { client, left } = aCluster([], [role('a')]);
  expect(await removeCarryGrants(client, ACCOUNT, 'east')).toEqual({ removed: ['a'], left: [] });
  expect(left()).toEqual([]);
});

test('a RoleBinding that names another account stays with its Role, and is named', async () => {
  const { client, left } = aCluster([], [role('a'), binding('a', 'other'), role('b'), binding('b', 'access', 'other')]);
  const { removed, left: named } = await removeCarryGrants(client, ACCOUNT, 'east');
  expect(removed).toEqual([]);
  expect(named).toEqual([
    {
      why: 'RoleBinding a/access-carry names other accounts',
      command: 'kubectl --context east delete rolebindings,roles access-carry --namespace a',
    },
    {
      why: 'RoleBinding b/access-carry names other accounts',
      command: 'kubectl --context east delete rolebindings,roles access-carry --namespace b',
    },
  ]);
  expect(left()).toHaveLength(4);
});

test('what an account may not delete is named with the command, and the rest is deleted', async () => {
  const { client, left } = aCluster(['a', 'b'], [], (call) => call === `delete roles a/${NAME}`);
  expect(await removeCarryGrants(client, ACCOUNT, 'east')).toEqual({
    removed: ['b'],
    left: [
      {
        why: 'this account may not delete Role and RoleBinding a/access-carry',
        command: 'kubectl --context east delete rolebindings,roles access-carry --namespace a',
      },
    ],
  });
  expect(left()).toEqual([`roles a/${NAME}`]);
});

test('an account that may not list them says how to find them', async () => {
  const { client } = aCluster(['a'], [], (call) => call.startsWith('list'));
  const { removed, left } = await removeCarryGrants(client, ACCOUNT, 'east');
  expect(removed).toEqual([]);
  expect(left.map(({ command }) => command)).toEqual([
    'kubectl --context east delete rolebindings,roles --all-namespaces --field-selector metadata.name=access-carry',
  ]);
});
