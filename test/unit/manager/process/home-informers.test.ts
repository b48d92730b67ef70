import { describe, expect, test } from 'vitest';
import { compactProblem, isCompact } from '../../../../manager/work-kind/job/compact-job.ts';
import { DEFAULT_JOB_RULES } from '../../../../manager/api/job-rules.ts';
import { cachedJob } from '../../../../manager/process/home-informers.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL, WORKER_CONTROLLER_NAME } from '../../../../shared/api/names.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { aCondition, aHomeJob, anAdmittedJob, recordOn } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const cached = (job: Job, usersLabelsMax?: number): Job =>
  cachedJob(structuredClone(job), {
    kind: JOB_KIND,
    rules: DEFAULT_JOB_RULES,
    isAdmitted: (each) => recordOn(each as Job).kind === 'Record',
    ...omitUndefined({ usersLabelsMax }),
  });
const stored = { managedFields: [{ manager: 'kubectl', operation: 'Update' }] };
const large = { template: { spec: { containers: [{ name: 'main', args: ['x'.repeat(DEFAULT_JOB_RULES.bytesMax)] }] } } };

describe('a Job of the manager’s', () => {
  test('is kept whole, but for its managed fields, from its admission to its end', () => {
    for (const suspend of [false, true]) {
      const job = anAdmittedJob({ metadata: stored, spec: { suspend } });
      const { managedFields: _, ...metadata } = job.metadata;
      expect(cached(job)).toEqual({ ...job, metadata });
    }
    expect(isCompact(cached(anAdmittedJob({ status: { conditions: [aCondition('Complete')] } })))).toBe(true);
  });

  test('is kept without what its pods are made of while it waits, and when somebody wrote nonsense in place of its admission', () => {
    expect(isCompact(cached(aHomeJob()))).toBe(true);
    expect(compactProblem(cached(aHomeJob()))).toBeUndefined();
    expect(isCompact(cached(aHomeJob({ metadata: { annotations: { 'switchyard.dev/admission': 'x'.repeat(10_000) } } })))).toBe(true);
  });

  test('has the labels of its user where these are asked for, whether it waits, runs, is over or is not taken', () => {
    const metadata = { labels: { [QUEUE_NAME_LABEL]: 'main', team: 'red' } };
    const jobs = [
      aHomeJob({ metadata }),
      aHomeJob({ metadata, spec: large }),
      anAdmittedJob({ metadata }),
      anAdmittedJob({ metadata, status: { conditions: [aCondition('Complete')] } }),
    ];
    for (const job of jobs) expect(cached(job, 8).metadata.labels).toMatchObject({ team: 'red' });
    expect(cached(aHomeJob({ metadata })).metadata.labels).toEqual({ [QUEUE_NAME_LABEL]: 'main' });
  });

  test('that is too large waits with the reason; one that was admitted when more was taken runs on', () => {
    expect(compactProblem(cached(aHomeJob({ spec: large })))).toMatch(/^job: has \d+ bytes as JSON, and at most 262144 are taken/);
    expect(isCompact(cached(anAdmittedJob({ spec: large })))).toBe(false);
  });
});

test.each([WORKER_CONTROLLER_NAME, undefined])('of a Job managed by %s its identity and that name are kept', (name) => {
  const job = aHomeJob({ metadata: stored });
  if (name === undefined) delete job.spec.managedBy;
  else job.spec.managedBy = name;
  const { metadata, spec } = cached(job);
  expect(metadata).toEqual({
    name: 'sum',
    namespace: 'team',
    uid: 'uid-home-1',
    resourceVersion: '10',
    creationTimestamp: '2026-01-01T00:00:00Z',
  });
  expect(spec).toEqual({ template: {}, ...(name === undefined ? {} : { managedBy: name }) });
});
