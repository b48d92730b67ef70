import { CLUSTER, MANAGER, type Dashboard } from './dashboard.ts';

const OF = 'job=~"$manager", cluster=~"$cluster"';

export const CLUSTERS: Dashboard = {
  uid: 'switchyard-clusters',
  title: 'Clusters',
  about: 'Each worker cluster: whether it is reached, what runs there, and how fast what happens there comes home.',
  variables: [MANAGER, CLUSTER],
  rows: [
    {
      title: 'State',
      panels: [
        {
          title: 'Ready',
          about: '1 where Jobs are placed.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `max by (cluster) (switchyard_cluster_ready{${OF}})`, legend: '{{cluster}}' }],
        },
        {
          title: 'Conditions',
          about: 'Reachable, Synced, Able, Ready, WorkerAlive of the WorkerCluster: 1 where True.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `max by (cluster, condition) (switchyard_cluster_condition{${OF}})`, legend: '{{cluster}} {{condition}}' }],
        },
      ],
    },
    {
      title: 'Work',
      panels: [
        {
          title: 'Copies',
          about: 'Jobs that are on the cluster.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `sum by (cluster) (switchyard_remote_copies{${OF}})`, legend: '{{cluster}}' }],
        },
        {
          title: 'Dispatched a second',
          about: 'Copies created.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            { expr: `sum by (cluster) (rate(switchyard_dispatched_workloads_total{${OF}}[$__rate_interval]))`, legend: '{{cluster}}' },
          ],
        },
      ],
    },
    {
      title: 'Speed',
      panels: [
        {
          title: 'From admission to copy',
          about: 'The 95th percentile.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (cluster, le) (rate(switchyard_dispatch_duration_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '{{cluster}}',
            },
          ],
        },
        {
          title: 'Status lag',
          about: 'From a change of the copy to the write at home, the 99th percentile. An alert fires at 30 s.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (cluster, le) (rate(switchyard_status_lag_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '{{cluster}}',
            },
          ],
        },
        {
          title: 'Calls a second',
          about: 'Of the manager to the API servers; home is its own.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (cluster) (rate(rest_client_requests_total{job=~"$manager"}[$__rate_interval]))',
              legend: '{{cluster}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Queues and watches',
      panels: [
        {
          title: 'Depth of the work queues',
          about:
            'Copies that wait for a write, and those of which it is asked why they do not start. What grows without end is not worked off.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `sum by (cluster, name) (workqueue_depth{${OF}})`, legend: '{{cluster}} {{name}}' }],
        },
        {
          title: 'Wait in the work queues',
          about: 'The 99th percentile. One slow cluster delays its own alone.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (cluster, le) (rate(workqueue_queue_duration_seconds_bucket{${OF}, name="copies"}[$__rate_interval])))`,
              legend: '{{cluster}}',
            },
          ],
        },
        {
          title: 'Watches opened anew a second',
          about: 'Each is after four to eight minutes. Much more: they break, by a proxy that has less patience, for example.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (cluster, resource) (rate(switchyard_watch_restarts_total{${OF}}[$__rate_interval]))`,
              legend: '{{cluster}} {{resource}}',
            },
          ],
        },
      ],
    },
  ],
};
