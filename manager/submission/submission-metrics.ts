import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WorkqueueMeters } from '../../shared/kube/workqueue-metrics.ts';
import { LATENCY_BUCKETS } from '../../shared/runtime/latency-buckets.ts';
import { fromZero } from '../../shared/runtime/zero-series.ts';

export type SubmissionMetrics = ReturnType<typeof createSubmissionMetrics> & { readonly workqueues: WorkqueueMeters };

/** Registers the metrics of submissions. Call once for a registry: a second time throws. */
export function createSubmissionMetrics(registers: Registry[]) {
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
      help: 'Jobs that ended and name a submission without the seal of the manager.',
      registers,
    }),
    queueSubmissions: new Counter({
      name: 'switchyard_submission_queue_submissions_total',
      help: 'Submissions by queue (namespace/name, or shared) and result: accepted, refused or failed (tried again).',
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
      help: 'Failed submissions that are kept in Redis.',
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
      help: 'Time that submissions waited for their turn.',
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
