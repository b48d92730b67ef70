import { expect, test } from 'vitest';
import type { Manifest } from '../../../../../manager/cli/import-kueue/documents.ts';
import { isDispatchCheck, skipped } from '../../../../../manager/cli/import-kueue/other-kinds.ts';

const manifest = (kind: string, fields: object = {}, apiVersion = 'kueue.x-k8s.io/v1beta2'): Manifest => ({
  apiVersion,
  kind,
  name: 'a',
  fields: { ...fields },
  place: 'x',
});
const said = (...given: Parameters<typeof manifest>) => {
  const { kind, says } = skipped(manifest(...given), 'it');
  return `${kind}: ${says}`;
};

test.each<[string, object, string]>([
  ['MultiKueueCluster', { spec: { kubeConfig: { location: 'west', locationType: 'Secret' } } }, 'names the Secret west'],
  ['MultiKueueCluster', { spec: { clusterSource: { kubeConfig: { location: 'west' } } } }, 'names the Secret west'],
  ['MultiKueueCluster', { spec: { clusterSource: { kubeConfig: { location: '/a', locationType: 'Path' } } } }, 'names a Secret,'],
  ['MultiKueueCluster', {}, 'make a WorkerCluster a whose'],
  ['MultiKueueConfig', { spec: { clusters: ['west', 'east'] } }, 'to keep Jobs to west, east, label'],
  ['AdmissionCheck', { spec: { controllerName: 'kueue.x-k8s.io/multikueue' } }, 'Note: is not needed'],
  [
    'AdmissionCheck',
    { spec: { controllerName: 'example.com/check' } },
    'Lost: its controller tells Workloads; here one has to tell Jobs (docs/admission-checks.md)',
  ],
  ['Workload', {}, 'Skipped: Switchyard has no Workloads'],
  ['Topology', {}, 'Lost: the pods of a Job are not placed near one another'],
  ['ProvisioningRequestConfig', {}, 'Lost: no capacity is provisioned'],
  ['SomethingNew', {}, 'Lost: Switchyard has nothing like it'],
])('of Kueue’s %s %j it is said that: %s', (kind, fields, words) => {
  expect(said(kind, fields)).toContain(words);
});

test('a Job of Kueue’s keeps all but its queue label, and anything else is nobody’s', () => {
  expect(said('Job', { metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'q' } } }, 'batch/v1')).toBe(
    'Skipped: it stays as it is, but for its queue: write the label switchyard.dev/queue-name: q in place of kueue.x-k8s.io/queue-name',
  );
  expect(said('ConfigMap', {}, 'v1')).toBe('Skipped: v1 is not Kueue’s');
});

test('a check that only dispatches is told from others', () => {
  const controlled = (controllerName: string) => ({ spec: { controllerName } });
  expect(isDispatchCheck(manifest('AdmissionCheck', controlled('kueue.x-k8s.io/multikueue')))).toBe(true);
  expect(isDispatchCheck(manifest('AdmissionCheck', controlled('kueue.x-k8s.io/provisioning-request')))).toBe(false);
  expect(isDispatchCheck(manifest('AdmissionCheck'))).toBe(false);
  expect(isDispatchCheck(manifest('Topology', controlled('kueue.x-k8s.io/multikueue')))).toBe(false);
  expect(isDispatchCheck(manifest('AdmissionCheck', controlled('kueue.x-k8s.io/multikueue'), 'e.com/v1'))).toBe(false);
});
