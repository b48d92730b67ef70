/** Goal: the manager chart has the certificate of the webhook made by an account of its own, by cert-manager, or by the operator. */
import { expect, test } from 'vitest';
import { certificatesConfig } from '../../support/chart-config.ts';
import { ofKind, renderChart, type Rendered } from '../../support/helm.ts';

type Hook = { webhooks: { clientConfig: { caBundle?: string } }[] };
const bundles = (objects: readonly Rendered[]): (string | undefined)[] =>
  ([...ofKind(objects, 'MutatingWebhookConfiguration'), ...ofKind(objects, 'ValidatingWebhookConfiguration')] as unknown as Hook[]).map(
    ({ webhooks }) => webhooks[0]?.clientConfig.caBundle,
  );
type Rule = { resources: string[]; resourceNames?: string[]; verbs: string[] };
const certificateRules = (objects: readonly Rendered[]): Rule[] =>
  [...ofKind(objects, 'ClusterRole'), ...ofKind(objects, 'Role')]
    .filter(({ metadata }) => /-certificates(-reader)?$/.test(metadata.name))
    .flatMap((role) => role['rules'] as Rule[]);

test('two renderings are the same text: an account of its own makes the webhook’s certificate, with rights to one Secret and two configurations, which the managers read', () => {
  const [one, other] = [renderChart('manager'), renderChart('manager')];
  expect(one).toEqual(other);
  expect([ofKind(one, 'Secret'), bundles(one)]).toEqual([[], [undefined, undefined]]);
  expect(
    certificateRules(one).map(({ resources, resourceNames, verbs }) => [resources.join(), resourceNames?.join(), verbs.join()]),
  ).toEqual([
    ['mutatingwebhookconfigurations,validatingwebhookconfigurations', 'test-switchyard-manager', 'list,watch,patch'],
    ['mutatingwebhookconfigurations,validatingwebhookconfigurations', 'test-switchyard-manager', 'list,watch'],
    ['secrets', undefined, 'create'],
    ['secrets', 'test-switchyard-manager-webhook-tls', 'list,watch,patch'],
    ['secrets', 'test-switchyard-manager-webhook-tls', 'list,watch'],
  ]);
  expect(certificatesConfig()).toEqual({
    kubeconfig: undefined,
    certificateSecret: {
      secret: { namespace: 'switchyard', name: 'test-switchyard-manager-webhook-tls' },
      configuration: 'test-switchyard-manager',
    },
    names: ['test-switchyard-manager.switchyard.svc', 'test-switchyard-manager.switchyard'],
    healthAddress: '0.0.0.0:8080',
    logLevel: 'info',
  });
});

test('the account that makes it is another than the managers’, whoever creates it', () => {
  const named = renderChart('manager', 'webhook.tls.serviceAccountName=mine');
  expect(ofKind(named, 'ServiceAccount').map(({ metadata }) => metadata.name)).toEqual(['test-switchyard-manager']);
  const [, deployment] = ofKind(named, 'Deployment');
  expect(deployment).toMatchObject({ spec: { template: { spec: { serviceAccountName: 'mine' } } } });
  for (const values of [
    ['webhook.tls.serviceAccountName=test-switchyard-manager'],
    ['webhook.tls.serviceAccountName=mine', 'serviceAccount.create=false', 'serviceAccount.name=mine'],
  ])
    expect(() => renderChart('manager', ...values)).toThrow(/the account of the managers: name another/);
});

test('of a Secret of somebody’s own the CA must be known, or nothing is rendered', () => {
  expect(() => renderChart('manager', 'webhook.tls.existingSecret=mine')).toThrow(/webhook.tls.existingSecret needs webhook.tls.caBundle/);
  const objects = renderChart('manager', 'webhook.tls.existingSecret=mine', 'webhook.tls.caBundle=Y2E=');
  expect([bundles(objects), certificateRules(objects)]).toEqual([['Y2E=', 'Y2E='], []]);
});

test('with cert-manager there is no secret in the release, and the CA is injected', () => {
  const objects = renderChart('manager', 'webhook.tls.certManager.enabled=true');
  expect([ofKind(objects, 'Secret'), certificateRules(objects), bundles(objects)]).toEqual([[], [], [undefined, undefined]]);
  expect(ofKind(objects, 'Certificate')).toHaveLength(1);
  expect(ofKind(objects, 'MutatingWebhookConfiguration')[0]?.metadata).toMatchObject({
    annotations: { 'cert-manager.io/inject-ca-from': 'switchyard/test-switchyard-manager-webhook' },
  });
});

test('no values let the managers write a webhook configuration, or create a Secret of another name than the record key', () => {
  type Binding = { readonly subjects: readonly { readonly name: string }[]; readonly roleRef: { readonly name: string } };
  for (const values of [
    [],
    ['webhook.tls.certManager.enabled=true'],
    ['webhook.tls.existingSecret=mine', 'webhook.tls.caBundle=Y2E='],
    ['localWorker.enabled=true', 'localWorker.users={worker}', 'dashboard.enabled=true', 'dashboard.liveLogs=true', 'api.enabled=true'],
    ['config.allowManagerIdentity=true', 'config.submissionQueue=jobs', 'config.submissionNamespaces={*}', 'carry.namespaces={a}'],
  ]) {
    const objects = renderChart('manager', ...values);
    const bindings = [...ofKind(objects, 'ClusterRoleBinding'), ...ofKind(objects, 'RoleBinding')] as unknown as Binding[];
    const roles = bindings.flatMap(({ subjects, roleRef }) =>
      subjects.some(({ name }) => name === 'test-switchyard-manager') ? [roleRef.name] : [],
    );
    const rules = [...ofKind(objects, 'ClusterRole'), ...ofKind(objects, 'Role')]
      .filter(({ metadata }) => roles.includes(metadata.name))
      .flatMap((role) => role['rules'] as Rule[]);
    expect(rules.length).toBeGreaterThan(10);
    for (const { resources = [], resourceNames, verbs } of rules) {
      if (resources.some((each) => each.endsWith('webhookconfigurations'))) expect(verbs).toEqual(['list', 'watch']);
      if (resources.includes('secrets') && verbs.includes('create')) expect(resourceNames).toEqual(['test-switchyard-manager-record-key']);
    }
  }
});
