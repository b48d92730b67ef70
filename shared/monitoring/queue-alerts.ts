import type { Alert } from './alert.ts';

/** Reasons for which no operator is woken: the Job, its submitter or whoever stopped the queue has to do something first. */
const OF_THE_JOB =
  'ExceedsQuota|NoMatchingFlavor|QueueStopped|NamespaceNotAllowed|PriorityClassNotFound|PriorityNotAllowed|InvalidJob|ForbiddenByLimitRange|LocalQueueNotFound';
/** Somebody waits for another reason. */
const SOMEBODY_WAITS = `and on (cluster_queue) sum by (cluster_queue) (switchyard_pending_workloads_by_reason{job=~"$job", reason!~"${OF_THE_JOB}"}) > 0`;

/** Jobs that wait, and Jobs of which nobody knows that they wait. */
export const QUEUE_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardJobsUnmanaged',
    program: 'manager',
    severity: 'critical',
    // Longer than the window: a Job controller that starts anew counts all Jobs that there are, and that is over by then.
    for: '20m',
    thresholds: { window: '15m' },
    expr: [
      'sum(increase(job_controller_jobs_by_external_controller_total{controller_name="switchyard.dev/manager"}[$window])) > 0',
      'unless on () (sum(increase(switchyard_admitted_workloads_total{job=~"$job"}[$window])) > 0',
      'or sum(switchyard_pending_workloads{job=~"$job"}) > 0)',
    ].join(' '),
    summary: 'Jobs are left to Switchyard, and Switchyard does not see them',
    description:
      'The Job controller of the manager cluster left about {{ $value | printf "%.0f" }} Jobs to switchyard.dev/manager in the last $window. For $for the manager has admitted none, and none waits in a queue: nobody looks after them.',
  },
  {
    name: 'SwitchyardQueueStuck',
    program: 'manager',
    severity: 'warning',
    for: '15m',
    thresholds: { seconds: 1800, usage: 0.5, window: '30m' },
    expr: [
      'max by (cluster_queue) (switchyard_admission_head_waiting_seconds{job=~"$job"}) > $seconds',
      // Of its fullest resource. Without quota there is no room.
      'and on (cluster_queue) max by (cluster_queue) (switchyard_cluster_queue_resource_usage{job=~"$job"} / (switchyard_cluster_queue_nominal_quota{job=~"$job"} > 0)) < $usage',
      SOMEBODY_WAITS,
      'unless on (cluster_queue) sum by (cluster_queue) (increase(switchyard_admitted_workloads_total{job=~"$job"}[$window])) > 0',
    ].join(' '),
    summary: 'ClusterQueue {{ $labels.cluster_queue }} has room, and admits nothing',
    description:
      'The first Job of ClusterQueue {{ $labels.cluster_queue }} has waited for {{ $value | humanizeDuration }} ($seconds s is the limit), nothing of the queue was admitted in the last $window, and not even $usage of any of its quota is in use.',
  },
  {
    name: 'SwitchyardQueueStarving',
    program: 'manager',
    severity: 'warning',
    for: '15m',
    thresholds: { seconds: 21_600, window: '1h' },
    expr: [
      'max by (cluster_queue) (switchyard_admission_head_waiting_seconds{job=~"$job"}) > $seconds',
      SOMEBODY_WAITS,
      'and on () sum(increase(switchyard_admitted_workloads_total{job=~"$job"}[$window])) > 0',
    ].join(' '),
    summary: 'the first Job of ClusterQueue {{ $labels.cluster_queue }} waits while others go',
    description:
      'The first Job of ClusterQueue {{ $labels.cluster_queue }} has waited for {{ $value | humanizeDuration }} ($seconds s is the limit), while other Jobs were admitted in the last $window.',
  },
];
