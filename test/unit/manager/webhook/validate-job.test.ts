import { describe, expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  ORIGIN_LABEL,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  WORKER_CONTROLLER_NAME,
} from '../../../../shared/api/names.ts';
import { isCopy, validateJob } from '../../../../manager/webhook/validate-job.ts';
import { aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const fields = (oldJob: Job, job: Job, byManager = false) =>
  validateJob(JOB_KIND, { subresource: '', job, oldJob, writer: byManager ? 'Manager' : 'User', username: 'ann' }).map(
    ({ field }) => field,
  );
const created = (job: Job) =>
  validateJob(JOB_KIND, { subresource: '', job, oldJob: undefined, writer: 'User', username: 'ann' }).map(({ field }) => field);
const withLabels = (job: Job, labels: Record<string, string>): Job => ({ ...job, metadata: { ...job.metadata, labels } });
const QUEUE = `metadata.labels[${QUEUE_NAME_LABEL}]`;

describe('a new Job', () => {
  test('passes as prepareJob makes it, and without a queue it is nobody’s business', () => {
    expect(created(aHomeJob())).toEqual([]);
    expect(created(withLabels(aHomeJob({ spec: { managedBy: 'example.com/x', suspend: false } }), {}))).toEqual([]);
  });
  test('is refused when the mutating webhook was passed by', () => {
    const bare = aHomeJob({ spec: { suspend: false } });
    delete bare.spec.managedBy;
    expect(created(bare)).toEqual(['spec.managedBy']);
    expect(created(aHomeJob({ spec: { suspend: false } }))).toEqual(['spec.suspend']);
    expect(created(aHomeJob({ spec: { managedBy: 'example.com/x' } }))).toEqual(['spec.managedBy']);
  });
  test('is refused with an admission that it gave itself', () => {
    expect(created(anAdmittedJob({ spec: { suspend: true } }))).toEqual([`metadata.annotations[${ADMISSION_ANNOTATION}]`]);
  });
});

describe('a Job that is too large', () => {
  const large = { template: { spec: { containers: [{ name: 'main', args: ['x'.repeat(262_144)] }] } } };
  test('is refused when it is created, and when a change makes it so', () => {
    expect(created(aHomeJob({ spec: large }))).toEqual(['job']);
    const annotated = aHomeJob({ metadata: { annotations: { note: 'x'.repeat(262_144) } } });
    expect(fields(aHomeJob(), annotated)).toEqual(['job']);
    const onStatus = validateJob(JOB_KIND, { subresource: 'status', job: annotated, oldJob: aHomeJob(), writer: 'User', username: 'ann' });
    expect(onStatus.map(({ field }) => field)).not.toContain('job');
  });
  test('since less is taken than before may be changed, and is nobody’s business without a queue', () => {
    expect(fields(aHomeJob({ spec: large }), aHomeJob({ spec: { ...large, backoffLimit: 1 } }))).toEqual([]);
    expect(created(withLabels(aHomeJob({ spec: { ...large, managedBy: 'example.com/x', suspend: false } }), {}))).toEqual([]);
  });
});

describe('a change by a user', () => {
  test('of the admission record or of suspend=true is refused, by the manager it is allowed', () => {
    expect(fields(aHomeJob(), anAdmittedJob())).toEqual([`metadata.annotations[${ADMISSION_ANNOTATION}]`, 'spec.suspend']);
    expect(fields(anAdmittedJob(), aHomeJob())).toEqual([`metadata.annotations[${ADMISSION_ANNOTATION}]`]);
    expect(fields(aHomeJob(), anAdmittedJob(), true)).toEqual([]);
  });
  test('that suspends an admitted Job is allowed', () => {
    expect(fields(anAdmittedJob(), anAdmittedJob({ spec: { suspend: true } }))).toEqual([]);
  });
  test('may move a waiting Job to another queue, but neither take it out nor move an admitted one', () => {
    expect(fields(aHomeJob(), withLabels(aHomeJob(), { [QUEUE_NAME_LABEL]: 'other' }))).toEqual([]);
    expect(fields(aHomeJob(), withLabels(aHomeJob(), {}))).toEqual([QUEUE]);
    expect(fields(anAdmittedJob(), withLabels(anAdmittedJob(), { [QUEUE_NAME_LABEL]: 'other' }))).toEqual([QUEUE]);
  });
  test('cannot let an admitted Job have more pods at once than quota was reserved for', () => {
    const admitted = (parallelism: number, completions?: number, suspend = false): Job =>
      anAdmittedJob(
        {
          spec: { parallelism, suspend, ...(completions === undefined ? { completions: 10 } : { completions, completionMode: 'Indexed' }) },
        },
        { requests: { pods: '2' } },
      );
    expect(fields(admitted(2), admitted(3))).toEqual(['spec.parallelism']);
    expect(fields(admitted(2, 2), admitted(3, 3))).toEqual(['spec.parallelism']);
    expect(fields(admitted(2), admitted(3), true)).toEqual([]);
    expect(fields(admitted(3), admitted(2))).toEqual([]);
    expect(fields(admitted(2, 2), admitted(9, 2))).toEqual([]);
    expect(fields(admitted(2), admitted(3, undefined, true))).toEqual([]);
    expect(fields(admitted(2, undefined, true), admitted(3, undefined, true))).toEqual([]);
    expect(fields(aHomeJob({ spec: { parallelism: 2 } }), aHomeJob({ spec: { parallelism: 3 } }))).toEqual([]);
  });
  test('cannot give a Job of the built-in controller a queue', () => {
    const builtIn = withLabels(aHomeJob(), {});
    delete builtIn.spec.managedBy;
    expect(fields(builtIn, withLabels(builtIn, { [QUEUE_NAME_LABEL]: 'main' }))).toEqual([QUEUE]);
    const labelled = withLabels(builtIn, { [QUEUE_NAME_LABEL]: 'main' });
    expect(fields(labelled, { ...labelled, metadata: { ...labelled.metadata, annotations: { a: 'b' } } })).toEqual([]);
  });
  test('to an unreadable priority is refused, one that was unreadable before is not', () => {
    const bad = aHomeJob({ metadata: { annotations: { [PRIORITY_ANNOTATION]: 'high' } } });
    expect(fields(aHomeJob(), bad)).toEqual([`metadata.annotations[${PRIORITY_ANNOTATION}]`]);
    expect(created(bad)).toEqual([`metadata.annotations[${PRIORITY_ANNOTATION}]`]);
    expect(fields(bad, { ...bad, spec: { ...bad.spec, parallelism: 2 } })).toEqual([]);
  });
});

test('the label of a copy is no disguise, whoever runs the Job', () => {
  const labels = { [QUEUE_NAME_LABEL]: 'main', [ORIGIN_LABEL]: 'x' };
  const origin = `metadata.labels[${ORIGIN_LABEL}]`;
  expect(created(withLabels(aHomeJob({ spec: { managedBy: WORKER_CONTROLLER_NAME, suspend: false } }), labels))).toContain(origin);
  expect(created(withLabels(aHomeJob(), labels))).toEqual([origin]);
  expect(fields(aHomeJob(), withLabels(anAdmittedJob(), labels))).toContain('spec.suspend');
  expect(isCopy(JOB_KIND, withLabels(aHomeJob(), labels))).toBe(false);
  expect(isCopy(JOB_KIND, withLabels(aHomeJob({ spec: { managedBy: WORKER_CONTROLLER_NAME } }), labels))).toBe(true);
});
