import { MANAGER, type Dashboard } from './dashboard.ts';

export const OVERVIEW: Dashboard = {
  uid: 'switchyard-overview',
  title: 'Overview',
  about: 'Whether it works, how much it does, and what is to be looked at.',
  variables: [MANAGER],
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Leading managers',
          about: 'One. None: nothing is admitted. Each manager says so of itself.',
          kind: 'stat',
          unit: 'short',
          queries: [{ expr: 'sum(switchyard_leader{job=~"$manager"})', legend: 'leading' }],
        },
        {
          title: 'Clusters ready',
          about: 'Worker clusters on which Jobs are placed.',
          kind: 'stat',
          unit: 'short',
          queries: [
            { expr: 'sum(switchyard_cluster_ready{job=~"$manager"})', legend: 'ready' },
            { expr: 'count(switchyard_cluster_ready{job=~"$manager"})', legend: 'of' },
          ],
        },
        {
          title: 'Jobs waiting',
          about: 'For admission, in all queues.',
          kind: 'stat',
          unit: 'short',
          queries: [{ expr: 'sum(switchyard_pending_workloads{job=~"$manager"})', legend: 'waiting' }],
        },
        {
          title: 'Jobs admitted',
          about: 'And not finished.',
          kind: 'stat',
          unit: 'short',
          queries: [{ expr: 'sum(switchyard_admitted_active_workloads{job=~"$manager"})', legend: 'admitted' }],
        },
        {
          title: 'Jobs finished',
          about: 'Since the manager that leads has started, by outcome.',
          kind: 'stat',
          unit: 'short',
          queries: [{ expr: 'sum by (result) (switchyard_finished_workloads_total{job=~"$manager"})', legend: '{{result}}' }],
        },
        {
          title: 'Alerts',
          about: 'Of Switchyard, that fire.',
          kind: 'stat',
          unit: 'short',
          queries: [{ expr: 'count(ALERTS{alertname=~"Switchyard.*", alertstate="firing"}) or vector(0)', legend: 'firing' }],
        },
      ],
    },
    {
      title: 'Promises',
      panels: [
        {
          title: 'Broken promises',
          about: 'Violations of live invariants, of managers and workers. Anything but 0 is a bug, or somebody who meddles.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: 'max by (invariant) (switchyard_invariant_violations)', legend: '{{invariant}}' }],
        },
        {
          title: 'Looks a second',
          about: 'Whether they hold. None at all means that nobody looks.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [{ expr: 'sum by (invariant) (rate(switchyard_invariant_checks_total[$__rate_interval]))', legend: '{{invariant}}' }],
        },
      ],
    },
    {
      title: 'Flow',
      panels: [
        {
          title: 'Jobs a second',
          about: 'Admitted, dispatched and finished go side by side where nothing piles up.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            { expr: 'sum(rate(switchyard_admitted_workloads_total{job=~"$manager"}[$__rate_interval]))', legend: 'admitted' },
            { expr: 'sum(rate(switchyard_dispatched_workloads_total{job=~"$manager"}[$__rate_interval]))', legend: 'dispatched' },
            { expr: 'sum(rate(switchyard_finished_workloads_total{job=~"$manager"}[$__rate_interval]))', legend: 'finished' },
          ],
        },
        {
          title: 'Waiting, by queue',
          about: 'Jobs that are not admitted.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: 'sum by (cluster_queue) (switchyard_pending_workloads{job=~"$manager"})', legend: '{{cluster_queue}}' }],
        },
        {
          title: 'Copies, by cluster',
          about: 'Jobs that are on a cluster.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: 'sum by (cluster) (switchyard_remote_copies{job=~"$manager"})', legend: '{{cluster}}' }],
        },
      ],
    },
    {
      title: 'Canaries and what is dropped',
      panels: [
        {
          title: 'Canaries a second',
          about: 'Tiny Jobs that are sent through every cluster (--canary-interval), by how they ended. Nothing where they are off.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (cluster, outcome) (rate(switchyard_canary_runs_total{job=~"$manager"}[$__rate_interval]))',
              legend: '{{cluster}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Their way',
          about: 'The median of each part: queued, admitted, dispatched, started, and finished, which is all of it.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: 'histogram_quantile(0.5, sum by (stage, le) (rate(switchyard_canary_stage_seconds_bucket{job=~"$manager"}[$__rate_interval])))',
              legend: '{{stage}}',
            },
          ],
        },
        {
          title: 'Dropped a second',
          about:
            'What could not be kept or told in time: spans of traces, entries of history, Events of the way of Jobs, lines of the decision log.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            { expr: 'sum(rate(switchyard_trace_spans_total{job=~"$manager", result="dropped"}[$__rate_interval]))', legend: 'spans' },
            { expr: 'sum(rate(switchyard_history_entries_total{job=~"$manager", result="dropped"}[$__rate_interval]))', legend: 'history' },
            { expr: 'sum(rate(switchyard_story_events_dropped_total{job=~"$manager"}[$__rate_interval]))', legend: 'Events' },
            { expr: 'sum(rate(switchyard_decision_log_dropped_lines_total{job=~"$manager"}[$__rate_interval]))', legend: 'decisions' },
          ],
        },
      ],
    },
    {
      title: 'The managers',
      panels: [
        {
          title: 'Versions',
          about: 'Programs that run, by version.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: 'count by (job, version) (switchyard_build_info)', legend: '{{job}} {{version}}' }],
        },
        {
          title: 'Processor time',
          about: 'Cores, by manager.',
          kind: 'timeseries',
          unit: 'cores',
          queries: [{ expr: 'rate(process_cpu_seconds_total{job=~"$manager"}[$__rate_interval])', legend: '{{instance}}' }],
        },
        {
          title: 'Memory',
          about: 'Resident, by manager.',
          kind: 'timeseries',
          unit: 'bytes',
          queries: [{ expr: 'process_resident_memory_bytes{job=~"$manager"}', legend: '{{instance}}' }],
        },
        {
          title: 'Depth of the work queues',
          about:
            'Of the manager itself: mirror is what is to be told to Jobs and copies, waiting-jobs what those are to be told that wait.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: 'sum by (name) (workqueue_depth{job=~"$manager", cluster="home"})', legend: '{{name}}' }],
        },
        {
          title: 'Event loop lag',
          about: 'The 99th percentile. More than 0.1 s is felt by everything else.',
          kind: 'timeseries',
          unit: 's',
          queries: [{ expr: 'nodejs_eventloop_lag_p99_seconds{job=~"$manager"}', legend: '{{instance}}' }],
        },
      ],
    },
  ],
};
