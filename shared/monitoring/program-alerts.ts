import type { Alert } from './alert.ts';

/** Who leads, and whether the programs get done what they begin. */
export const PROGRAM_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardNoLeader',
    program: 'manager',
    severity: 'critical',
    for: '2m',
    thresholds: {},
    expr: '(sum(switchyard_leader{job=~"$job"}) or vector(0)) == 0',
    summary: 'no manager leads',
    description:
      'For $for no manager has been leading, or none is scraped. Nothing is admitted and nothing dispatched, and after their fence the workers stop the Jobs that run.',
  },
  {
    name: 'SwitchyardLeaderFlapping',
    program: 'manager',
    severity: 'warning',
    for: '5m',
    thresholds: { changes: 6, window: '1h' },
    expr: 'sum(changes(switchyard_leader{job=~"$job"}[$window])) > $changes',
    summary: 'managers take turns at leading',
    description:
      'Managers began or ceased to lead {{ $value | printf "%.0f" }} times in the last $window ($changes are tolerated). Each time everything is listed anew, and nothing is admitted meanwhile.',
  },
  {
    name: 'SwitchyardHistoryDropping',
    program: 'manager',
    severity: 'warning',
    for: '5m',
    thresholds: { window: '15m' },
    expr: 'sum(increase(switchyard_history_entries_total{job=~"$job", result="dropped"}[$window])) > 0',
    summary: 'what became of Jobs is not kept',
    description:
      'About {{ $value | printf "%.0f" }} entries of history (records, exit codes, ends of logs) were dropped in the last $window, because the store took too long.',
  },
  {
    name: 'SwitchyardJobOverridden',
    program: 'manager',
    severity: 'warning',
    for: '1m',
    thresholds: { window: '1h' },
    expr: 'sum(increase(switchyard_job_overrides_total{job=~"$job"}[$window])) > 0',
    summary: 'somebody passed by the rules of who may write what',
    description:
      'About {{ $value | printf "%.0f" }} writes of Jobs in the last $window came from the field manager switchyard-override, which neither the webhook nor the admission policies judge. Events Overridden of the Jobs name the users.',
  },
  {
    name: 'SwitchyardSyncErrors',
    program: 'worker',
    severity: 'warning',
    for: '15m',
    thresholds: { ratio: 0.1, window: '10m' },
    expr: [
      // Where one Prometheus looks at several clusters, its targets say which.
      'sum by (cluster) (rate(job_controller_job_syncs_total{job=~"$job", result="error"}[$window]))',
      '/ sum by (cluster) (rate(job_controller_job_syncs_total{job=~"$job"}[$window])) > $ratio',
    ].join(' '),
    summary: 'the Job controller fails at {{ $value | humanizePercentage }} of its syncs',
    description:
      '{{ $value | humanizePercentage }} of the syncs of Jobs on this cluster ended in an error for $for ($ratio is the limit). They are tried again, ever more rarely: pods are made, counted and removed late or not at all.',
  },
  {
    name: 'SwitchyardFinalizersLeft',
    program: 'worker',
    severity: 'warning',
    for: '15m',
    thresholds: { seconds: 60, window: '5m' },
    expr: [
      // By Little's law: as many as this is at work on at once if each took so long.
      '(sum by (cluster) (job_controller_terminated_pods_tracking_finalizer_total{job=~"$job", event="add"})',
      '- sum by (cluster) (job_controller_terminated_pods_tracking_finalizer_total{job=~"$job", event="delete"})',
      '> $seconds * sum by (cluster) (rate(job_controller_terminated_pods_tracking_finalizer_total{job=~"$job", event="delete"}[$window])))',
      // And those whose Job is gone or has ended: nobody will count them any more.
      'or sum by (cluster) (switchyard_invariant_violations{job=~"$job", invariant="no_finalizers_left"}) > 0',
    ].join(' '),
    summary: 'ended pods keep their finalizer',
    description:
      '{{ $value | printf "%.0f" }} pods that have ended still have the finalizer batch.kubernetes.io/job-tracking: they stay, and their Jobs may not end. For $for they have taken longer than $seconds s on average, or their Jobs are gone.',
  },
];
