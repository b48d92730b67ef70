import { expect, test } from 'vitest';
import { compactJob } from '../../../../manager/work-kind/job/compact-job.ts';
import { isOfShape, shapeOf } from '../../../../manager/api/job-shape.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { aHomeJob, type JobParts } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { requestsOf } from '../../../../manager/work-kind/pod-sets.ts';

const shape = (job: Job): string => shapeOf(job.metadata.namespace, requestsOf(JOB_KIND.podSets(job)).requests, JOB_KIND.programOf(job));
const withPod = (pod: object, parts: JobParts = {}): Job =>
  aHomeJob({
    ...parts,
    spec: { ...parts.spec, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }], ...pod } } },
  });
const usual = withPod({});

test('Jobs that differ in name, arguments or how often they run have one shape, whatever is kept of them', () => {
  const other = withPod(
    { containers: [{ name: 'main', image: 'busybox', command: ['x'], args: ['x'], env: [{ name: 'X' }] }] },
    { metadata: { name: 'other', uid: 'other' }, spec: { completions: 7, backoffLimit: 0 } },
  );
  expect(new Set([usual, other, compactJob(usual), compactJob(other)].map(shape)).size).toBe(1);
});

test.each<[string, Job]>([
  ['namespace', withPod({}, { metadata: { namespace: 'other' } })],
  ['number of pods', withPod({}, { spec: { parallelism: 3, completions: 3 } })],
  ['requests', withPod({ containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }] })],
  ['image', withPod({ containers: [{ name: 'main', image: 'busybos' }] })],
  ['node selector', withPod({ nodeSelector: { disk: 'fast' } })],
  ['tolerations', withPod({ tolerations: [{ key: 'gpu' }] })],
  ['affinity', withPod({ affinity: { nodeAffinity: {} } })],
  ['priority class', withPod({ priorityClassName: 'high' })],
  ['security context', withPod({ securityContext: { runAsUser: 0 } })],
  ['service account', withPod({ serviceAccountName: 'builder' })],
])('another %s is another shape', (_what, job) => {
  expect(shape(job)).not.toBe(shape(usual));
  expect(shape(compactJob(job))).toBe(shape(job));
});

test('what is said of a name, or of fields that pods do not have, is said of one Job alone', () => {
  expect(['Refused', 'NamespaceMissing', 'NotStarted'].every(isOfShape)).toBe(true);
  expect(['NameTaken', 'FieldsUnknown', 'FieldsDropped'].some(isOfShape)).toBe(false);
});
