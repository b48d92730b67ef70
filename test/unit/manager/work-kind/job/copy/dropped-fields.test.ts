import { describe, expect, test } from 'vitest';
import { droppedFields, droppedOfOlder } from '../../../../../../manager/work-kind/job/copy/dropped-fields.ts';
import type { JobSpec } from '../../../../../../shared/api/kubernetes.ts';

const pod = (more: object = {}) => ({
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'busybox', env: [{ name: 'A', value: '1' }] }],
  ...more,
});
const sent = (more: object = {}, podMore: object = {}): JobSpec =>
  ({
    suspend: false,
    completions: 3,
    parallelism: 1,
    managedBy: 'switchyard.dev/worker',
    template: { spec: pod(podMore) },
    ...more,
  }) as JobSpec;
const answered = (more: object = {}, podMore: object = {}): object => ({
  ...sent(),
  completionMode: 'NonIndexed',
  selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'x' } },
  template: {
    metadata: { labels: { 'job-name': 'sum' } },
    spec: { dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler', ...pod(podMore) },
  },
  ...more,
});

describe('of a Job that was made', () => {
  test('nothing is missing where the server has added its defaults', () => {
    expect(droppedFields(sent(), answered())).toEqual([]);
  });

  test.each([
    ['spec.managedBy', {}, { managedBy: undefined }],
    ['spec.successPolicy', { successPolicy: { rules: [{ succeededCount: 1 }] } }, {}],
    ['spec.podReplacementPolicy', { podReplacementPolicy: 'Failed' }, {}],
    ['spec.backoffLimitPerIndex', { backoffLimitPerIndex: 1 }, { backoffLimitPerIndex: null }],
  ])('%s that was left out is', (path, asked, kept) => {
    expect(droppedFields(sent(asked), answered(kept))).toEqual([path]);
  });

  test('a field of its own that was changed is, and so is one within it', () => {
    expect(droppedFields(sent(), answered({ managedBy: 'kubernetes.io/job-controller' }))).toEqual(['spec.managedBy']);
    const rules = (action: string, more: object = {}) => ({
      podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values: [1] }, ...more }] },
    });
    expect(droppedFields(sent(rules('FailIndex')), answered(rules('FailJob')))).toEqual(['spec.podFailurePolicy']);
    expect(droppedFields(sent(rules('FailJob')), answered(rules('FailJob', { onPodConditions: [] })))).toEqual([]);
    expect(droppedFields(sent(rules('FailJob')), answered({ podFailurePolicy: { rules: [] } }))).toEqual(['spec.podFailurePolicy']);
  });

  test('what is carried to it later anyway may differ, and must be there', () => {
    expect(droppedFields(sent(), answered({ parallelism: 2, suspend: true }))).toEqual([]);
    expect(droppedFields(sent({ maxFailedIndexes: 1 }), answered())).toEqual(['spec.maxFailedIndexes']);
    const replaced = answered({ podReplacementPolicy: 'TerminatingOrFailed' });
    expect(droppedFields(sent({ podReplacementPolicy: 'Failed' }), replaced)).toEqual(['spec.podReplacementPolicy']);
  });

  test('of its pods only what is missing is, whatever a webhook of the cluster puts in its place or beside it', () => {
    const mirrored = {
      containers: [
        { name: 'proxy', image: 'p' },
        { ...pod().containers[0], image: 'mirror.example/busybox' },
      ],
    };
    expect(droppedFields(sent(), answered({}, mirrored))).toEqual([]);
    expect(droppedFields(sent(), answered({}, { containers: [{ name: 'main', image: 'busybox' }] }))).toEqual([
      'spec.template.spec.containers[0].env',
    ]);
    expect(droppedFields(sent(), answered({}, { containers: [{ name: 'other', image: 'busybox' }] }))).toEqual([
      'spec.template.spec.containers[0]',
    ]);
    expect(droppedFields(sent({}, { hostUsers: true }), answered())).toEqual(['spec.template.spec.hostUsers']);
    const tolerations = [{ key: 'a', operator: 'Exists' }];
    expect(droppedFields(sent({}, { tolerations }), answered({}, { tolerations: [{ key: 'b' }, ...tolerations] }))).toEqual([]);
    expect(droppedFields(sent({}, { tolerations }), answered({}, { tolerations: [] }))).toEqual(['spec.template.spec.tolerations']);
  });

  test('what says nothing is not missed', () => {
    const empty = { nodeSelector: {}, imagePullSecrets: [], hostNetwork: false, priority: 0, affinity: { nodeAffinity: {} }, hostname: '' };
    expect(droppedFields(sent({ manualSelector: false }, empty), answered())).toEqual([]);
  });

  test('all is, where the answer has no spec, and ten fields are named', () => {
    expect(droppedFields(sent(), undefined)).toEqual(['spec.completions', 'spec.parallelism', 'spec.managedBy', 'spec.template']);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 1]));
    expect(droppedFields(sent(many), answered())).toHaveLength(10);
  });
});

test('of a Job that may have been changed since, only what never changes is missed', () => {
  const asked = sent({ successPolicy: { rules: [{ succeededCount: 1 }] } }, { nodeSelector: { a: 'b' } });
  expect(droppedOfOlder(asked, answered({ parallelism: undefined }))).toEqual(['spec.successPolicy']);
});
