import { describe, expect, test } from 'vitest';
import { compactJob, compactProblem, essentialsOf, isCompact, programOf } from '../../../../../manager/work-kind/job/compact-job.ts';
import {
  CLUSTERS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  HOLD_ANNOTATION,
  LAST_FAILURE_ANNOTATION,
  SHORT_OF_ANNOTATION,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  TRACE_ID_ANNOTATION,
} from '../../../../../shared/api/names.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const POD = {
  restartPolicy: 'Never',
  serviceAccountName: 'builder',
  nodeSelector: { disk: 'fast' },
  affinity: { nodeAffinity: {} },
  tolerations: [{ key: 'gpu' }],
  priorityClassName: 'high',
  overhead: { cpu: '1' },
  resources: { requests: { cpu: '2' } },
  resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }],
  containers: [{ name: 'main', image: 'busybox', args: ['x'], resources: { requests: { cpu: '1' }, claims: [{ name: 'gpu' }] } }],
  initContainers: [{ name: 'side', image: 'busybox', restartPolicy: 'Always', resources: { limits: { cpu: '1' } } }],
};
const A_JOB = aHomeJob({
  metadata: {
    finalizers: ['acme.io/keep'],
    deletionTimestamp: '2026-01-02T00:00:00Z',
    labels: { [QUEUE_NAME_LABEL]: 'main', app: 'sum' },
    annotations: {
      [CLUSTERS_ANNOTATION]: 'eu-1',
      [PRIORITY_ANNOTATION]: '-1',
      [HOLD_ANNOTATION]: 'true',
      [SUBMISSION_ANNOTATION]: '7',
      note: 'long',
    },
    managedFields: [{}],
  },
  spec: { parallelism: 3, completionMode: 'Indexed', template: { metadata: { labels: { app: 'sum' } }, spec: POD } },
  status: { active: 0, conditions: [] },
});

describe('a compact Job', () => {
  test('keeps what its last pod ended with, what it is short of, who created it and its trace, which people are told and nothing is decided by', () => {
    const annotations = {
      [LAST_FAILURE_ANNOTATION]: '{"pod":"a"}',
      [SHORT_OF_ANNOTATION]: 'cpu',
      [CREATED_BY_ANNOTATION]: 'ann',
      [TRACE_ID_ANNOTATION]: 'ab',
    };
    expect(compactJob(aHomeJob({ metadata: { annotations } })).metadata.annotations).toEqual(annotations);
    expect(essentialsOf(aHomeJob({ metadata: { annotations } })).metadata.annotations).toBeUndefined();
  });

  test('has its identity, its status, the words that are Switchyard’s, and of its pods what decides where they run', () => {
    const { generation, name, namespace, uid, resourceVersion, creationTimestamp } = A_JOB.metadata;
    const { selector: _selector, template: _template, ...scalars } = A_JOB.spec;
    expect(JSON.parse(JSON.stringify(compactJob(A_JOB)))).toEqual({
      metadata: {
        generation,
        name,
        namespace,
        uid,
        resourceVersion,
        creationTimestamp,
        deletionTimestamp: '2026-01-02T00:00:00Z',
        finalizers: ['acme.io/keep'],
        labels: { [QUEUE_NAME_LABEL]: 'main' },
        annotations: {
          [CLUSTERS_ANNOTATION]: 'eu-1',
          [PRIORITY_ANNOTATION]: '-1',
          [HOLD_ANNOTATION]: 'true',
          [SUBMISSION_ANNOTATION]: '7',
        },
      },
      spec: {
        ...scalars,
        template: {
          spec: {
            nodeSelector: POD.nodeSelector,
            affinity: POD.affinity,
            tolerations: POD.tolerations,
            priorityClassName: 'high',
            overhead: POD.overhead,
            resources: POD.resources,
            resourceClaims: POD.resourceClaims,
            containers: [{ name: 'main', resources: POD.containers[0]?.resources }],
            initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { limits: { cpu: '1' } } }],
          },
        },
      },
      status: A_JOB.status,
    });
  });

  test('has so many labels of its user’s as are asked for, beside ours', () => {
    const job = aHomeJob({ metadata: { labels: { b: '2', [QUEUE_NAME_LABEL]: 'main', c: '3', a: '1' } } });
    expect(compactJob(job, { usersLabelsMax: 2 }).metadata.labels).toEqual({ a: '1', b: '2', [QUEUE_NAME_LABEL]: 'main' });
    expect(compactJob(job, { usersLabelsMax: 9, problem: 'is too large' }).metadata.labels).toEqual(job.metadata.labels);
    expect(compactJob(job).metadata.labels).toEqual({ [QUEUE_NAME_LABEL]: 'main' });
    expect(compactJob(aHomeJob({ metadata: { labels: {} } })).metadata.labels).toBeUndefined();
  });

  test('still tells programs apart, by image and account', () => {
    const withPod = (pod: object) => aHomeJob({ spec: { template: { spec: { ...POD, ...pod } } } });
    const others = [withPod({ serviceAccountName: 'other' }), withPod({ containers: [{ name: 'main', image: 'other' }] })];
    expect(programOf(compactJob(A_JOB))).toBe(programOf(A_JOB));
    expect(programOf({ ...compactJob(A_JOB) })).toBe(programOf(A_JOB));
    expect(new Set([A_JOB, ...others].map((job) => programOf(compactJob(job)))).size).toBe(3);
  });

  test('says that it is compact, also when it is spread into another object', () => {
    const compact = compactJob(A_JOB);
    expect(isCompact(compact)).toBe(true);
    expect(isCompact({ ...compact, status: {} })).toBe(true);
    expect(isCompact(A_JOB)).toBe(false);
    expect([compactProblem(compact), compactProblem(A_JOB)]).toEqual([undefined, undefined]);
  });

  test('that is not taken says why, and keeps what finds its submission', () => {
    const compact = compactJob(A_JOB, { problem: 'job: is too large' });
    expect(compactProblem(compact)).toBe('job: is too large');
    expect(compact.spec.template).toEqual({});
    expect(compact.metadata.annotations).toEqual({ [SUBMISSION_ANNOTATION]: '7' });
    expect(compact.metadata.labels).toEqual({ [QUEUE_NAME_LABEL]: 'main' });
  });

  test('is made of a Job without a pod spec as well', () => {
    expect(essentialsOf(aHomeJob({ spec: { template: {} } })).spec.template).toEqual({});
  });
});
