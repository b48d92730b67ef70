/** The webhook for Jobs without a queue label: only in namespaces that an administrator chooses. */
import { expect, test } from 'vitest';
import {
  ofInstallation,
  OVERRIDE_WEBHOOK,
  RESOURCE_RULES,
  UNLABELLED_CONDITIONS,
  UNLABELLED_WEBHOOK,
} from '../../../manager/policy/webhook-conditions.ts';
import type { Identities } from '../../../manager/policy/writer.ts';
import { ofKind, renderChart } from '../../support/helm.ts';

const identities: Identities = { managers: ['system:serviceaccount:switchyard:test-switchyard-manager', 'hub'], localWorkers: ['worker'] };
const USERS = ['localWorker.enabled=true', 'localWorker.users={worker}', 'config.otherManagers={hub}'];

test('Jobs without a queue pass to the manager in the chosen namespaces alone, and in none unless some are chosen', () => {
  type Hook = { name: string; clientConfig: { service: { path: string } } };
  const hooks = (...sets: string[]): Hook[] =>
    (ofKind(renderChart('manager', ...USERS, ...sets), 'MutatingWebhookConfiguration') as unknown as { webhooks: Hook[] }[]).flatMap(
      ({ webhooks }) => webhooks,
    );
  expect(hooks().map(({ name }) => name)).toEqual(['jobs.switchyard.dev', OVERRIDE_WEBHOOK.name]);
  const chosen = hooks('webhook.managedNamespaceSelector.matchLabels.batch=yes', 'config.deniedNamespaces={kube-*,vault,istio-*}');
  expect(chosen.map(({ name }) => name)).toEqual(['jobs.switchyard.dev', UNLABELLED_WEBHOOK.name, OVERRIDE_WEBHOOK.name]);
  expect(chosen[1]).toMatchObject({
    ...UNLABELLED_WEBHOOK,
    clientConfig: { service: { path: '/mutate-unlabelled' } },
    failurePolicy: 'Fail',
    rules: RESOURCE_RULES.Mutating,
    namespaceSelector: {
      matchLabels: { batch: 'yes' },
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['switchyard', 'kube-system', 'vault'] }],
    },
    matchConditions: ofInstallation(UNLABELLED_CONDITIONS, identities),
  });
  const [, byName] = hooks(
    'webhook.managedNamespaceSelector.matchExpressions[0].key=team',
    'webhook.managedNamespaceSelector.matchExpressions[0].operator=Exists',
  );
  expect(byName).toMatchObject({ namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }, { operator: 'NotIn' }] } });
});
