import { describe, expect, test } from 'vitest';
import { JOB_TRACKING_FINALIZER } from '../../../../shared/api/names.ts';
import { createPodTemplate, generateNameOf } from '../../../../worker/job/pod-template.ts';
import { aJob, indexedJob } from './situation.ts';

const INDEX = 'batch.kubernetes.io/job-completion-index';

describe('a pod of a Job', () => {
  test('has the labels of the template, one owner and the tracking finalizer', () => {
    expect(createPodTemplate(aJob())({})).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'ns',
        generateName: 'job-',
        labels: { job: 'job-uid' },
        annotations: {},
        finalizers: [JOB_TRACKING_FINALIZER],
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job-uid', controller: true, blockOwnerDeletion: true }],
      },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] },
    });
  });

  test('of an Indexed Job knows its index by label, annotation, host name and variable', () => {
    const pod = createPodTemplate(indexedJob(3))({ index: 2 });
    expect(pod.metadata.labels).toEqual({ job: 'job-uid', [INDEX]: '2' });
    expect(pod.metadata.annotations).toEqual({ [INDEX]: '2' });
    expect(pod.metadata.generateName).toBe('job-2-');
    expect(pod.spec.hostname).toBe('job-2');
    expect(pod.spec.containers[0]?.env).toEqual([
      { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX}']` } } },
    ]);
  });

  test('keeps a JOB_COMPLETION_INDEX that the user has set, and gives the others theirs', () => {
    const env = [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }];
    const spec = {
      restartPolicy: 'Never',
      initContainers: [{ name: 'init', image: 'i' }],
      containers: [{ name: 'main', image: 'i', env }],
    };
    const pod = createPodTemplate(indexedJob(1, { template: { metadata: { labels: { a: 'b' } }, spec } }))({ index: 0 });
    expect(pod.spec.containers[0]?.env).toEqual(env);
    expect(pod.spec.initContainers?.[0]?.env).toHaveLength(1);
  });

  test('carries the failures of its index, ignored ones only when there are any', () => {
    const podFor = createPodTemplate(indexedJob(1, { backoffLimitPerIndex: 1 }));
    expect(podFor({ index: 0, failures: { counted: 0, ignored: 0 } }).metadata.annotations).toEqual({
      [INDEX]: '0',
      'batch.kubernetes.io/job-index-failure-count': '0',
    });
    expect(podFor({ index: 0, failures: { counted: 1, ignored: 2 } }).metadata.annotations).toEqual({
      [INDEX]: '0',
      'batch.kubernetes.io/job-index-failure-count': '1',
      'batch.kubernetes.io/job-index-ignored-failure-count': '2',
    });
  });

  test('keeps the finalizers and annotations of the template and drops its name', () => {
    const metadata = { name: 'x', labels: { a: 'b' }, annotations: { note: 'n' }, finalizers: ['example.com/f', JOB_TRACKING_FINALIZER] };
    const pod = createPodTemplate(aJob({ template: { metadata, spec: { containers: [] } } }))({});
    expect(pod.metadata.name).toBeUndefined();
    expect(pod.metadata.annotations).toEqual({ note: 'n' });
    expect(pod.metadata.finalizers).toEqual(['example.com/f', JOB_TRACKING_FINALIZER]);
  });
});

describe('the generated name', () => {
  test('of a long Indexed Job keeps the index and is exactly 58 long', () => {
    const name = generateNameOf('a'.repeat(63), 1234);
    expect(name).toBe(`${'a'.repeat(52)}-1234-`);
    expect(name).toHaveLength(58);
  });
  test('of a long NonIndexed Job is left to the server to cut', () => {
    expect(generateNameOf('a'.repeat(63), undefined)).toBe(`${'a'.repeat(63)}-`);
    expect(generateNameOf('a'.repeat(253), undefined)).toBe('a'.repeat(253));
  });
});
