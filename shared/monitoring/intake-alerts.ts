import type { Alert } from './alert.ts';

/** Submissions, the Redis that carries them, and the webhook that new Jobs pass. */
export const INTAKE_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardSubmissionBacklog',
    program: 'manager',
    severity: 'warning',
    for: '10m',
    thresholds: { seconds: 300, window: '10m' },
    // By Little's law: how long the last one will have waited, at the pace at which they are taken up. Where none is, that is for ever.
    expr: [
      'sum by (queue) (switchyard_submission_queue_backlog{job=~"$job"})',
      '/ sum by (queue) (rate(switchyard_submission_queue_submissions_total{job=~"$job"}[$window])) > $seconds',
    ].join(' '),
    summary: 'submissions of {{ $labels.queue }} are not taken up',
    description:
      '{{ with printf "sum(switchyard_submission_queue_backlog{queue=\'%s\'})" $labels.queue | query }}{{ . | first | value }}{{ end }} submissions of {{ $labels.queue }} wait, and at the pace of the last $window it takes longer than $seconds s until they are taken up ({{ $value | humanizeDuration }}).',
  },
  {
    name: 'SwitchyardSubmissionPoison',
    program: 'manager',
    severity: 'warning',
    for: '5m',
    thresholds: { submissions: 10, window: '1h' },
    // Prometheus extrapolates: of ten it makes ten and a bit.
    expr: 'round(sum by (queue) (increase(switchyard_submission_queue_submissions_total{job=~"$job", result="refused"}[$window]))) > $submissions',
    summary: 'submissions of {{ $labels.queue }} can never become Jobs',
    description:
      'About {{ $value | printf "%.0f" }} submissions of {{ $labels.queue }} were refused for good in the last $window ($submissions are tolerated): what they say can never become a Job.',
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
    name: 'SwitchyardRedisMemory',
    program: 'manager',
    severity: 'warning',
    for: '10m',
    thresholds: { ratio: 0.9, hours: 4, window: '1h' },
    expr: [
      'max by (server) (switchyard_redis_memory_bytes{job=~"$job"} / (switchyard_redis_memory_max_bytes{job=~"$job"} > 0)) > $ratio',
      // Half full, and at this pace full before somebody has looked. A restart makes a slope, too, for as long as the window.
      'or (max by (server) (switchyard_redis_memory_bytes{job=~"$job"} / (switchyard_redis_memory_max_bytes{job=~"$job"} > 0)) > 0.5',
      'and on (server) max by (server) (predict_linear(switchyard_redis_memory_bytes{job=~"$job"}[$window], $hours * 3600)) > on (server) max by (server) (switchyard_redis_memory_max_bytes{job=~"$job"}))',
    ].join(' '),
    summary: 'the memory of Redis is nearly full',
    description:
      'Redis {{ $labels.server }} uses {{ $value | humanizePercentage }} of the memory that it may use: more than $ratio of it, or at the pace of the last $window all of it in $hours hours. Then it takes no more submissions, and with another policy than noeviction it forgets some.',
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
