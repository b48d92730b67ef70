import { expect, test } from 'vitest';
import { canaryJob, canaryName } from '../../../../manager/canary/canary-job.ts';
import { stageSeconds } from '../../../../manager/canary/canary-stages.ts';
import { DEFAULT_JOB_RULES } from '../../../../manager/api/job-rules.ts';
import { ruleProblems } from '../../../../manager/work-kind/job/rule-problems.ts';
import { prepareJob } from '../../../../manager/policy/prepare-job.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

test('every cluster has a name of its own for its canary, that a Job may have', () => {
  const long = `${'a'.repeat(80)}.example.com`;
  const names = ['eu-1', 'eu.1', 'eu-1-', long, `${long}m`].map(canaryName);
  expect(names[0]).toBe('switchyard-canary-eu-1');
  expect(new Set(names).size).toBe(5);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(63);
  expect(canaryName(long)).toMatch(/^switchyard-canary-a+-[0-9a-f]{10}$/);
  expect(canaryName('eu.1')).toMatch(/^switchyard-canary-eu-1-[0-9a-f]{10}$/);
});

test('it is a Job that is the manager’s, for this cluster alone, and breaks no rule', () => {
  const job = canaryJob(JOB_KIND, 'eu-1', 'c', { namespace: 'ops', queue: 'canaries', image: 'busybox', ttlSeconds: 60 });
  expect(job).toMatchObject({
    metadata: { namespace: 'ops', labels: { 'switchyard.dev/queue-name': 'canaries' }, annotations: { 'switchyard.dev/clusters': 'eu-1' } },
    spec: { suspend: true, managedBy: 'switchyard.dev/manager', backoffLimit: 0 },
  });
  expect(prepareJob(JOB_KIND, job).kind).toBe('Prepared');
  expect(ruleProblems(job as Job, DEFAULT_JOB_RULES)).toEqual([]);
});

test('the parts of its way add up to all of it, and what was not seen is left out', () => {
  const story = { submittedMs: 1_000, admittedMs: 1_200, dispatchedMs: 1_700, startedMs: 3_000, finishedMs: 3_500 };
  expect(Object.fromEntries(stageSeconds(story))).toEqual({ queued: 0.2, admitted: 0.5, dispatched: 1.3, started: 0.5, finished: 2.5 });
  expect(Object.fromEntries(stageSeconds({ submittedMs: 1_000, admittedMs: 900, finishedMs: 2_000 }))).toEqual({ queued: 0, finished: 1 });
});
