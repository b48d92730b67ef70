import { Counter, Histogram, type Registry } from 'prom-client';
import type { DeepReadonly, JobStatus } from '../../shared/api/kubernetes.ts';
import { parseIndexes } from './indexes.ts';
import type { JobView } from './job-view.ts';
import type { CreationReason } from './scale.ts';
import type { PolicyAction } from './pod-failure-policy.ts';
import type { WrittenResource } from './written-versions.ts';

export type SyncAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted';

/** The Job controller's metrics, with the names, labels and buckets of kube-controller-manager. */
export interface JobMetrics {
  synced(job: JobView, result: 'success' | 'error', action: SyncAction, seconds: number): void;
  jobFinished(job: JobView, outcome: 'Complete' | 'Failed', reason: string): void;
  /** Two statuses of one Job: what was counted between them. */
  podsCounted(job: JobView, before: DeepReadonly<JobStatus>, after: DeepReadonly<JobStatus>): void;
  podsCreated(reason: CreationReason, succeeded: number, failed: number): void;
  policyActions(actions: readonly PolicyAction[]): void;
  /** An ended pod with the tracking finalizer came (add) or lost it (delete). */
  terminatedPodTracked(event: 'add' | 'delete'): void;
  externallyManaged(controllerName: string): void;
  staleSyncSkipped(resource: WrittenResource): void;
}

const SYNC_BUCKETS = Array.from({ length: 15 }, (_, k) => 0.004 * 2 ** k);
const GROUPS: Readonly<Record<WrittenResource, string>> = { jobs: 'batch', pods: '' };

export function createJobMetrics(registry: Registry): JobMetrics {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]): Counter<T> =>
    new Counter({ name: `job_controller_${name}`, help, labelNames: [...labelNames], registers });
  const syncLabels = ['completion_mode', 'result', 'action'] as const;
  const syncDuration = new Histogram({
    name: 'job_controller_job_sync_duration_seconds',
    help: 'The time it took to sync a job',
    labelNames: syncLabels,
    buckets: SYNC_BUCKETS,
    registers,
  });
  const syncs = counter('job_syncs_total', 'The number of job syncs', syncLabels);
  const jobsFinished = counter('jobs_finished_total', 'The number of finished jobs', ['completion_mode', 'result', 'reason']);
  const podsFinished = counter('job_pods_finished_total', 'The number of finished Pods that are fully tracked', [
    'completion_mode',
    'result',
  ]);
  const finishedIndexes = counter('job_finished_indexes_total', 'The number of finished indexes', ['status', 'backoffLimit']);
  const creations = counter('job_pods_creation_total', 'The number of Pods created by the Job controller', ['reason', 'status']);
  const policy = counter(
    'pod_failures_handled_by_failure_policy_total',
    'The number of failed Pods handled by failure policy with respect to the failure policy action applied',
    ['action'],
  );
  const tracked = counter(
    'terminated_pods_tracking_finalizer_total',
    'The number of terminated pods (phase=Failed|Succeeded) that have the finalizer batch.kubernetes.io/job-tracking',
    ['event'],
  );
  const external = counter('jobs_by_external_controller_total', 'The number of Jobs managed by an external controller', [
    'controller_name',
  ]);
  const staleSkips = counter('stale_sync_skips_total', 'The number of syncs skipped because a cache was behind our own writes', [
    'group',
    'resource',
  ]);

  return {
    synced(job, result, action, seconds) {
      const labels = { completion_mode: modeOf(job), result, action };
      syncDuration.observe(labels, seconds);
      syncs.inc(labels);
    },
    jobFinished: (job, outcome, reason) =>
      jobsFinished.inc({ completion_mode: modeOf(job), result: outcome === 'Complete' ? 'succeeded' : 'failed', reason }),
    podsCounted(job, before, after) {
      const completion_mode = modeOf(job);
      const succeeded = job.indexed ? newIndexes(job, before, after, 'completedIndexes') : (after.succeeded ?? 0) - (before.succeeded ?? 0);
      add(podsFinished, { completion_mode, result: 'succeeded' }, succeeded);
      add(podsFinished, { completion_mode, result: 'failed' }, (after.failed ?? 0) - (before.failed ?? 0));
      if (!job.indexed) return;
      const backoffLimit = job.backoffLimitPerIndex === undefined ? 'global' : 'perIndex';
      add(finishedIndexes, { status: 'succeeded', backoffLimit }, succeeded);
      if (backoffLimit === 'perIndex')
        add(finishedIndexes, { status: 'failed', backoffLimit }, newIndexes(job, before, after, 'failedIndexes'));
    },
    podsCreated(reason, succeeded, failed) {
      add(creations, { reason, status: 'succeeded' }, succeeded);
      add(creations, { reason, status: 'failed' }, failed);
    },
    policyActions: (actions) => {
      for (const action of actions) policy.inc({ action });
    },
    terminatedPodTracked: (event) => tracked.inc({ event }),
    externallyManaged: (controller_name) => external.inc({ controller_name }),
    staleSyncSkipped: (resource) => staleSkips.inc({ group: GROUPS[resource], resource }),
  };
}

const modeOf = (job: JobView): 'Indexed' | 'NonIndexed' => (job.indexed ? 'Indexed' : 'NonIndexed');

/** Both texts are read against today's completions, so that scaling down counts nothing. */
function newIndexes(
  job: JobView,
  before: DeepReadonly<JobStatus>,
  after: DeepReadonly<JobStatus>,
  field: 'completedIndexes' | 'failedIndexes',
): number {
  if (before[field] === after[field]) return 0;
  const completions = job.completions ?? 0;
  return parseIndexes(after[field], completions).size - parseIndexes(before[field], completions).size;
}

/** Counters only rise, and a series without a count is not shown. */
function add<T extends string>(counter: Counter<T>, labels: Partial<Record<T, string>>, count: number): void {
  if (count > 0) counter.inc(labels, count);
}
