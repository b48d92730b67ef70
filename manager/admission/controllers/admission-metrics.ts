import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WorkqueueMeters } from '../../../shared/kube/workqueue-metrics.ts';
import { LATENCY_BUCKETS } from '../../../shared/runtime/latency-buckets.ts';
import { fromZero } from '../../../shared/runtime/zero-series.ts';
import type { StateLimits } from './state-metrics.ts';

export type AdmissionMetrics = ReturnType<typeof createAdmissionMetrics> & { readonly workqueues: WorkqueueMeters } & StateLimits;

/** Seconds, from one second to about eleven hours: how long Jobs wait and run. */
const WAIT_BUCKETS = [1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960];

/** Reasons with which API servers commonly refuse a write of a Job; series of other reasons begin when they occur. */
const WRITE_REFUSALS = ['Conflict', 'Forbidden', 'Invalid', 'NotFound', 'Timeout', 'InternalError', 'Unknown'];

/** Registers the metrics of admission. Call once for a registry: a second time throws. */
export function createAdmissionMetrics(registers: Registry[]) {
  return { ...metricsOfAttempts(registers), ...metricsOfWorkloads(registers), ...metricsOfQueues(registers) };
}

/** Of scheduling cycles, and of the records that they lead to. */
function metricsOfAttempts(registers: Registry[]) {
  const attempts = new Counter({
    name: 'switchyard_admission_attempts_total',
    help: 'Scheduling cycles, by whether at least one Job was admitted (success) or none (inadmissible).',
    labelNames: ['result'],
    registers,
  });
  fromZero(attempts, { result: ['success', 'inadmissible'] });
  const untrustedRecords = new Counter({
    name: 'switchyard_untrusted_records_total',
    help: 'Records that admission has not made: Forged, Invalid, or Missing on a Job that is not suspended.',
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
  };
}

function metricsOfWorkloads(registers: Registry[]) {
  return {
    admitted: new Counter({
      name: 'switchyard_admitted_workloads_total',
      help: 'Jobs, and objects of other kinds, admitted.',
      labelNames: ['cluster_queue', 'cluster', 'kind'],
      registers,
    }),
    waitTime: new Histogram({
      name: 'switchyard_admission_wait_time_seconds',
      help: 'Time from the creation of a Job, or its eviction, to its admission.',
      labelNames: ['cluster_queue'],
      buckets: WAIT_BUCKETS,
      registers,
    }),
    backfilled: new Counter({
      name: 'switchyard_backfilled_workloads_total',
      help: 'Jobs admitted in front of one with a reservation.',
      labelNames: ['cluster_queue'],
      registers,
    }),
    startLateness: new Histogram({
      name: 'switchyard_reservation_start_lateness_seconds',
      help: 'How much later than first expected Jobs with a reservation were admitted.',
      labelNames: ['cluster_queue'],
      buckets: [0, ...WAIT_BUCKETS],
      registers,
    }),
    runTime: new Histogram({
      name: 'switchyard_workload_run_seconds',
      help: 'Run time of Jobs, by outcome: Complete, Failed or Deleted.',
      labelNames: ['cluster_queue', 'outcome'],
      buckets: WAIT_BUCKETS,
      registers,
    }),
    decisionLogDropped: new Counter({
      name: 'switchyard_decision_log_dropped_lines_total',
      help: 'Lines that the decision log misses.',
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
      help: 'Preempted Jobs, by the queue of the preemptor, their own queue, and the rule.',
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
      help: 'Admitted Jobs, and objects of other kinds, that finished, by terminal condition.',
      labelNames: ['cluster_queue', 'result', 'kind'],
      registers,
    }),
  };
}

function metricsOfQueues(registers: Registry[]) {
  return {
    pending: new Gauge({
      name: 'switchyard_pending_workloads',
      help: 'Jobs that wait: active ones will be tried, inadmissible ones wait for a change.',
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
      help: 'What is borrowed, in thousandths of what the cohort could lend, divided by the weight; NaN with weight 0.',
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
      help: 'What a LocalQueue has used over time, divided by its weight: the least goes first.',
      labelNames: ['namespace', 'local_queue', 'cluster_queue'],
      registers,
    }),
  };
}
