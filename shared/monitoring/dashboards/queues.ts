import { CLUSTER_QUEUE, MANAGER, type Dashboard } from './dashboard.ts';

const OF = 'job=~"$manager", cluster_queue=~"$cluster_queue"';

export const QUEUES: Dashboard = {
  uid: 'switchyard-queues',
  title: 'Queues',
  about: 'Who waits, for what and for how long, and who has the quota.',
  variables: [MANAGER, CLUSTER_QUEUE],
  rows: [
    {
      title: 'Quota',
      panels: [
        {
          title: 'Use of nominal quota',
          about: 'More than 1 is borrowed from the cohort.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [
            {
              expr: `max by (cluster_queue, flavor, resource) (switchyard_cluster_queue_resource_usage{${OF}} / (switchyard_cluster_queue_nominal_quota{${OF}} > 0))`,
              legend: '{{cluster_queue}} {{flavor}} {{resource}}',
            },
          ],
        },
        {
          title: 'Nominal quota',
          about: 'In base units of the resource.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `max by (cluster_queue, flavor, resource) (switchyard_cluster_queue_nominal_quota{${OF}})`,
              legend: '{{cluster_queue}} {{flavor}} {{resource}}',
            },
          ],
        },
        {
          title: 'Jobs admitted',
          about: 'And not finished.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `max by (cluster_queue) (switchyard_admitted_active_workloads{${OF}})`, legend: '{{cluster_queue}}' }],
        },
      ],
    },
    {
      title: 'Waiting',
      panels: [
        {
          title: 'Waiting',
          about: 'active: will be tried. inadmissible: wait for a change.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            { expr: `max by (cluster_queue, status) (switchyard_pending_workloads{${OF}})`, legend: '{{cluster_queue}} {{status}}' },
          ],
        },
        {
          title: 'Why they wait',
          about: 'By the reason of the condition QuotaReserved; switchyard explain says more of each. Pending: not told yet.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `max by (cluster_queue, reason) (switchyard_pending_workloads_by_reason{${OF}})`,
              legend: '{{cluster_queue}} {{reason}}',
            },
          ],
        },
        {
          title: 'How long the first has waited',
          about: 'Rises without end where a queue is stuck, or starves.',
          kind: 'timeseries',
          unit: 's',
          queries: [{ expr: `max by (cluster_queue) (switchyard_admission_head_waiting_seconds{${OF}})`, legend: '{{cluster_queue}}' }],
        },
      ],
    },
    {
      title: 'Flow',
      panels: [
        {
          title: 'Wait for admission',
          about: 'Of those that were admitted: half of them, and all but one in twenty, waited less.',
          kind: 'timeseries',
          unit: 's',
          queries: [0.5, 0.95].map((quantile) => ({
            expr: `histogram_quantile(${quantile}, sum by (cluster_queue, le) (rate(switchyard_admission_wait_time_seconds_bucket{${OF}}[$__rate_interval])))`,
            legend: `{{cluster_queue}} ${quantile}`,
          })),
        },
        {
          title: 'Run time',
          about: 'From start to end, the median, by outcome.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.5, sum by (cluster_queue, outcome, le) (rate(switchyard_workload_run_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '{{cluster_queue}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Admitted, evicted a second',
          about: 'Evictions beside admissions are work that is done twice.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (cluster_queue) (rate(switchyard_admitted_workloads_total{${OF}}[$__rate_interval]))`,
              legend: '{{cluster_queue}} admitted',
            },
            {
              expr: `sum by (cluster_queue) (rate(switchyard_evicted_workloads_total{${OF}}[$__rate_interval])) or 0 * sum by (cluster_queue) (switchyard_pending_workloads{${OF}})`,
              legend: '{{cluster_queue}} evicted',
            },
          ],
        },
      ],
    },
    {
      title: 'LocalQueues',
      panels: [
        {
          title: 'Waiting, by LocalQueue',
          about: 'Jobs that are not admitted.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: 'max by (namespace, local_queue) (switchyard_local_queue_pending_workloads{job=~"$manager"})',
              legend: '{{namespace}}/{{local_queue}}',
            },
          ],
        },
        {
          title: 'Admitted, by LocalQueue',
          about: 'And not finished.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: 'max by (namespace, local_queue) (switchyard_local_queue_admitted_active_workloads{job=~"$manager"})',
              legend: '{{namespace}}/{{local_queue}}',
            },
          ],
        },
        {
          title: 'LocalQueues without figures',
          about: 'More than 0: there are more of them than --metrics-local-queues-max. They are counted with their ClusterQueues.',
          kind: 'stat',
          unit: 'short',
          queries: [{ expr: 'max(switchyard_local_queues_without_series{job=~"$manager"})', legend: 'without' }],
        },
      ],
    },
  ],
};
