import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { createInvariantMetrics, type InvariantMetrics } from '../../shared/runtime/invariant-metrics.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createRedisMetrics, type RedisMetrics } from './redis-metrics.ts';
import { createStateMetrics, DEFAULT_LOCAL_QUEUES_MAX, type StateLimits, type StateMetrics } from './state-metrics.ts';
import { createCanaryMetrics, type CanaryMetrics } from '../canary/canary-metrics.ts';
import { createSpanMetrics } from '../../shared/runtime/span-metrics.ts';
import { fromZero } from '../../shared/runtime/zero-series.ts';
import { createWorkqueueMetrics, type WorkqueueMeters } from '../../shared/kube/workqueue-metrics.ts';
import { EstimateOutcome } from './estimate-outcome.ts';

/** What the manager's own cluster is called in the label `cluster`. */
export const HOME = 'home';

/** Every metric of the manager, registered once. Names follow Kueue's, with our prefix. */
export type ManagerMetrics = {
  readonly state: StateMetrics;
  readonly workqueues: WorkqueueMeters;
  readonly admission: AdmissionMetrics;
  readonly dispatch: DispatchMetrics;
  readonly submission: SubmissionMetrics;
  readonly ledger: LedgerMetrics;
  readonly identity: IdentityMetrics;
  readonly story: StoryMetrics;
  readonly redis: RedisMetrics;
  readonly history: HistoryMetrics;
  readonly api: ApiMetrics;
  readonly webhook: WebhookMetrics;
  readonly audit: AuditMetrics;
  readonly invariants: InvariantMetrics;
  readonly canary: CanaryMetrics;
  readonly spans: ReturnType<typeof createSpanMetrics>;
};
/** Of the queues of the manager and of those that it has for each cluster. */
type WithQueues = { readonly workqueues: WorkqueueMeters };
export type AdmissionMetrics = ReturnType<typeof admissionMetrics> & WithQueues & StateLimits;
export type DispatchMetrics = ReturnType<typeof dispatchMetrics> & WithQueues;
export type SubmissionMetrics = ReturnType<typeof submissionMetrics> & WithQueues;
export type LedgerMetrics = ReturnType<typeof ledgerMetrics>;
export type IdentityMetrics = ReturnType<typeof identityMetrics>;
export type StoryMetrics = ReturnType<typeof storyMetrics>;
export type HistoryMetrics = ReturnType<typeof historyMetrics>;
export type ApiMetrics = ReturnType<typeof apiMetrics>;
export type AuditMetrics = ReturnType<typeof auditMetrics>;
export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

/** Registers the manager's metrics. Call once for a registry: a second time throws. */
export function createManagerMetrics(
  registry: Registry,
  clock: Pick<Clock, 'now'> = Date,
  limits: StateLimits = { localQueuesMax: DEFAULT_LOCAL_QUEUES_MAX },
): ManagerMetrics {
  const workqueues = createWorkqueueMetrics(registry, clock, HOME);
  return {
    state: createStateMetrics(registry, () => clock.now(), limits),
    workqueues,
    admission: { ...admissionMetrics([registry]), ...limits, workqueues },
    dispatch: { ...dispatchMetrics([registry]), workqueues },
    submission: { ...submissionMetrics([registry]), workqueues },
    ledger: ledgerMetrics([registry]),
    identity: identityMetrics([registry]),
    story: storyMetrics([registry]),
    redis: createRedisMetrics(registry),
    history: historyMetrics([registry]),
    api: apiMetrics([registry]),
    webhook: webhookMetrics([registry]),
    audit: auditMetrics([registry]),
    invariants: createInvariantMetrics(registry),
    canary: createCanaryMetrics(registry),
    spans: createSpanMetrics(registry),
  };
}

/** Seconds, from one millisecond to about eight minutes. */
const LATENCY_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 500];
/** Seconds, from one second to about eleven hours: how long Jobs wait and run. */
const WAIT_BUCKETS = [1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960];

/** Reasons of API servers that a write of a Job meets; there are others, which come up when they do. */
const WRITE_REFUSALS = ['Conflict', 'Forbidden', 'Invalid', 'NotFound', 'Timeout', 'InternalError', 'Unknown'];

