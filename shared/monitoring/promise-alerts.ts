import type { Alert } from './alert.ts';

/** What Switchyard promises, as it is checked while it runs; and what will stop working on a date. */
export const PROMISE_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardInvariantViolated',
    program: 'manager',
    severity: 'critical',
    // A finding has outlasted everything in flight before it is counted.
    for: '1m',
    thresholds: {},
    expr: 'max by (invariant) (switchyard_invariant_violations{job=~"$job", invariant!="quota_covers_pods"}) > 0',
    summary: 'a promise is broken: {{ $labels.invariant }}',
    description:
      '{{ $value | printf "%.0f" }} violations of {{ $labels.invariant }} are there for longer than anything in flight takes, and for $for more. It is a bug of Switchyard, or somebody meddles.',
  },
  {
    name: 'SwitchyardQuotaAndRealityApart',
    program: 'manager',
    severity: 'warning',
    for: '1m',
    thresholds: {},
    expr: 'max(switchyard_invariant_violations{job=~"$job", invariant="quota_covers_pods"}) > 0',
    summary: 'more runs than quota is charged for',
    description:
      'What the pods of {{ $value | printf "%.0f" }} Jobs request is more than what is charged for these Jobs, for longer than anything in flight takes and for $for more: the quota of their ClusterQueues does not hold.',
  },
  {
    name: 'SwitchyardCertificateExpiring',
    program: 'manager',
    severity: 'critical',
    for: '10m',
    thresholds: { days: 7 },
    expr: 'min by (certificate) (switchyard_certificate_not_after_seconds{job=~"$job"}) - time() < $days * 86400',
    summary: 'the certificate {{ $labels.certificate }} ends soon',
    description:
      'The certificate {{ $labels.certificate }} ends in {{ $value | humanizeDuration }}; it should have been renewed more than $days days before. After that the API server does not trust the webhook.',
  },
  {
    name: 'SwitchyardTokenExpiring',
    program: 'manager',
    severity: 'critical',
    for: '10m',
    thresholds: { hours: 4 },
    expr: 'min by (cluster) (switchyard_worker_token_expires_seconds{job=~"$job"}) - time() < $hours * 3600',
    summary: 'the manager will soon not be let into cluster {{ $labels.cluster }}',
    description:
      'The token by which the manager reaches worker cluster {{ $labels.cluster }} ends in {{ $value | humanizeDuration }}; it should have been renewed more than $hours hours before. After that the cluster counts as lost.',
  },
  {
    name: 'SwitchyardCanaryFailing',
    program: 'manager',
    severity: 'critical',
    for: '5m',
    thresholds: { canaries: 1, window: '30m' },
    expr: [
      // Prometheus extrapolates: of one it makes one and a bit.
      'round(sum by (cluster) (increase(switchyard_canary_runs_total{job=~"$job", outcome=~"failed|timeout|refused"}[$window]))) > $canaries',
      'unless on (cluster) sum by (cluster) (increase(switchyard_canary_runs_total{job=~"$job", outcome="complete"}[$window])) > 0',
    ].join(' '),
    summary: 'Jobs do not come through cluster {{ $labels.cluster }}',
    description:
      'About {{ $value | printf "%.0f" }} canaries through worker cluster {{ $labels.cluster }} failed in the last $window, more than $canaries, and none came through.',
  },
];
