import type { Alert } from './alert.ts';

/** Submissions, the Redis that carries them, and the webhook that new Jobs pass. */
export const INTAKE_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardSubmissionBacklog',
    program: 'manager',
    severity: 'warning',
    for: '5m',
    thresholds: { seconds: 300 },
    expr: 'max by (namespace, submission_queue) (switchyard_submission_queue_oldest_seconds{job=~"$job"}) > $seconds',
    summary: 'submissions of {{ $labels.namespace }}/{{ $labels.submission_queue }} are not taken up',
    description:
      'The oldest submission of SubmissionQueue {{ $labels.namespace }}/{{ $labels.submission_queue }} that no manager has taken up is {{ $value | humanizeDuration }} old; $seconds s is the limit.',
  },
  {
    name: 'SwitchyardSubmissionPoison',
    program: 'manager',
    severity: 'warning',
    for: '5m',
    thresholds: { submissions: 0 },
    expr: 'max by (namespace, submission_queue) (switchyard_submission_queue_failed{job=~"$job"}) > $submissions',
    summary: 'submissions of {{ $labels.namespace }}/{{ $labels.submission_queue }} can never become Jobs',
    description:
      '{{ $value | printf "%.0f" }} submissions of {{ $labels.namespace }}/{{ $labels.submission_queue }} have failed for good and are kept to be looked at ($submissions is the limit).',
  },
  {
    name: 'SwitchyardRedisUnreachable',
    program: 'manager',
    severity: 'critical',
    for: '2m',
    thresholds: {},
    expr: 'max by (reason) (switchyard_redis_trouble{job=~"$job", reason=~"Unreachable|Unauthenticated|NotAllowed|ReadOnly|Full|Loading|TooOld"}) == 1',
    summary: 'no submissions are taken: Redis is {{ $labels.reason }}',
    description:
      'For $for the manager could not write to the Redis that carries submissions ({{ $labels.reason }}). Nothing is taken up, and submitters are told nothing; what is already a Job runs on.',
  },
  {
    name: 'SwitchyardRedisNotDurable',
    program: 'manager',
    severity: 'warning',
    for: '10m',
    thresholds: {},
    expr: 'max by (reason) (switchyard_redis_trouble{job=~"$job", reason=~"NotDurable|Evicting"}) == 1',
    summary: 'Redis may forget submissions: {{ $labels.reason }}',
    description:
      'For $for the Redis that carries submissions has been {{ $labels.reason }}: what it has acknowledged may be gone after a restart, or when its memory runs short. A submission that was not yet made a Job is then lost.',
  },
  {
    name: 'SwitchyardWebhookFailing',
    program: 'manager',
    severity: 'critical',
    for: '5m',
    thresholds: { ratio: 0.05, window: '5m' },
    expr: [
      '(sum(rate(switchyard_webhook_requests_total{job=~"$job", outcome="error"}[$window])) / sum(rate(switchyard_webhook_requests_total{job=~"$job"}[$window]))) > $ratio',
      // Seen from the API server, where somebody scrapes it: requests that never reached us.
      'or (sum(rate(apiserver_admission_webhook_rejection_count{name="jobs.switchyard.dev", error_type!="no_error"}[$window]))',
      '/ sum(rate(apiserver_admission_webhook_admission_duration_seconds_count{name="jobs.switchyard.dev"}[$window]))) > $ratio',
    ].join(' '),
    summary: 'new Jobs are refused because the webhook fails',
    description:
      'The webhook failed for {{ $value | humanizePercentage }} of what the API server asked in the last $window ($ratio is the limit). With failurePolicy Fail these Jobs are refused; with Ignore they pass unseen.',
  },
  {
    name: 'SwitchyardWebhookNotCovering',
    program: 'manager',
    severity: 'warning',
    for: '15m',
    thresholds: { window: '1h' },
    expr: [
      // Admitted within minutes of their creation, or of an eviction.
      'sum(increase(switchyard_admission_wait_time_seconds_bucket{job=~"$job", le="320"}[$window])) - (sum(increase(switchyard_evicted_workloads_total{job=~"$job"}[$window])) or vector(0)) > 0',
      'unless on () sum(increase(switchyard_webhook_requests_total{job=~"$job"}[$window])) > 0',
    ].join(' '),
    summary: 'Jobs come in that no webhook has seen',
    description:
      'About {{ $value | printf "%.0f" }} new Jobs were admitted in the last $window, and the API server asked no manager about any of them: nobody keeps users from writing what is the manager’s.',
  },
];
