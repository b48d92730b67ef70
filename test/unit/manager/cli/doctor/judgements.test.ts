import { describe, expect, test } from 'vitest';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { HAS_QUEUE_LABEL } from '../../../../../manager/policy/webhook-conditions.ts';
import {
  judgeClusters,
  judgeDefinitions,
  judgeManager,
  judgeUnlabelled,
  judgeUnseen,
  judgeWebhooks,
  unlabelledIn,
  type Definition,
  type Webhook,
  type WebhookConfiguration,
} from '../../../../../manager/cli/doctor/judgements.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { qualifiedName } from '../../../../../manager/work-kind/qualified-name.ts';
import type { Lease, WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { ofKind, renderChart } from '../../../../support/helm.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';

const meta = (name: string, namespace = 'team') => ({
  name,
  namespace,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const condition = (type: string, status: string, message = 'm', reason = 'R') => ({ type, status, reason, message });

describe('definitions', () => {
  const crd = (name: string, established: string): Definition => ({
    metadata: meta(name),
    status: { conditions: [condition('Established', established)] },
  });
  test.each([
    [[crd('a', 'True'), crd('b', 'True')], 'ok', 'all 2'],
    [[crd('a', 'True')], 'wrong', 'not there: b'],
    [[crd('a', 'True'), crd('b', 'False')], 'wrong', 'not served: b'],
  ])('%#', (found, result, words) => {
    expect(judgeDefinitions(found, ['a', 'b'])).toMatchObject({ result, found: expect.stringContaining(words) });
  });

  test('are not missed on a worker cluster, and are where one of them is there', () => {
    expect(judgeDefinitions([], ['a', 'b'], true)).toMatchObject({ result: 'note', remedy: expect.stringContaining('--context') });
    expect(judgeDefinitions([crd('a', 'True')], ['a', 'b'], true)).toMatchObject({ result: 'wrong' });
  });
});

describe('the manager', () => {
  const NOW = Date.parse('2026-01-01T01:00:00Z');
  const lease = (name: string, holderIdentity: string, renewTime: string): Lease => ({
    metadata: meta(name),
    spec: { holderIdentity, renewTime },
  });
  test.each([
    [[lease('x-switchyard-manager', 'pod-1', '2026-01-01T00:59:55Z')], 'ok', 'pod-1 leads'],
    [[lease('switchyard-manager', 'pod-1', '2026-01-01T00:59:00Z')], 'wrong', 'for 60 s'],
    [[lease('switchyard-manager', '', '2026-01-01T00:59:59Z')], 'wrong', 'any more'],
    [[lease('somebody-else', 'x', '2026-01-01T00:59:59Z')], 'note', 'none has a Lease in namespace switchyard'],
  ])('%#', (leases, result, words) => {
    expect(judgeManager(leases, 'switchyard', NOW)).toMatchObject({ result, found: expect.stringContaining(words) });
  });
});

describe('webhooks', () => {
  const COVERING: Webhook = {
    name: 'jobs.switchyard.dev',
    failurePolicy: 'Fail',
    clientConfig: { caBundle: 'x' },
    rules: [{ apiGroups: ['batch'], resources: ['jobs'], operations: ['CREATE', 'UPDATE'] }],
  };
  const having = (...webhooks: Webhook[]): WebhookConfiguration[] => [{ metadata: meta('w'), webhooks }];
  const leavingOut = (...values: string[]) => ({ matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values }] });
  test.each<[string, WebhookConfiguration[], boolean, string, string]>([
    ['all Jobs', having(COVERING), false, 'ok', 'covers all Jobs'],
    ['none, but a policy', [], true, 'ok', 'the admission policy holds'],
    ['none at all', having({ ...COVERING, name: 'another' }), false, 'wrong', 'no admission policy'],
    ['two installations', having(COVERING, COVERING), false, 'wrong', '2 of them'],
    ['no authority', having({ ...COVERING, clientConfig: {} }), false, 'wrong', 'no caBundle'],
    [
      'other rules',
      having({ ...COVERING, rules: [{ apiGroups: ['apps'], resources: ['deployments'], operations: ['CREATE'] }] }),
      false,
      'wrong',
      'do not cover',
    ],
    ['left out', having({ ...COVERING, namespaceSelector: { matchExpressions: [{}] } }), false, 'note', 'left out'],
    ['ours alone', having({ ...COVERING, objectSelector: HAS_QUEUE_LABEL }), false, 'ok', 'covers all Jobs'],
    [
      'the cluster’s own namespace left out',
      having({ ...COVERING, namespaceSelector: leavingOut('kube-system') }),
      false,
      'ok',
      'but those in kube-system',
    ],
    ['a tenant left out', having({ ...COVERING, namespaceSelector: leavingOut('kube-system', 'team') }), false, 'note', 'left out'],
    ['Jobs left out', having({ ...COVERING, objectSelector: { matchLabels: { a: 'b' } } }), false, 'note', 'left out'],
    ['an empty selector', having({ ...COVERING, namespaceSelector: {} }), false, 'ok', 'covers all Jobs'],
    ['ignored failures', having({ ...COVERING, failurePolicy: 'Ignore' }), false, 'note', 'failurePolicy is Ignore'],
  ])('%s', (_name, configurations, hasPolicy, result, words) => {
    expect(judgeWebhooks('validating', configurations, hasPolicy)).toMatchObject({ result, found: expect.stringContaining(words) });
  });

  test('of the chart as it is installed give no note, and those of one that leaves a tenant out do', () => {
    const judged = (...values: string[]) => {
      const rendered = renderChart('manager', ...values);
      return (['mutating', 'validating'] as const).map((kind) => {
        const configurations = ofKind(rendered, kind === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration');
        const trusted = (configurations as unknown as WebhookConfiguration[]).map(({ metadata, webhooks = [] }) => ({
          metadata,
          webhooks: webhooks.map((webhook) => ({ ...webhook, clientConfig: { caBundle: 'x' } })),
        }));
        return judgeWebhooks(kind, trusted, true).result;
      });
    };
    expect(judged()).toEqual(['ok', 'ok']);
    expect(judged('webhook.excludedNamespaces={kube-system,team}')).toEqual(['note', 'note']);
  });

  test('without a mutating one users write more', () => {
    expect(judgeWebhooks('mutating', [], true)).toMatchObject({ result: 'note', remedy: expect.stringContaining('switchyard submit') });
  });
});

test('Jobs that no webhook has seen are counted', () => {
  const foreign = aHomeJob();
  delete foreign.spec.managedBy;
  expect(judgeUnseen(JOB_KIND, [aHomeJob()])).toMatchObject({ result: 'ok' });
  expect(judgeUnseen(JOB_KIND, [aHomeJob(), foreign])).toMatchObject({
    result: 'wrong',
    found: expect.stringMatching(/^1 with the label .* is not .* team\/sum$/),
  });
});

test('Jobs without a queue that run at home, in namespaces whose Jobs are managed all the same, are told', () => {
  const home = aHomeJob({ metadata: { namespace: 'team', name: 'sum', labels: {} } });
  delete home.spec.managedBy;
  expect(judgeUnlabelled(JOB_KIND, [home, aHomeJob()])).toMatchObject({
    result: 'note',
    found: expect.stringMatching(/^1 in namespaces .* runs on this cluster, such as Job team\/sum$/),
  });
  expect(judgeUnlabelled(JOB_KIND, [{ ...home, status: { conditions: [condition('Complete', 'True', '')] } } as never])).toMatchObject({
    result: 'ok',
  });
  const [configuration] = ofKind(
    renderChart('manager', 'webhook.managedNamespaceSelector.matchLabels.a=b'),
    'MutatingWebhookConfiguration',
  );
  expect(unlabelledIn([configuration as unknown as WebhookConfiguration])).toMatchObject({ matchLabels: { a: 'b' } });
  expect(unlabelledIn(ofKind(renderChart('manager'), 'MutatingWebhookConfiguration') as unknown as WebhookConfiguration[])).toBeUndefined();
});

test('so are objects of described kinds, but not what another object has made, or somebody else runs', () => {
  const kind = createKinds(JOB_KIND, [aCrewKind()]);
  const crew = (managedBy: string): WorkObject => {
    const object = aCrew({ spec: { policy: { suspend: false, managedBy } } });
    return { ...object, metadata: { ...object.metadata, name: qualifiedName('crews.example.com', 'argo'), labels: {} } };
  };
  const child = aHomeJob({ metadata: { labels: {} } });
  delete child.spec.managedBy;
  child.metadata.ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Crew', name: 'argo', uid: 'u', controller: true }];
  expect(judgeUnlabelled(kind, [crew('example.com/elsewhere'), crew('example.com/other'), child])).toMatchObject({ result: 'ok' });
  expect(judgeUnlabelled(kind, [child, crew('example.com/crew-operator')])).toMatchObject({
    result: 'note',
    found: expect.stringMatching(/^1 in namespaces .* runs on this cluster, such as Crew team\/argo$/),
  });
});

describe('clusters', () => {
  const cluster = (spec: object, ...conditions: object[]): WorkerCluster =>
    ({ metadata: meta('east'), spec, status: { conditions, version: 'v1.36.0' } }) as unknown as WorkerCluster;
  const READY = condition('Ready', 'True');
  const NOW = Date.parse('2026-01-01T00:10:00Z');
  const beginning = (reason: string, at: string) => ({
    ...condition('Reachable', 'False', 'no answer yet', reason),
    lastTransitionTime: at,
  });
  test.each<[string, WorkerCluster[], string, string]>([
    ['ready', [cluster({}, READY)], 'ok', 'ready, v1.36.0'],
    ['none', [], 'note', 'there is none'],
    ['unknown', [cluster({})], 'note', 'has said nothing'],
    [
      'unreachable',
      [cluster({}, condition('Reachable', 'False', 'no answer', 'Unreachable'), condition('Ready', 'False'))],
      'wrong',
      'Reachable=False (Unreachable): no answer',
    ],
    ['that a manager has just begun with', [cluster({}, beginning('Connecting', '2026-01-01T00:09:01Z'))], 'note', 'is connecting to it'],
    [
      'that does not answer since a minute',
      [cluster({}, beginning('Connecting', '2026-01-01T00:09:00Z'))],
      'wrong',
      'Reachable=False (Connecting)',
    ],
    ['not ready', [cluster({}, condition('Ready', 'False', 'why'))], 'wrong', 'Ready=False (R): why'],
    ['cordoned', [cluster({ state: 'Cordoned' }, READY)], 'note', 'ready, and Cordoned'],
    [
      'whose worker runs other Jobs',
      [cluster({}, condition('Ready', 'False'), condition('WorkerAlive', 'False', 'runs the Jobs of x', 'OtherController'))],
      'wrong',
      'WorkerAlive=False (OtherController): runs the Jobs of x',
    ],
    ['whose worker is awaited', [cluster({}, READY, condition('WorkerAlive', 'Unknown', 'no worker', 'Connecting'))], 'note', 'no worker'],
    [
      'without a worker',
      [cluster({}, condition('Ready', 'False'), condition('WorkerAlive', 'False', 'no worker', 'NoWorkerLease'))],
      'wrong',
      'WorkerAlive=False (NoWorkerLease): no worker',
    ],
  ])('%s', (_name, clusters, result, words) => {
    expect(judgeClusters(clusters, NOW)).toMatchObject([{ result, found: expect.stringContaining(words) }]);
  });
});
