import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { JobStatus } from '../../../../shared/api/kubernetes.ts';
import { viewJob } from '../../../../worker/job/job-view.ts';
import { createJobMetrics, type JobMetrics } from '../../../../worker/job/metrics.ts';
import { aJob, indexedJob } from './situation.ts';

const plain = viewJob(aJob());
const indexed = viewJob(indexedJob(5));
const perIndex = viewJob(indexedJob(5, { backoffLimitPerIndex: 1 }));

/** The series with a count after `use`, without those of histograms, in short. */
async function counted(use: (metrics: JobMetrics) => void): Promise<string[]> {
  const registry = new Registry();
  use(createJobMetrics(registry));
  return (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('job_controller_') && !line.includes('duration_seconds'))
    .map((line) => line.replace('job_controller_', ''))
    .toSorted();
}

test('a sync is counted and timed, with its mode, result and action', async () => {
  const registry = new Registry();
  createJobMetrics(registry).synced(plain, 'success', 'pods_created', 0.005);
  const lines = (await registry.metrics()).split('\n');
  const labels = 'completion_mode="NonIndexed",result="success",action="pods_created"';
  expect(lines).toContain(`job_controller_job_syncs_total{${labels}} 1`);
  expect(lines).toContain(`job_controller_job_sync_duration_seconds_count{${labels}} 1`);
  // 4 ms, doubled fourteen times.
  expect(lines.filter((line) => line.includes('_bucket{')).map((line) => /le="([^"]+)"/.exec(line)?.[1])).toEqual([
    ...Array.from({ length: 15 }, (_, k) => `${0.004 * 2 ** k}`),
    '+Inf',
  ]);
});

test('a finished Job is counted under its end and reason', async () => {
  expect(
    await counted((metrics) => {
      metrics.jobFinished(plain, 'Complete', 'CompletionsReached');
      metrics.jobFinished(indexed, 'Failed', 'DeadlineExceeded');
    }),
  ).toEqual([
    'jobs_finished_total{completion_mode="Indexed",result="failed",reason="DeadlineExceeded"} 1',
    'jobs_finished_total{completion_mode="NonIndexed",result="succeeded",reason="CompletionsReached"} 1',
  ]);
});

describe('pods that were counted between two statuses', () => {
  const between = (view: typeof plain, before: JobStatus, after: JobStatus) =>
    counted((metrics) => metrics.podsCounted(view, before, after));

  test('are the differences of their numbers', async () => {
    expect(await between(plain, { succeeded: 1 }, { succeeded: 3, failed: 2 })).toEqual([
      'job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 2',
      'job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 2',
    ]);
  });

  test('leave no series where nothing, or less than before, was counted', async () => {
    expect(await between(plain, {}, {})).toEqual([]);
    expect(await between(plain, { succeeded: 2, failed: 2 }, { succeeded: 1, failed: 0 })).toEqual([]);
  });

  test('of an Indexed Job succeed by index', async () => {
    expect(await between(indexed, { completedIndexes: '0', succeeded: 1 }, { completedIndexes: '0,2-3', succeeded: 3 })).toEqual([
      'job_finished_indexes_total{status="succeeded",backoffLimit="global"} 2',
      'job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
    ]);
  });

  test('of an Indexed Job that was made smaller are read against its completions of today', async () => {
    expect(await between(indexed, { completedIndexes: '0-9', succeeded: 10 }, { completedIndexes: '0-4', succeeded: 5 })).toEqual([]);
  });

  test('fail by index where every index has a limit of its own', async () => {
    const failures = { failed: 3, failedIndexes: '1' };
    expect(await between(perIndex, {}, failures)).toEqual([
      'job_finished_indexes_total{status="failed",backoffLimit="perIndex"} 1',
      'job_pods_finished_total{completion_mode="Indexed",result="failed"} 3',
    ]);
    expect(await between(indexed, {}, failures)).toEqual(['job_pods_finished_total{completion_mode="Indexed",result="failed"} 3']);
  });
});

test('pods that were created, or not, are counted by reason', async () => {
  expect(
    await counted((metrics) => {
      metrics.podsCreated('new', 3, 0);
      metrics.podsCreated('recreate_failed', 0, 2);
    }),
  ).toEqual([
    'job_pods_creation_total{reason="new",status="succeeded"} 3',
    'job_pods_creation_total{reason="recreate_failed",status="failed"} 2',
  ]);
});

test('everything else is counted one by one', async () => {
  expect(
    await counted((metrics) => {
      metrics.policyActions(['Ignore', 'Ignore', 'FailJob']);
      metrics.policyActions([]);
      metrics.terminatedPodTracked('add');
      metrics.terminatedPodTracked('delete');
      metrics.externallyManaged('example.com/other');
      metrics.staleSyncSkipped('jobs');
      metrics.staleSyncSkipped('pods');
    }),
  ).toEqual([
    'jobs_by_external_controller_total{controller_name="example.com/other"} 1',
    'pod_failures_handled_by_failure_policy_total{action="FailJob"} 1',
    'pod_failures_handled_by_failure_policy_total{action="Ignore"} 2',
    'stale_sync_skips_total{group="",resource="pods"} 1',
    'stale_sync_skips_total{group="batch",resource="jobs"} 1',
    'terminated_pods_tracking_finalizer_total{event="add"} 1',
    'terminated_pods_tracking_finalizer_total{event="delete"} 1',
  ]);
});
