import { describe, expect, test } from 'vitest';
import {
  BORN_SUSPENDED,
  COPY_FOLLOWS_ITS_ORIGINAL,
  QUEUE_IS_NOT_REMOVED,
  MANAGER_WRITES_STATUS,
} from '../../../../manager/policy/conditional-rules.ts';
import { judgeWrite } from '../../../../manager/policy/judge-write.ts';
import type { JobWrite } from '../../../../manager/policy/job-write.ts';
import { JOB_WORDS } from '../../../../manager/policy/write-rule.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  CREATED_BY_ANNOTATION,
  ENDED_PODS_ANNOTATION,
  COPIES_FINALIZER,
  KUEUE_QUEUE_NAME_LABEL,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../../../shared/api/names.ts';
import { aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const fields = (oldJob: Job | undefined, job: Job, write: Partial<JobWrite> = {}): string[] =>
  judgeWrite(JOB_KIND, { subresource: '', job, oldJob, writer: 'User', username: 'ann', ...write }).map(({ field }) => field);
const withLabels = (job: Job, labels: Record<string, string>): Job => ({ ...job, metadata: { ...job.metadata, labels } });
const QUEUE = `metadata.labels[${QUEUE_NAME_LABEL}]`;

const aCopy = (spec: Partial<Job['spec']> = {}): Job =>
  withLabels(aHomeJob({ spec: { managedBy: WORKER_CONTROLLER_NAME, suspend: false, ...spec } }), { [ORIGIN_LABEL]: 'home' });
const plain = (): Job => {
  const job = withLabels(aHomeJob(), {});
  delete job.spec.managedBy;
  return job;
};

describe('a person', () => {
  test('may suspend an admitted Job, let it shrink, and change labels and annotations of his own', () => {
    expect(fields(anAdmittedJob(), anAdmittedJob({ spec: { suspend: true } }))).toEqual([]);
    const wide = anAdmittedJob({ spec: { parallelism: 3, completions: 9 } });
    expect(fields(wide, { ...wide, spec: { ...wide.spec, parallelism: 1 } })).toEqual([]);
    expect(fields({ ...wide, spec: { ...wide.spec, parallelism: 1 } }, wide)).toEqual(['spec.parallelism']);
    expect(fields(aHomeJob(), withLabels(aHomeJob(), { [QUEUE_NAME_LABEL]: 'main', team: 'a' }))).toEqual([]);
  });

  test('is noted as who created a Job, himself alone and for good', () => {
    const by = (name: string): Job => aHomeJob({ metadata: { annotations: { [CREATED_BY_ANNOTATION]: name } } });
    const field = `metadata.annotations[${CREATED_BY_ANNOTATION}]`;
    expect(fields(undefined, by('ann'))).toEqual([]);
    expect(fields(undefined, by('bob'))).toEqual([field]);
    expect(fields(by('ann'), by('bob'))).toEqual([field]);
    expect(fields(by('bob'), by('ann'))).toEqual([field]);
    expect(fields(by('bob'), aHomeJob())).toEqual([field]);
    expect(fields(aHomeJob(), by('ann'))).toEqual([field]);
    expect(fields(by('bob'), by('bob'))).toEqual([]);
  });

  test('may do anything to a Job of which nothing is Switchyard’s', () => {
    expect(fields(undefined, plain())).toEqual([]);
    expect(fields(plain(), plain(), { subresource: 'status' })).toEqual([]);
    const running = plain();
    running.spec.suspend = false;
    expect(fields(plain(), running)).toEqual([]);
  });
});

describe('a Job of a submission, made as the ServiceAccount of a tenant', () => {
  const ofSubmission = (annotations: Record<string, string>, spec: Partial<Job['spec']> = {}): Job => ({
    ...aHomeJob({ spec }),
    metadata: { ...aHomeJob().metadata, annotations },
  });
  const ITS_OWN = {
    [SUBMISSION_ANNOTATION]: '7',
    [SUBMITTED_AT_ANNOTATION]: '1000',
    [SUBMISSION_TENANT_ANNOTATION]: 'uid',
    [SUBMISSION_SEAL_ANNOTATION]: 'seal',
  };

  test('says of which submission it is, which a person’s may not', () => {
    expect(fields(undefined, ofSubmission(ITS_OWN), { writer: 'Submission' })).toEqual([]);
    expect(fields(undefined, ofSubmission(ITS_OWN))).toEqual(Object.keys(ITS_OWN).map((name) => `metadata.annotations[${name}]`));
  });

  test('may nothing more: no record, no release, and nothing at all later', () => {
    expect(fields(undefined, ofSubmission({ [ADMISSION_ANNOTATION]: '{}' }), { writer: 'Submission' })).toEqual([
      `metadata.annotations[${ADMISSION_ANNOTATION}]`,
    ]);
    expect(fields(undefined, ofSubmission(ITS_OWN, { suspend: false }), { writer: 'Submission' })).toEqual(['spec.suspend']);
    expect(fields(ofSubmission(ITS_OWN), ofSubmission({ ...ITS_OWN, [SUBMISSION_ANNOTATION]: '8' }), { writer: 'Submission' })).toEqual([
      `metadata.annotations[${SUBMISSION_ANNOTATION}]`,
    ]);
  });
});

describe('a Job that names the manager', () => {
  test('is born with a queue', () => {
    expect(fields(undefined, withLabels(aHomeJob(), {}))).toEqual([QUEUE]);
    expect(fields(undefined, withLabels(aHomeJob(), { [QUEUE_NAME_LABEL]: '' }))).toEqual([QUEUE]);
    expect(fields(undefined, withLabels(aHomeJob(), { [QUEUE_NAME_LABEL]: '', [KUEUE_QUEUE_NAME_LABEL]: 'main' }))).toEqual([QUEUE]);
    expect(fields(undefined, withLabels(aHomeJob(), { [KUEUE_QUEUE_NAME_LABEL]: 'main' }))).toEqual([QUEUE]);
  });

  test('is born suspended', () => {
    expect(fields(undefined, aHomeJob({ spec: { suspend: false } }))).toEqual([BORN_SUSPENDED.field(JOB_WORDS)]);
  });

  test('is released by nobody else, admitted before or not', () => {
    expect(fields(aHomeJob(), aHomeJob({ spec: { suspend: false } }))).toEqual(['spec.suspend']);
    expect(fields(anAdmittedJob({ spec: { suspend: true } }), anAdmittedJob())).toEqual(['spec.suspend']);
    expect(fields(aHomeJob(), aHomeJob({ spec: { suspend: false } }), { writer: 'LocalWorker' })).toEqual(['spec.suspend']);
    expect(fields(aHomeJob(), aHomeJob({ spec: { suspend: false } }), { writer: 'Manager' })).toEqual([]);
  });

  test('does not lose its queue, nor have it named by Kueue’s label alone', () => {
    expect(fields(aHomeJob(), withLabels(aHomeJob(), {}))).toEqual([QUEUE_IS_NOT_REMOVED.field(JOB_WORDS)]);
    expect(fields(aHomeJob(), withLabels(aHomeJob(), { [KUEUE_QUEUE_NAME_LABEL]: 'main' }))).toEqual([QUEUE]);
    expect(fields(aHomeJob(), withLabels(aHomeJob(), { [QUEUE_NAME_LABEL]: '', [KUEUE_QUEUE_NAME_LABEL]: 'main' }))).toEqual([QUEUE]);
    expect(fields(anAdmittedJob(), withLabels(anAdmittedJob(), {}))).toEqual([QUEUE]);
  });

  test('has its status told by the manager alone', () => {
    expect(fields(anAdmittedJob(), anAdmittedJob(), { subresource: 'status' })).toEqual([MANAGER_WRITES_STATUS.field(JOB_WORDS)]);
    expect(fields(anAdmittedJob(), anAdmittedJob(), { subresource: 'status', writer: 'LocalWorker' })).toEqual(['status']);
    expect(fields(anAdmittedJob(), anAdmittedJob(), { subresource: 'status', writer: 'Manager' })).toEqual([]);
  });

  test('keeps its finalizer while it is being deleted, too', () => {
    const deletionTimestamp = '2026-01-01T00:01:00Z';
    const held = anAdmittedJob({ metadata: { deletionTimestamp, finalizers: [COPIES_FINALIZER, 'foregroundDeletion'] } });
    const freed = anAdmittedJob({ metadata: { deletionTimestamp, finalizers: ['foregroundDeletion'] } });
    const swept = anAdmittedJob({ metadata: { deletionTimestamp, finalizers: [COPIES_FINALIZER] } });
    expect(fields(held, freed)).toEqual([`metadata.finalizers[${COPIES_FINALIZER}]`]);
    expect(fields(held, swept)).toEqual([]);
  });
});

describe('metadata in a write of the status', () => {
  test('is judged as in any other, on a Job that is not the manager’s, too', () => {
    expect(fields(plain(), withLabels(plain(), { [ORIGIN_LABEL]: 'x' }), { subresource: 'status' })).toEqual([
      `metadata.labels[${ORIGIN_LABEL}]`,
    ]);
    expect(fields(plain(), withLabels(plain(), { [QUEUE_NAME_LABEL]: 'main' }), { subresource: 'status' })).toEqual([QUEUE]);
  });
});

describe('a copy on the manager’s own cluster', () => {
  test('is made by a manager alone', () => {
    expect(fields(undefined, aCopy())).toEqual([`metadata.labels[${ORIGIN_LABEL}]`]);
    expect(fields(undefined, aCopy(), { writer: 'LocalWorker' })).toEqual([`metadata.labels[${ORIGIN_LABEL}]`]);
    expect(fields(undefined, aCopy(), { writer: 'Manager' })).toEqual([]);
  });

  test('has its status from the worker, and its spec from the manager', () => {
    expect(fields(aCopy(), aCopy(), { subresource: 'status', writer: 'LocalWorker' })).toEqual([]);
    expect(fields(aCopy(), aCopy(), { subresource: 'status' })).toEqual(['status']);
    expect(fields(aCopy(), aCopy({ suspend: true }))).toEqual([COPY_FOLLOWS_ITS_ORIGINAL.field(JOB_WORDS)]);
    expect(fields(aCopy(), aCopy({ suspend: true }), { writer: 'LocalWorker' })).toEqual(['spec']);
    expect(fields(aCopy(), aCopy({ suspend: true }), { writer: 'Manager' })).toEqual([]);
  });

  test('has what its pods ended with from the worker', () => {
    const ended = aCopy();
    ended.metadata.annotations = { ...ended.metadata.annotations, [ENDED_PODS_ANNOTATION]: '[]' };
    const field = `metadata.annotations[${ENDED_PODS_ANNOTATION}]`;
    expect(fields(aCopy(), ended, { subresource: 'status', writer: 'LocalWorker' })).toEqual([]);
    expect(fields(aCopy(), ended)).toEqual([field]);
    const other = plain();
    other.metadata.annotations = { [ENDED_PODS_ANNOTATION]: '[]' };
    expect(fields(undefined, other, { writer: 'LocalWorker' })).toEqual([field]);
  });

  test('that the built-in controller runs is that controller’s: another manager made it here', () => {
    const builtIn = aCopy();
    delete builtIn.spec.managedBy;
    expect(fields(builtIn, builtIn, { subresource: 'status' })).toEqual([]);
  });

  test('is freed by the garbage collector', () => {
    const metadata = { labels: { [ORIGIN_LABEL]: 'home' } };
    const held = aHomeJob({ metadata: { ...metadata, finalizers: ['foregroundDeletion'] }, spec: { managedBy: WORKER_CONTROLLER_NAME } });
    const freed = aHomeJob({ metadata: { ...metadata, finalizers: [] }, spec: { managedBy: WORKER_CONTROLLER_NAME } });
    expect(fields(held, freed)).toEqual([]);
  });
});
