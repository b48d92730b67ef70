/** Goal: the manager's account on a worker cluster has the rights that the chart's values give it, and no others. */
import { expect, test } from 'vitest';
import { DEFAULT_LEASE_NAMESPACE } from '../../shared/api/names.ts';
import { grantsTo, ofKind, renderChart } from '../support/helm.ts';

const MANAGER_ACCESS = 'test-switchyard-worker-manager-access';

test('the manager may create namespaces on a worker cluster only if it is let, and not where it is bound to some', () => {
  expect(grantsTo(MANAGER_ACCESS, renderChart('worker'))).not.toContain('create namespaces');
  expect(grantsTo(MANAGER_ACCESS, renderChart('worker', 'managerAccess.createNamespaces=true'))).toContain('create namespaces');
  expect(() => renderChart('worker', 'managerAccess.createNamespaces=true', 'managerAccess.namespaces={a,b}')).toThrow(
    /managerAccess.createNamespaces cannot be used with managerAccess.namespaces: .*; create the namespaces yourself/,
  );
});

test('the manager may act as the ServiceAccounts of the names that are listed, and as no other', () => {
  type Rule = { resources: string[]; resourceNames?: string[]; verbs: string[] };
  const impersonating = (...values: string[]) =>
    ofKind(renderChart('manager', ...values), 'ClusterRole')
      .flatMap((role) => role['rules'] as Rule[])
      .filter(({ verbs }) => verbs.includes('impersonate'))
      .map(({ resources, resourceNames }) => [resources.join(), resourceNames?.join()]);
  const extra = ['userextras/submission-queue.switchyard.dev', undefined];
  expect(impersonating()).toEqual([['serviceaccounts', 'switchyard-submitter'], extra]);
  expect(impersonating('submissions.impersonate={a,b}')).toEqual([['serviceaccounts', 'a,b'], extra]);
  expect(impersonating('submissions.impersonate={*}')).toEqual([['serviceaccounts', undefined], extra]);
  expect(impersonating('submissions.impersonate=null')).toEqual([]);
});

test('the manager may list pods on a worker cluster, and events unless that is switched off, and do nothing else with them', () => {
  const onPods = (...values: string[]) =>
    grantsTo(MANAGER_ACCESS, renderChart('worker', ...values)).filter((grant) => /(pods|events)$/.test(grant));
  expect(onPods().toSorted()).toEqual(['list events', 'list pods']);
  expect(onPods('managerAccess.namespaces={a}').toSorted()).toEqual(['list events', 'list pods']);
  expect(onPods('managerAccess.startTroubles=false')).toEqual(['list pods']);
  expect(onPods('managerAccess.namespaces={a}', 'managerAccess.startTroubles=false')).toEqual(['list pods']);
});

test('the manager may read the logs of pods on a worker cluster where it is said that it may, and not by itself', () => {
  const onPods = (...values: string[]) =>
    grantsTo(MANAGER_ACCESS, renderChart('worker', ...values)).filter((grant) => /(pods|pods\/log)$/.test(grant));
  expect(onPods()).toEqual(['list pods']);
  for (const where of ['managerAccess.namespaces={a}', 'managerAccess.create=true'])
    expect([...new Set(onPods(where, 'managerAccess.liveLogs=true', 'managerAccess.startTroubles=false'))]).toEqual([
      'list pods',
      'get pods/log',
    ]);
});

test('the manager may read ConfigMaps on a worker cluster, where the ends of logs are, unless that is switched off', () => {
  const onMaps = (...values: string[]) =>
    grantsTo(MANAGER_ACCESS, renderChart('worker', ...values)).filter((grant) => grant.endsWith(' configmaps'));
  expect(onMaps()).toEqual(['get configmaps']);
  expect(onMaps('managerAccess.namespaces={a}')).toEqual(['get configmaps']);
  expect(onMaps('managerAccess.logs=false')).toEqual([]);
});

test('bound to namespaces, the manager has rights in these, to look at nodes, PriorityClasses and RuntimeClasses and to see which cluster it is, and no others', () => {
  const rendered = renderChart('worker', 'managerAccess.namespaces={a,b}');
  const cluster = ofKind(rendered, 'ClusterRole').find(({ metadata }) => metadata.name === MANAGER_ACCESS);
  const itsIdentity = { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] };
  const looks = (group: string, resource: string) => ({ apiGroups: [group], resources: [resource], verbs: ['list', 'watch'] });
  expect(cluster?.['rules']).toEqual([
    itsIdentity,
    looks('', 'nodes'),
    looks('scheduling.k8s.io', 'priorityclasses'),
    looks('node.k8s.io', 'runtimeclasses'),
  ]);
  const bindings = ofKind(rendered, 'RoleBinding').filter(({ metadata }) => metadata.name === MANAGER_ACCESS);
  expect(bindings.map(({ metadata }) => metadata.namespace)).toEqual(['a', 'b']);
  const leases = ofKind(rendered, 'Role').find(({ metadata }) => metadata.name === `${MANAGER_ACCESS}-leases`);
  expect(leases?.metadata.namespace).toBe(DEFAULT_LEASE_NAMESPACE);
  const itsLease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'watch', 'create', 'update'] };
  const tails = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] };
  expect(leases?.['rules']).toEqual([itsLease, tails]);
  const withoutNodes = renderChart('worker', 'managerAccess.namespaces={a,b}', 'managerAccess.nodes=false');
  expect(ofKind(withoutNodes, 'ClusterRole').find(({ metadata }) => metadata.name === MANAGER_ACCESS)?.['rules']).toEqual([
    itsIdentity,
    looks('scheduling.k8s.io', 'priorityclasses'),
    looks('node.k8s.io', 'runtimeclasses'),
  ]);
});
