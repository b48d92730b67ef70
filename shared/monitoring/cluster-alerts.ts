import type { Alert } from './alert.ts';

/** Worker clusters as the manager sees them, and what their workers say themselves. */
export const CLUSTER_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardClusterLost',
    program: 'manager',
    severity: 'critical',
    for: '3m',
    thresholds: {},
    expr: 'max by (cluster) (switchyard_cluster_condition{job=~"$job", condition="Reachable"}) == 0',
    summary: 'cluster {{ $labels.cluster }} is out of reach',
    description:
      'The API server of worker cluster {{ $labels.cluster }} has not answered the manager for $for. {{ with printf "max(switchyard_remote_copies{cluster=\'%s\'})" $labels.cluster | query }}{{ . | first | value }} Jobs are{{ else }}Nobody knows how many Jobs are{{ end }} placed there: the worker stops those that are fenced, and they run elsewhere once the time-out of lost clusters is over.',
  },
  {
    name: 'SwitchyardClusterNotAble',
    program: 'manager',
    severity: 'warning',
    for: '5m',
    thresholds: {},
    // The reason is asked for in the text: as a label, each change of it would begin the wait anew.
    expr: 'max by (cluster) (switchyard_cluster_not_ready{job=~"$job"}) == 1 unless on (cluster) max by (cluster) (switchyard_cluster_condition{job=~"$job", condition="Reachable"}) == 0',
    summary: 'cluster {{ $labels.cluster }} answers, and takes no Jobs',
    description:
      'Worker cluster {{ $labels.cluster }} has not been ready for $for although its API server answers{{ with printf "switchyard_cluster_not_ready{cluster=\'%s\'} == 1" $labels.cluster | query }}: {{ . | first | label "reason" }}{{ end }}. No Jobs are placed there; what runs there goes on.',
  },
  {
    name: 'SwitchyardStatusLag',
    program: 'manager',
    severity: 'warning',
    for: '10m',
    thresholds: { seconds: 30, window: '10m' },
    expr: 'histogram_quantile(0.99, sum by (cluster, le) (rate(switchyard_status_lag_seconds_bucket{job=~"$job"}[$window]))) > $seconds',
    summary: 'what happens on cluster {{ $labels.cluster }} comes home late',
    description:
      'One in a hundred changes of Jobs on worker cluster {{ $labels.cluster }} took {{ $value | humanizeDuration }} or longer until it stood in the Job on the manager cluster; $seconds s is the limit. Submitters are told as late, and quota is given back as late.',
  },
  {
    name: 'SwitchyardClusterFenced',
    program: 'worker',
    severity: 'critical',
    for: '1m',
    thresholds: {},
    expr: 'max by (origin, cluster) (switchyard_worker_fenced{job=~"$job"}) == 1',
    summary: 'the worker has stopped the Jobs of manager {{ $labels.origin }}',
    description:
      'The manager {{ $labels.origin }} has not renewed its Lease on this cluster for longer than the fence allows, so the worker stopped its Jobs here $for ago or earlier. They go on when the manager is back, or run elsewhere.',
  },
];
