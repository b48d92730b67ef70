import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OVERRIDE_WEBHOOK, UNLABELLED_WEBHOOK } from '../../../manager/policy/webhook-conditions.ts';
import { changesOf } from '../../support/chart-rights.ts';
import { helm, ofKind, renderChart } from '../../support/helm.ts';

const CHART = path.join(import.meta.dirname, '../../../charts/switchyard-manager');
const FOLDER = path.join(CHART, 'files/kinds');
const FILES = new Map(
  readdirSync(FOLDER).map((name) => {
    const { spec } = parse(readFileSync(path.join(FOLDER, name), 'utf8')) as { spec: { kind: string } };
    return [spec.kind, spec];
  }),
);
const kindsOf = (...values: string[]): unknown[] => ofKind(renderChart('manager', ...values), 'WorkKind').map(({ spec }) => spec);

test('the chart describes the kinds that its values name, as their files say, and none by default', () => {
  expect(kindsOf()).toEqual([]);
  expect(kindsOf('kinds={RayJob,JobSet}')).toEqual([FILES.get('JobSet'), FILES.get('RayJob')]);
  expect(kindsOf(`kinds={${[...FILES.keys()].join(',')}}`)).toHaveLength(FILES.size);
  expect(() => kindsOf('kinds={Job}')).toThrow('kinds');
});

test('before the definition of WorkKinds is known no kind is described, and the chart is rendered all the same', () => {
  const text = helm('template', 'test', CHART, '--kube-version', '1.36.0', '--set', 'kinds={JobSet}');
  expect(text).toContain('name: workkinds.switchyard.dev');
  expect(text).not.toMatch(/^kind: WorkKind$/m);
});

const rulesOfWebhook = (kind: string, webhook: string, ...values: string[]): unknown[] =>
  (ofKind(renderChart('manager', ...values), kind)[0] as unknown as { webhooks: { name: string; rules: unknown[] }[] }).webhooks.find(
    ({ name }) => name === webhook,
  )?.rules ?? [];
const webhookRules = (kind: string, ...values: string[]): unknown[] => rulesOfWebhook(kind, 'jobs.switchyard.dev', ...values);
const rule = (group: string, resource: string, ...operations: string[]) => ({
  apiGroups: [group],
  apiVersions: ['*'],
  scope: 'Namespaced',
  resources: [resource],
  operations,
});

test('the webhooks review objects of the kinds that the chart describes, and of those that its user describes, beside Jobs', () => {
  const values = ['kinds={JobSet}', 'ownKinds={crews.example.com}'];
  const [jobs, ...mutating] = webhookRules('MutatingWebhookConfiguration', ...values);
  expect(jobs).toMatchObject({ resources: ['jobs'] });
  expect(mutating).toEqual([rule('jobset.x-k8s.io', 'jobsets', 'CREATE'), rule('example.com', 'crews', 'CREATE')]);
  expect(webhookRules('ValidatingWebhookConfiguration', ...values).slice(2)).toEqual([
    rule('jobset.x-k8s.io', 'jobsets', 'CREATE', 'UPDATE'),
    rule('jobset.x-k8s.io', 'jobsets/status', 'UPDATE'),
    rule('example.com', 'crews', 'CREATE', 'UPDATE'),
    rule('example.com', 'crews/status', 'UPDATE'),
  ]);
  expect(webhookRules('MutatingWebhookConfiguration')).toHaveLength(1);
  expect(() => renderChart('manager', 'ownKinds={crews}')).toThrow('ownKinds');
});

test('so do those for objects without a queue, and for users who pass by the rules', () => {
  const values = ['kinds={JobSet}', 'ownKinds={crews.example.com}', 'webhook.managedNamespaceSelector.matchLabels.batch=yes'];
  const rules = (webhook: string): unknown[] => rulesOfWebhook('MutatingWebhookConfiguration', webhook, ...values);
  expect(rules(UNLABELLED_WEBHOOK.name)).toEqual(webhookRules('MutatingWebhookConfiguration', ...values));
  expect(rules(OVERRIDE_WEBHOOK.name)).toEqual(webhookRules('ValidatingWebhookConfiguration', ...values));
});

test('the worker suspends copies of the kinds of managerAccess.kinds and rbac.kinds, each named once', () => {
  const ofManager = 'managerAccess.kinds={jobsets.jobset.x-k8s.io}';
  expect(
    changesOf('worker', 'test-switchyard-worker', [ofManager, 'rbac.kinds={crews.example.com,jobsets.jobset.x-k8s.io}']),
  ).toMatchInlineSnapshot(`
    [
      "+ *: jobset.x-k8s.io/jobsets get,list,watch,patch",
      "+ *: example.com/crews get,list,watch,patch",
    ]
  `);
});
