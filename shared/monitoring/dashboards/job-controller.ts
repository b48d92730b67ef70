import { WORKER, type Dashboard } from './dashboard.ts';

const OF = 'job=~"$worker"';

export const JOB_CONTROLLER: Dashboard = {
  uid: 'switchyard-job-controller',
  title: 'Job controller',
  about: 'The workers. Their metrics are those of kube-controller-manager, which may be looked at with it, too.',
  variables: [WORKER],
  rows: [
    {
      title: 'Jobs and pods',
      panels: [
        {
          title: 'Jobs finished',
          about: 'By result and reason, since the start.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `sum by (result, reason) (job_controller_jobs_finished_total{${OF}})`, legend: '{{result}} {{reason}}' }],
        },
        {
          title: 'Pods finished a second',
          about: 'That are counted in a status.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            { expr: `sum by (result) (rate(job_controller_job_pods_finished_total{${OF}}[$__rate_interval]))`, legend: '{{result}}' },
          ],
        },
        {
          title: 'Pods created a second',
          about: 'By reason: new, or in place of one that failed.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (reason, status) (rate(job_controller_job_pods_creation_total{${OF}}[$__rate_interval]))`,
              legend: '{{reason}} {{status}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Syncs',
      panels: [
        {
          title: 'Syncs a second',
          about: 'By result.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [{ expr: `sum by (result) (rate(job_controller_job_syncs_total{${OF}}[$__rate_interval]))`, legend: '{{result}}' }],
        },
        {
          title: 'Time of a sync',
          about: 'The 99th percentile.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (le) (rate(job_controller_job_sync_duration_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '0.99',
            },
          ],
        },
        {
          title: 'Ended pods with their finalizer',
          about: 'Those that are not counted yet. A few while much ends; more over a long time are stuck.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `sum by (instance) (job_controller_terminated_pods_tracking_finalizer_total{${OF}, event="add"}) - sum by (instance) (job_controller_terminated_pods_tracking_finalizer_total{${OF}, event="delete"})`,
              legend: '{{instance}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Queues and fence',
      panels: [
        {
          title: 'Depth of the work queues',
          about: 'Jobs that wait for a sync.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `sum by (name) (workqueue_depth{${OF}})`, legend: '{{name}}' }],
        },
        {
          title: 'Wait in the work queues',
          about: 'The 99th percentile.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (name, le) (rate(workqueue_queue_duration_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '{{name}}',
            },
          ],
        },
        {
          title: 'Fenced',
          about: '1 where the copies of a manager are stopped, because it is out of reach.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `max by (origin, instance) (switchyard_worker_fenced{${OF}})`, legend: '{{instance}} of {{origin}}' }],
        },
      ],
    },
  ],
};
