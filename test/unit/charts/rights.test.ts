/** Goal: what each account of the charts may do is written down here, so that a new right is a visible change. */
import { expect, test } from 'vitest';
import { ofKind, renderChart, type Rendered } from '../../support/helm.ts';

type Rule = {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
};
type Binding = Rendered & {
  readonly subjects: readonly { readonly name: string }[];
  readonly roleRef: { readonly kind: string; readonly name: string };
};

/** `NAMESPACE: GROUP/RESOURCE[NAMES] VERBS` of what is granted to a ServiceAccount; `*` for all namespaces. */
function rightsOf(account: string, rendered: readonly Rendered[]): string[] {
  const bindings = [...ofKind(rendered, 'ClusterRoleBinding'), ...ofKind(rendered, 'RoleBinding')] as Binding[];
  return bindings
    .filter(({ subjects }) => subjects.some(({ name }) => name === account))
    .flatMap(({ metadata: { namespace }, roleRef }) =>
      ofKind(rendered, roleRef.kind)
        .filter(({ metadata }) => metadata.name === roleRef.name && metadata.namespace === namespace)
        .flatMap((role) => role['rules'] as Rule[])
        .flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
          apiGroups.flatMap((group) =>
            resources.map(
              (resource) =>
                `${namespace ?? '*'}: ${group === '' ? '' : `${group}/`}${resource}${resourceNames === undefined ? '' : `[${resourceNames.join()}]`} ${verbs.join()}`,
            ),
          ),
        ),
    );
}

test('the manager', () => {
  expect(rightsOf('test-switchyard-manager', renderChart('manager'))).toMatchInlineSnapshot(`
    [
      "*: admissionregistration.k8s.io/mutatingwebhookconfigurations[test-switchyard-manager] list,watch,patch",
      "*: admissionregistration.k8s.io/validatingwebhookconfigurations[test-switchyard-manager] list,watch,patch",
      "*: batch/jobs get,list,watch,patch,delete",
      "*: batch/jobs/status patch",
      "*: switchyard.dev/workerclusters list,watch",
      "*: switchyard.dev/resourceflavors list,watch",
      "*: switchyard.dev/clusterqueues list,watch",
      "*: switchyard.dev/localqueues list,watch",
      "*: switchyard.dev/cohorts list,watch",
      "*: switchyard.dev/workloadpriorityclasses list,watch",
      "*: switchyard.dev/submissionqueues list,watch",
      "*: switchyard.dev/workerclusters patch",
      "*: switchyard.dev/workerclusters/status patch",
      "*: switchyard.dev/clusterqueues/status patch",
      "*: switchyard.dev/cohorts/status patch",
      "*: switchyard.dev/localqueues/status patch",
      "*: switchyard.dev/submissionqueues/status patch",
      "*: scheduling.k8s.io/priorityclasses list,watch",
      "*: limitranges list,watch",
      "*: node.k8s.io/runtimeclasses list,watch",
      "*: namespaces get,list,watch",
      "*: events create,patch",
      "*: serviceaccounts[switchyard-submitter] impersonate",
      "*: authentication.k8s.io/userextras/submission-queue.switchyard.dev impersonate",
      "*: authentication.k8s.io/tokenreviews create",
      "*: authorization.k8s.io/subjectaccessreviews create",
      "switchyard: secrets[test-switchyard-manager-webhook-tls] list,watch,patch",
      "switchyard: secrets get,patch",
      "switchyard: configmaps get,list,create,patch,delete",
      "switchyard: coordination.k8s.io/leases get,create,update",
      "switchyard: secrets create",
      "switchyard: secrets[test-switchyard-manager-record-key] get,patch",
    ]
  `);
});

test('the manager creates Jobs where its shared queue and its canaries lead, and nowhere else', () => {
  const creating = (...values: string[]): string[] =>
    rightsOf('test-switchyard-manager', renderChart('manager', ...values)).filter(
      (right) => / \S*create/.test(right) && right.includes('/jobs '),
    );
  expect(creating()).toEqual([]);
  expect(creating('config.submissionQueue=jobs', 'config.submissionNamespaces={a,b}')).toEqual([
    'a: batch/jobs create',
    'b: batch/jobs create',
  ]);
  expect(creating('canary.queue=ops/main')).toEqual([]);
  expect(creating('canary.queue=ops/main', 'canary.interval=5m')).toEqual(['ops: batch/jobs create']);
  expect(creating('config.submissionQueue=jobs', 'config.submissionNamespaces={*}')).toEqual(['*: batch/jobs create']);
  expect(creating('config.allowManagerIdentity=true')).toEqual(['*: batch/jobs create']);
  expect(creating('localWorker.enabled=true', 'localWorker.users={worker}')).toEqual(['*: batch/jobs create']);
});

test('the worker', () => {
  expect(rightsOf('test-switchyard-worker', renderChart('worker'))).toMatchInlineSnapshot(`
    [
      "*: batch/jobs get,list,watch",
      "*: batch/jobs/status update",
      "*: batch/jobs/finalizers update",
      "*: pods list,watch,create,patch,delete",
      "*: events create,patch",
      "*: coordination.k8s.io/leases list",
      "*: pods/log get",
      "*: configmaps create,patch",
      "*: authentication.k8s.io/tokenreviews create",
      "*: authorization.k8s.io/subjectaccessreviews create",
      "switchyard: coordination.k8s.io/leases create",
      "switchyard: coordination.k8s.io/leases[test-switchyard-worker] get,update",
      "switchyard-system: coordination.k8s.io/leases get,list,watch,create",
      "switchyard-system: coordination.k8s.io/leases[switchyard-worker] update",
    ]
  `);
});

test('the manager on a worker cluster', () => {
  expect(rightsOf('test-switchyard-worker-manager-access', renderChart('worker'))).toMatchInlineSnapshot(`
    [
      "*: namespaces[kube-system] get",
      "*: batch/jobs get,list,watch,create,patch,delete",
      "*: batch/jobs/status patch",
      "*: pods list",
      "*: events list",
      "*: configmaps get",
      "*: nodes list,watch",
      "*: scheduling.k8s.io/priorityclasses list,watch",
      "switchyard-system: coordination.k8s.io/leases get,list,watch,create,update",
      "switchyard: serviceaccounts/token[test-switchyard-worker-manager-access] create",
    ]
  `);
});
