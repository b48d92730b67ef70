import { MANAGER, type Dashboard } from './dashboard.ts';

const OF = 'job=~"$manager"';

export const INTAKE: Dashboard = {
  uid: 'switchyard-intake',
  title: 'Intake',
  about: 'How Jobs come in: submissions, Redis, the webhook.',
  variables: [MANAGER],
  rows: [
    {
      title: 'Submissions',
      panels: [
        {
          title: 'Submissions a second',
          about: 'Taken from the queues, by result.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [{ expr: `sum by (result) (rate(switchyard_submissions_total{${OF}}[$__rate_interval]))`, legend: '{{result}}' }],
        },
        {
          title: 'Backlog',
          about: 'Submissions in Redis that nobody has taken up yet, by queue.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `sum by (queue) (switchyard_submission_queue_backlog{${OF}})`, legend: '{{queue}}' }],
        },
        {
          title: 'Outcomes',
          about: 'Told to submitters since the start, by result.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `sum by (result) (switchyard_submission_outcomes_total{${OF}})`, legend: '{{result}}' }],
        },
        {
          title: 'From submission to Job',
          about: 'From taking it up until the Job is made, the 95th percentile.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (le) (rate(switchyard_submission_duration_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '0.95',
            },
          ],
        },
      ],
    },
    {
      title: 'Redis and webhook',
      panels: [
        {
          title: 'Redis',
          about: 'up: it takes writes. durable: it keeps what it takes. Each manager looks for itself; the worst is shown.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            { expr: `min(switchyard_redis_up{${OF}})`, legend: 'up' },
            { expr: `min(switchyard_redis_durable{${OF}})`, legend: 'durable' },
          ],
        },
        {
          title: 'Memory of Redis',
          about: 'Used, and what it may use, where there is a limit: full, it takes nothing more. An alert fires at nine tenths.',
          kind: 'timeseries',
          unit: 'bytes',
          queries: [
            { expr: `max by (server) (switchyard_redis_memory_bytes{${OF}})`, legend: '{{server}} used' },
            { expr: `max by (server) (switchyard_redis_memory_max_bytes{${OF}})`, legend: '{{server}} may use' },
          ],
        },
        {
          title: 'Troubles of Redis',
          about: '1 for each that it is in.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `max by (reason) (switchyard_redis_trouble{${OF}})`, legend: '{{reason}}' }],
        },
        {
          title: 'Webhook requests a second',
          about: 'By outcome. Errors are writes that nobody could judge.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (webhook, outcome) (rate(switchyard_webhook_requests_total{${OF}}[$__rate_interval]))`,
              legend: '{{webhook}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Time of the webhook',
          about: 'The 99th percentile; the API server waits for it.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (le) (rate(switchyard_webhook_duration_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '0.99',
            },
          ],
        },
      ],
    },
    {
      title: 'What is kept',
      panels: [
        {
          title: 'Ledger of submissions',
          about: 'Keys that are remembered.',
          kind: 'timeseries',
          unit: 'short',
          queries: [{ expr: `max(switchyard_submission_ledger_entries{${OF}})`, legend: 'entries' }],
        },
        {
          title: 'For how long',
          about: 'Keys are remembered: seven days, less where there are too many.',
          kind: 'timeseries',
          unit: 's',
          queries: [{ expr: `max(switchyard_submission_ledger_horizon_seconds{${OF}})`, legend: 'horizon' }],
        },
        {
          title: 'History a second',
          about: 'Entries of history that were written, and dropped.',
          kind: 'timeseries',
          unit: 'ops',
          queries: [{ expr: `sum by (result) (rate(switchyard_history_entries_total{${OF}}[$__rate_interval]))`, legend: '{{result}}' }],
        },
      ],
    },
  ],
};
