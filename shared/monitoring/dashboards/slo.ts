import { MANAGER, WORKER, type Dashboard, type Panel } from './dashboard.ts';

const OF = 'job=~"$manager"';
const OF_WORKERS = 'job=~"$worker"';

/** Which part of what a histogram has seen in the chosen time was at most `seconds`, which is one of its buckets. */
const within = (title: string, about: string, histogram: string, seconds: number, of = OF): Panel => ({
  title,
  about,
  kind: 'stat',
  unit: 'percentunit',
  queries: [
    {
      expr: `sum(increase(${histogram}_bucket{${of}, le="${seconds}"}[$__range])) / sum(increase(${histogram}_count{${of}}[$__range]))`,
      legend: `within ${seconds} s`,
    },
  ],
});

const quantiles = (title: string, about: string, histogram: string, by: string): Panel => ({
  title,
  about,
  kind: 'timeseries',
  unit: 's',
  queries: [0.5, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (${by}, le) (rate(${histogram}_bucket{${OF}}[$__rate_interval])))`,
    legend: `{{${by}}} ${quantile}`,
  })),
});

export const SLO: Dashboard = {
  uid: 'switchyard-slo',
  title: 'SLO',
  about: 'What is promised of the time that things take, over the time that is chosen above.',
  variables: [MANAGER, WORKER],
  rows: [
    {
      title: 'In the chosen time',
      panels: [
        within(
          'Dispatched in time',
          'Of the Jobs that were admitted, the part whose copy was made within a second.',
          'switchyard_dispatch_duration_seconds',
          1,
        ),
        within(
          'Home in time',
          'Of the changes on worker clusters, the part that stood in the Job at home within five seconds.',
          'switchyard_status_lag_seconds',
          5,
        ),
        within(
          'Cycles in time',
          'Of the scheduling cycles, the part that took at most a tenth of a second.',
          'switchyard_admission_attempt_duration_seconds',
          0.1,
        ),
        within(
          'Syncs in time',
          'Of the syncs of Jobs on worker clusters, the part that took at most 8.192 seconds.',
          'job_controller_job_sync_duration_seconds',
          8.192,
          OF_WORKERS,
        ),
        {
          title: 'Leading',
          about: 'The part of the time in which a manager was leading.',
          kind: 'stat',
          unit: 'percentunit',
          queries: [{ expr: `avg_over_time((max(switchyard_leader{${OF}}) or vector(0))[$__range:])`, legend: 'leading' }],
        },
        {
          title: 'Intake open',
          about: 'The part of the time in which nothing was wrong with Redis that keeps submissions from being taken.',
          kind: 'stat',
          unit: 'percentunit',
          queries: [
            {
              expr: `1 - avg_over_time((max(switchyard_redis_trouble{${OF}, reason!~"NotDurable|Evicting"}))[$__range:])`,
              legend: 'open',
            },
          ],
        },
        {
          title: 'Canaries through',
          about: 'Of the canaries that were admitted, the part that came through, by cluster.',
          kind: 'stat',
          unit: 'percentunit',
          queries: [
            {
              expr: `sum by (cluster) (increase(switchyard_canary_runs_total{${OF}, outcome="complete"}[$__range])) / sum by (cluster) (increase(switchyard_canary_runs_total{${OF}, outcome=~"complete|failed|timeout"}[$__range]))`,
              legend: '{{cluster}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Over time',
      panels: [
        quantiles('Wait for admission', 'Median and 99th percentile.', 'switchyard_admission_wait_time_seconds', 'cluster_queue'),
        quantiles('From admission to copy', 'Median and 99th percentile.', 'switchyard_dispatch_duration_seconds', 'cluster'),
        quantiles('Status lag', 'Median and 99th percentile.', 'switchyard_status_lag_seconds', 'cluster'),
        {
          title: 'Way of canaries',
          about: 'The 99th percentile of each part: queued, admitted, dispatched, started, and finished, which is all of it.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (cluster, stage, le) (rate(switchyard_canary_stage_seconds_bucket{${OF}}[$__rate_interval])))`,
              legend: '{{cluster}} {{stage}}',
            },
          ],
        },
      ],
    },
  ],
};