function admissionMetrics(registers: Registry[]) {
  const startEstimates = new Counter({
    name: 'switchyard_start_estimates_total',
    help: 'Estimated starts of a sample of Jobs that waited, by outcome: admitted before, within or after the interval, which is to hold in 80 of 100 cases; withdrawn from the queue; unknown, none could be made.',
    labelNames: ['outcome'],
    registers,
  });
  fromZero(startEstimates, { outcome: Object.values(EstimateOutcome) });
  const attempts = new Counter({
    name: 'switchyard_admission_attempts_total',
    help: 'Scheduling cycles, by whether at least one Job was admitted (success) or none (inadmissible).',
    labelNames: ['result'],
    registers,
  });
  fromZero(attempts, { result: ['success', 'inadmissible'] });
  const untrustedRecords = new Counter({
    name: 'switchyard_untrusted_records_total',
    help: 'Admission records that admission has not made: Forged, Invalid (cannot be read) or Missing on a Job that is not suspended.',
    labelNames: ['reason'],
    registers,
  });
  fromZero(untrustedRecords, { reason: ['Forged', 'Invalid', 'Missing'] });
  const conflicts = new Counter({
    name: 'switchyard_admission_write_failures_total',
    help: 'Admissions that were assumed and could not be written, by reason of the refusal.',
    labelNames: ['reason'],
    registers,
  });
  fromZero(conflicts, { reason: WRITE_REFUSALS });
  return {
    startEstimates,
    attempts,
    untrustedRecords,
    conflicts,
    attemptDuration: new Histogram({
      name: 'switchyard_admission_attempt_duration_seconds',
      help: 'Time of one scheduling cycle without its writes.',
      labelNames: ['result'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    admitted: new Counter({
      name: 'switchyard_admitted_workloads_total',
      help: 'Jobs admitted.',
      labelNames: ['cluster_queue', 'cluster'],
      registers,
    }),
    waitTime: new Histogram({
      name: 'switchyard_admission_wait_time_seconds',
      help: 'Time from the creation of a Job, or its eviction, to its admission.',
      labelNames: ['cluster_queue'],
      buckets: WAIT_BUCKETS,
      registers,
    }),
    runTime: new Histogram({
      name: 'switchyard_workload_run_seconds',
      help: 'Time from the start of an admitted Job to its end, by how it ended: Complete, Failed or Deleted.',
      labelNames: ['cluster_queue', 'outcome'],
      buckets: WAIT_BUCKETS,
      registers,
    }),
    decisionLogDropped: new Counter({
      name: 'switchyard_decision_log_dropped_lines_total',
      help: 'Lines that the decision log misses, because its disk was slow or full.',
      registers,
    }),
    evicted: new Counter({
      name: 'switchyard_evicted_workloads_total',
      help: 'Jobs suspended after admission, by reason.',
      labelNames: ['cluster_queue', 'reason'],
      registers,
    }),
    preempted: new Counter({
      name: 'switchyard_preempted_workloads_total',
      help: 'Jobs suspended for the sake of others: by the queue of those, their own queue, and the rule (InClusterQueue, InCohortReclamation, InCohortReclaimWhileBorrowing, InCohortFairSharing).',
      labelNames: ['preempting_cluster_queue', 'cluster_queue', 'reason'],
      registers,
    }),
    untrustedJobs: new Gauge({
      name: 'switchyard_untrusted_jobs',
      help: 'Unfinished Jobs that carry such a record now, or are not suspended without one.',
      labelNames: ['reason'],
      registers,
    }),
    finished: new Counter({
      name: 'switchyard_finished_workloads_total',
      help: 'Admitted Jobs that finished, by terminal condition.',
      labelNames: ['cluster_queue', 'result'],
      registers,
    }),
    pending: new Gauge({
      name: 'switchyard_pending_workloads',
      help: 'Jobs that wait for admission: active ones will be tried, inadmissible ones wait for a change.',
      labelNames: ['cluster_queue', 'status'],
      registers,
    }),
    active: new Gauge({
      name: 'switchyard_admitted_active_workloads',
      help: 'Jobs admitted and not finished.',
      labelNames: ['cluster_queue'],
      registers,
    }),
    usage: new Gauge({
      name: 'switchyard_cluster_queue_resource_usage',
      help: 'Quota in use, in the base unit of the resource.',
      labelNames: ['cluster_queue', 'flavor', 'resource'],
      registers,
    }),
    nominalQuota: new Gauge({
      name: 'switchyard_cluster_queue_nominal_quota',
      help: 'Nominal quota, in the base unit of the resource.',
      labelNames: ['cluster_queue', 'flavor', 'resource'],
      registers,
    }),
    weightedShare: new Gauge({
      name: 'switchyard_cluster_queue_weighted_share',
      help: 'What is borrowed, in thousandths of what the cohort could lend, divided by the weight; NaN for who borrows with weight 0.',
      labelNames: ['cluster_queue'],
      registers,
    }),
    cohortWeightedShare: new Gauge({
      name: 'switchyard_cohort_weighted_share',
      help: 'The same of a Cohort.',
      labelNames: ['cohort'],
      registers,
    }),
    localQueueUsage: new Gauge({
      name: 'switchyard_local_queue_admission_fair_sharing_usage',
      help: 'What a LocalQueue has used over time, by weights of resources and its own: the least goes first.',
      labelNames: ['namespace', 'local_queue', 'cluster_queue'],
      registers,
    }),
  };
}

function dispatchMetrics(registers: Registry[]) {
  return {
    dispatched: new Counter({
      name: 'switchyard_dispatched_workloads_total',
      help: 'Copies created on a cluster.',
      labelNames: ['cluster_queue', 'cluster'],
      registers,
    }),
    dispatchDuration: new Histogram({
      name: 'switchyard_dispatch_duration_seconds',
      help: 'Time from admission to the creation of the copy.',
      labelNames: ['cluster'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    dispatchFailures: new Counter({
      name: 'switchyard_dispatch_failures_total',
      help: 'Writes to a cluster that failed, by verb and reason.',
      labelNames: ['cluster', 'verb', 'reason'],
      registers,
    }),
    statusWrites: new Counter({
      name: 'switchyard_status_writes_total',
      help: 'Writes of a status home, by whether it was terminal.',
      labelNames: ['cluster', 'terminal'],
      registers,
    }),
    statusLag: new Histogram({
      name: 'switchyard_status_lag_seconds',
      help: 'Time from when a change of a copy was heard of to when it was written to its Job.',
      labelNames: ['cluster'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    watchRestarts: new Counter({
      name: 'switchyard_watch_restarts_total',
      help: 'Times a watch was opened anew: its time was over (after four to eight minutes), it broke, or the server had forgotten its place.',
      labelNames: ['cluster', 'resource'],
      registers,
    }),
    copies: new Gauge({
      name: 'switchyard_remote_copies',
      help: 'Copies of ours on a cluster.',
      labelNames: ['cluster'],
      registers,
    }),
    tokenExpires: new Gauge({
      name: 'switchyard_worker_token_expires_seconds',
      help: 'When the token ends by which a worker cluster is reached, in seconds since 1970; absent where it does not say.',
      labelNames: ['cluster'],
      registers,
    }),
    clusterReady: new Gauge({
      name: 'switchyard_cluster_ready',
      help: '1 when Jobs are placed on the cluster (its condition Ready is True), else 0.',
      labelNames: ['cluster'],
      registers,
    }),
    clusterNotReady: new Gauge({
      name: 'switchyard_cluster_not_ready',
      help: '1 for the reason for which a cluster is not ready now.',
      labelNames: ['cluster', 'reason'],
      registers,
    }),
    reconnects: new Counter({
      name: 'switchyard_cluster_reconnects_total',
      help: 'Times a connection to a cluster was made anew.',
      labelNames: ['cluster'],
      registers,
    }),
    clusterFaults: new Counter({
      name: 'switchyard_cluster_faults_total',
      help: 'Answers of a cluster to lists and watches that could not be used, by reason.',
      labelNames: ['cluster', 'reason'],
      registers,
    }),
    homeRestored: new Gauge({
      name: 'switchyard_home_restored_clusters_missing',
      help: 'Worker clusters that have not shown what runs there since the manager cluster was restored; while there are any, nothing is set going.',
      registers,
    }),
    clusterRestores: new Counter({
      name: 'switchyard_cluster_restores_total',
      help: 'Times a cluster went back in time, as one that is restored from an older backup.',
      labelNames: ['cluster'],
      registers,
    }),
    orphansDeleted: new Counter({
      name: 'switchyard_orphans_deleted_total',
      help: 'Copies deleted because their Job is gone.',
      labelNames: ['cluster'],
      registers,
    }),
  };
}

function submissionMetrics(registers: Registry[]) {
  const submissions = new Counter({
    name: 'switchyard_submissions_total',
    help: 'Submissions taken from the queue, by result: created, duplicate, refused or failed.',
    labelNames: ['result'],
    registers,
  });
  fromZero(submissions, { result: ['created', 'duplicate', 'refused', 'failed'] });
  const outcomes = new Counter({
    name: 'switchyard_submission_outcomes_total',
    help: 'Outcomes returned to submitters, by result: completed, failed or deleted.',
    labelNames: ['result'],
    registers,
  });
  fromZero(outcomes, { result: ['completed', 'failed', 'deleted'] });
  return {
    submissions,
    outcomes,
    untrusted: new Counter({
      name: 'switchyard_untrusted_submissions_total',
      help: 'Jobs that ended and say that they are of a submission of which the manager did not make them.',
      registers,
    }),
    queueSubmissions: new Counter({
      name: 'switchyard_submission_queue_submissions_total',
      help: 'What became of submissions that were handed out, by queue (namespace/name of its SubmissionQueue, or shared): accepted, refused or failed (tried again).',
      labelNames: ['queue', 'result'],
      registers,
    }),
    backlog: new Gauge({
      name: 'switchyard_submission_queue_backlog',
      help: 'Submissions in Redis that nobody has taken up yet.',
      labelNames: ['queue'],
      registers,
    }),
    oldest: new Gauge({
      name: 'switchyard_submission_queue_oldest_seconds',
      help: 'For how long the oldest of those has waited; 0 where there are none.',
      labelNames: ['namespace', 'submission_queue'],
      registers,
    }),
    kept: new Gauge({
      name: 'switchyard_submission_queue_failed',
      help: 'Submissions that have failed and are kept in Redis to be looked at.',
      labelNames: ['namespace', 'submission_queue'],
      registers,
    }),
    parked: new Gauge({
      name: 'switchyard_submission_queue_parked',
      help: 'Submissions whose Jobs have not ended.',
      labelNames: ['queue'],
      registers,
    }),
    turnWait: new Histogram({
      name: 'switchyard_submission_turn_wait_seconds',
      help: 'Time that submissions waited for their turn behind the gate that all queues share.',
      labelNames: ['queue'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    submissionDuration: new Histogram({
      name: 'switchyard_submission_duration_seconds',
      help: 'Time from taking a submission to the Job being created.',
      buckets: LATENCY_BUCKETS,
      registers,
    }),
  };
}

function ledgerMetrics(registers: Registry[]) {
  return {
    entries: new Gauge({
      name: 'switchyard_submission_ledger_entries',
      help: 'Entries in the ledger of submissions; one that changed late is counted twice.',
      registers,
    }),
    chunks: new Gauge({ name: 'switchyard_submission_ledger_chunks', help: 'ConfigMaps of the ledger of submissions.', registers }),
    horizon: new Gauge({
      name: 'switchyard_submission_ledger_horizon_seconds',
      help: 'For how long the keys of submissions are remembered, of the tenant with the most: seven days, less where there were too many.',
      registers,
    }),
    writes: new Counter({
      name: 'switchyard_submission_ledger_writes_total',
      help: 'Writes to the ledger of submissions.',
      registers,
    }),
  };
}

function identityMetrics(registers: Registry[]) {
  return {
    shared: new Gauge({
      name: 'switchyard_manager_identity_shared',
      help: '1 when the user that the manager is was seen to be used by others, or may do everything as administrators may; else 0.',
      registers,
    }),
  };
}

function storyMetrics(registers: Registry[]) {
  return {
    overrides: new Counter({
      name: 'switchyard_job_overrides_total',
      help: 'Writes of Jobs that passed by the rules of who may write what, as field manager switchyard-override.',
      registers,
    }),
    dropped: new Counter({
      name: 'switchyard_story_events_dropped_total',
      help: 'Events of the way of Jobs that were not written, because --story-event-qps had no room for them.',
      registers,
    }),
  };
}

function historyMetrics(registers: Registry[]) {
  const entries = new Counter({
    name: 'switchyard_history_entries_total',
    help: 'Entries of history, records of Jobs, what their pods ended with and ends of logs, that were written, or dropped because the store took too long.',
    labelNames: ['result'],
    registers,
  });
  fromZero(entries, { result: ['written', 'dropped'] });
  return { entries };
}

function webhookMetrics(registers: Registry[]) {
  const requests = new Counter({
    name: 'switchyard_webhook_requests_total',
    help: 'Reviews that an API server asked the webhooks for (mutate, validate, override), by outcome: allowed, refused, or error, where none could be given.',
    labelNames: ['webhook', 'outcome'],
    registers,
  });
  fromZero(requests, { webhook: ['mutate', 'validate', 'override'], outcome: ['allowed', 'refused', 'error'] });
  return {
    requests,
    duration: new Histogram({
      name: 'switchyard_webhook_duration_seconds',
      help: 'Time until a review was answered.',
      labelNames: ['webhook'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
  };
}

function auditMetrics(registers: Registry[]) {
  const dropped = new Counter({
    name: 'switchyard_audit_dropped_total',
    help: 'Lines that the audit log misses: slow, its file or standard output took no more; anonymous, too many requests of callers that are not known.',
    labelNames: ['reason'],
    registers,
  });
  fromZero(dropped, { reason: ['slow', 'anonymous'] });
  return { dropped };
}

/** Of the HTTP API. Routes are patterns of paths, so that no client makes up series. */
function apiMetrics(registers: Registry[]) {
  return {
    requests: new Counter({
      name: 'switchyard_api_requests_total',
      help: 'Requests to the HTTP API that were answered, by route, method and status; route and method are other where none matched.',
      labelNames: ['route', 'method', 'code'],
      registers,
    }),
    duration: new Histogram({
      name: 'switchyard_api_request_duration_seconds',
      help: 'Time until a request to the HTTP API was answered, streams not counted.',
      labelNames: ['route', 'method'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    streams: new Gauge({ name: 'switchyard_api_streams', help: 'Streams of events of the HTTP API that are open.', registers }),
  };
}
