import { describe, expect, test } from 'vitest';
import { readManifests } from '../../../../../manager/cli/import-kueue/documents.ts';
import { translate } from '../../../../../manager/cli/import-kueue/translate.ts';

const translated = (...objects: object[]) => translate(readManifests('a', objects.map((each) => JSON.stringify(each)).join('\n---\n')));
const kueue = (kind: string, fields: object, version = 'v1beta2') => ({
  apiVersion: `kueue.x-k8s.io/${version}`,
  kind,
  metadata: { name: 'x' },
  ...fields,
});
const lost = (...objects: object[]): string[] =>
  translated(...objects).findings.flatMap(({ kind, field }) => (kind === 'Lost' && field !== undefined ? [field] : []));

test('a ClusterQueue that is read along with a configuration has what that says of all queues', () => {
  const configuration = {
    apiVersion: 'config.kueue.x-k8s.io/v1beta1',
    kind: 'Configuration',
    waitForPodsReady: { enable: true, timeout: '5m', recoveryTimeout: '3m' },
    resources: { quotaCheckStrategy: 'IgnoreUndeclared' },
  };
  const { objects, findings } = translated(kueue('ClusterQueue', { spec: { namespaceSelector: {} } }), configuration);
  const spec = { namespaceSelector: {}, startTimeout: '5m', recoveryTimeout: '3m', quotaCheckStrategy: 'IgnoreUndeclared' };
  expect(objects).toMatchObject([{ kind: 'ClusterQueue', spec }]);
  expect(findings.map(({ kind, object }) => `${kind} ${object}`)).toEqual(Array(3).fill('Note Configuration'));
});

describe('an object of a kind that Switchyard has', () => {
  test('is the same under our group', () => {
    const spec = { cohortName: 'all', namespaceSelector: {}, queueingStrategy: 'StrictFIFO', stopPolicy: 'Hold' };
    expect(translated(kueue('ClusterQueue', { spec }))).toEqual({
      objects: [{ apiVersion: 'switchyard.dev/v1alpha1', kind: 'ClusterQueue', metadata: { name: 'x' }, spec }],
      findings: [],
    });
    expect(translated(kueue('WorkloadPriorityClass', { value: 5, description: 'soon' })).objects).toEqual([
      { apiVersion: 'switchyard.dev/v1alpha1', kind: 'WorkloadPriorityClass', metadata: { name: 'x' }, value: 5, description: 'soon' },
    ]);
  });

  test('keeps its own names and notes, and nothing that a server wrote', () => {
    const metadata = {
      name: 'x',
      namespace: 'team',
      uid: '1',
      resourceVersion: '2',
      finalizers: ['kueue.x-k8s.io/resource-in-use'],
      labels: { team: 'a', 'kueue.x-k8s.io/managed': 'yes' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    };
    const local = {
      apiVersion: 'kueue.x-k8s.io/v1beta2',
      kind: 'LocalQueue',
      metadata,
      spec: { clusterQueue: 'q' },
      status: { pendingWorkloads: 1 },
    };
    const { objects, findings } = translated(local);
    expect(objects).toEqual([
      {
        apiVersion: 'switchyard.dev/v1alpha1',
        kind: 'LocalQueue',
        metadata: { name: 'x', namespace: 'team', labels: { team: 'a' } },
        spec: { clusterQueue: 'q' },
      },
    ]);
    expect(findings).toEqual([
      { kind: 'Lost', object: 'LocalQueue team/x', field: 'metadata.labels[kueue.x-k8s.io/managed]', says: 'means nothing to Switchyard' },
    ]);
  });

  test('of v1beta1 is told of by its own words', () => {
    const spec = { cohort: 'all', namespaceSelector: {}, admissionChecks: ['check'] };
    const { objects } = translated(kueue('ClusterQueue', { spec }, 'v1beta1'));
    expect(objects).toMatchObject([{ spec: { cohortName: 'all', admissionChecksStrategy: { admissionChecks: [{ name: 'check' }] } } }]);
    expect(lost(kueue('ClusterQueue', { spec }, 'v1beta1'))).toEqual([]);
  });

  test('keeps its checks, but for those that only dispatch, when these are read along', () => {
    const queue = kueue('ClusterQueue', { spec: { admissionChecksStrategy: { admissionChecks: [{ name: 'x' }] } } });
    const check = kueue('AdmissionCheck', { spec: { controllerName: 'kueue.x-k8s.io/multikueue' } });
    const strategies = (...manifests: Parameters<typeof translated>): unknown =>
      translated(...manifests).objects.map((object) => ('spec' in object ? object.spec : undefined));
    expect(strategies(queue)).toEqual([{ admissionChecksStrategy: { admissionChecks: [{ name: 'x' }] } }]);
    expect(translated(queue).findings.map(({ kind, field }) => [kind, field])).toContainEqual(['Note', 'spec.admissionChecksStrategy']);
    expect(strategies(queue, check)).toEqual([{}]);
  });

  test('is told of where it says what we have no word for', () => {
    const odd = kueue('ClusterQueue', { spec: { stopPolicy: 'Later', unheardOf: 1, namespaceSelector: {} } });
    expect(translated(odd).findings.map(({ field, says }) => `${field}: ${says}`)).toEqual([
      'spec.stopPolicy: Switchyard has no "Later" here',
      'spec.unheardOf: Switchyard has no such field',
    ]);
  });

  test('admits Jobs of no namespace where it chooses none, which is told', () => {
    expect(translated(kueue('ClusterQueue', { spec: {} })).findings).toMatchObject([{ kind: 'Note', field: 'spec.namespaceSelector' }]);
  });
});

describe('what our API server would refuse is refused by its place:', () => {
  const quota = (nominalQuota: unknown) => ({
    resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'a', resources: [{ name: 'cpu', nominalQuota }] }] }],
  });
  test.each<[string, object, string]>([
    ['no spec', kueue('ClusterQueue', {}), 'a, document 1: ClusterQueue x: spec is missing; write it'],
    ['no queue', kueue('LocalQueue', { spec: {} }), 'LocalQueue x: spec must have required properties clusterQueue'],
    [
      'no quantity',
      kueue('ClusterQueue', { spec: quota('much') }),
      'spec.resourceGroups[0].flavors[0].resources[0].nominalQuota must match pattern',
    ],
    ['no number', kueue('WorkloadPriorityClass', { value: 'high' }), 'WorkloadPriorityClass x: value must be integer'],
    [
      'no version that is known',
      kueue('Cohort', { spec: {} }, 'v1alpha1'),
      'kueue.x-k8s.io/v1alpha1 of Cohort x is not read; convert it to',
    ],
  ])('%s', (_what, object, message) => {
    expect(() => translated(object)).toThrow(message);
  });
});

test('objects of other kinds are told of, and no objects come of them', () => {
  const { objects, findings } = translated(kueue('Topology', {}), { ...kueue('ClusterQueue', {}), apiVersion: 'e.com/v1' });
  expect(objects).toEqual([]);
  expect(findings.map(({ kind, object }) => `${kind} ${object}`)).toEqual(['Lost Topology x', 'Skipped ClusterQueue x']);
});
