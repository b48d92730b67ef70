import { expect, test } from 'vitest';
import { setupObjectsIn } from '../../../../../manager/cli/replay/setup-files.ts';

const own = (kind: string, rest: string): string => `apiVersion: switchyard.dev/v1alpha1\nkind: ${kind}\n${rest}`;
const queue = own(
  'ClusterQueue',
  `metadata: {name: main, annotations: {a: b}}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 8}]}]}]
`,
);

test('objects come without what no decision depends on', () => {
  const text = [
    queue,
    own('LocalQueue', 'metadata: {name: main, namespace: team}\nspec: {clusterQueue: main}\n'),
    own('WorkerCluster', 'metadata: {name: us, labels: {region: us}}\nspec: {local: true, capacity: {cpu: 4}}\n'),
    'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 100\n',
  ].join('---\n');
  expect(setupObjectsIn('queues.yaml', text)).toMatchObject([
    { kind: 'ClusterQueue', metadata: { name: 'main' }, spec: { resourceGroups: [{}] } },
    { kind: 'LocalQueue', metadata: { name: 'main', namespace: 'team' } },
    { kind: 'WorkerCluster', metadata: { name: 'us', labels: { region: 'us' } }, status: { conditions: [{ type: 'Ready' }] } },
    { kind: 'PriorityClass', value: 100 },
  ]);
  expect(JSON.stringify(setupObjectsIn('queues.yaml', queue))).not.toContain('annotations');
});

test('rules over several fields are those of the definitions', () => {
  const contradicts = queue.replace('  resourceGroups', '  preemption: {borrowWithinCohort: {policy: LowerPriority}}\n  resourceGroups');
  expect(() => setupObjectsIn('queues.yaml', contradicts)).toThrow(
    /document 1: ClusterQueue main is invalid: spec\.preemption: .*borrowWithinCohort is a part of reclaimWithinCohort, which is Never/,
  );
  const negative = queue.replace('nominalQuota: 8', 'nominalQuota: -1');
  expect(() => setupObjectsIn('queues.yaml', negative)).toThrow(/nominalQuota must not be negative; write 0 or more/);
});

test('what is not said is as an API server would store it', () => {
  expect(setupObjectsIn('queues.yaml', queue.replace('  resourceGroups', '  preemption: {}\n  resourceGroups'))).toMatchObject([
    { spec: { preemption: { withinClusterQueue: 'Never', reclaimWithinCohort: 'Never' } } },
  ]);
});

test.each([
  [queue.replace('namespaceSelector', 'namespaceSelektor'), /document 1: ClusterQueue main: spec\.namespaceSelektor is no field of it/],
  [queue.replace('nominalQuota: 8', 'nominalQuota: []'), /ClusterQueue main: spec/],
  [own('LocalQueue', 'metadata: {name: main}\nspec: {clusterQueue: main}\n'), /metadata\.namespace is missing/],
  [own('Job', 'metadata: {name: a}\n'), /is no part of the setup here/],
  [queue.replace('switchyard.dev/v1alpha1', 'kueue.x-k8s.io/v1beta2'), /translate it with switchyard import kueue/],
])('what an API server would not take, or drop, is refused', (text, problem) => {
  expect(() => setupObjectsIn('queues.yaml', text)).toThrow(problem);
});

test('of flavors nothing else is taken', () => {
  expect(() => setupObjectsIn('flavors.yaml', queue, ['ResourceFlavor'])).toThrow(/there may be ResourceFlavor/);
});
