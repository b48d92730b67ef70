import type { Situation } from '../support/promtool.ts';
import { admitted, fresh, headWaits, healthy, leftToUs, nominal, pending, quiet, usage, waitsFor, without } from './alert-world.ts';

const NOTHING_ADMITTED = { [admitted()]: '7x180', [fresh]: '7x180' };

export const QUEUE_SITUATIONS: readonly Situation[] = [
  {
    name: 'Jobs are left to a manager that sees none of them',
    series: healthy({ ...NOTHING_ADMITTED, [pending()]: '0x180', [leftToUs]: '0+2x180' }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardJobsUnmanaged',
        summary: 'Jobs are left to Switchyard, and Switchyard does not see them',
        description:
          'The Job controller of the manager cluster left about 30 Jobs to switchyard.dev/manager in the last 15m. For 20m the manager has admitted none, and none waits in a queue: nobody looks after them.',
      },
    ],
  },
  quiet('all queues are full, and Jobs go on coming', healthy({ ...NOTHING_ADMITTED, [usage()]: '4x180', [pending()]: '0+2x180' }), '60m'),
  quiet(
    'the Job controller of an idle installation starts anew, and counts all Jobs that there are',
    healthy({ ...NOTHING_ADMITTED, [pending()]: '0x180', [leftToUs]: '5000x30 4000x150' }),
    '60m',
  ),
  quiet(
    'Jobs of other controllers come and go where Switchyard is idle',
    {
      ...healthy({ ...NOTHING_ADMITTED, [pending()]: '0x180', [leftToUs]: '0x180' }),
      'job_controller_jobs_by_external_controller_total{job="kube-controller-manager",controller_name="kueue.x-k8s.io/multikueue"}':
        '0+2x180',
    },
    '60m',
  ),
  {
    name: 'a queue has room, and admits nothing',
    series: healthy({ ...NOTHING_ADMITTED, [usage()]: '1x180', [headWaits()]: '0+60x180', [pending()]: '5x180' }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardQueueStuck',
        labels: { cluster_queue: 'batch' },
        summary: 'ClusterQueue batch has room, and admits nothing',
        description:
          'The first Job of ClusterQueue batch has waited for 1h 0m 0s (1800 s is the limit), nothing of the queue was admitted in the last 30m, and not even 0.5 of any of its quota is in use.',
      },
    ],
  },
  quiet('a queue is full, and long Jobs run', healthy({ ...NOTHING_ADMITTED, [usage()]: '4x180', [headWaits()]: '0+60x180' }), '60m'),
  quiet(
    'a queue has no room in one resource, and much in the other',
    healthy({ ...NOTHING_ADMITTED, [usage()]: '0x180', [usage('batch', 'memory')]: '4x180', [headWaits()]: '0+60x180' }),
    '60m',
  ),
  quiet(
    'a queue without quota has Jobs',
    healthy({
      ...NOTHING_ADMITTED,
      [usage()]: '0x180',
      [nominal()]: '0x180',
      [usage('batch', 'memory')]: '0x180',
      [nominal('batch', 'memory')]: '0x180',
      [headWaits()]: '0+60x180',
    }),
    '60m',
  ),
  quiet(
    'the first of a queue has waited for an hour while others of it go',
    healthy({ [usage()]: '1x180', [headWaits()]: '0+60x180' }),
    '60m',
  ),
  {
    name: 'the first Job of one queue waits for hours while those of another go',
    series: {
      ...healthy({ [headWaits('big')]: '20700+60x180' }),
      [usage('big')]: '4x180',
      [nominal('big')]: '4x180',
      [waitsFor('InsufficientQuota', 'big')]: '1x180',
    },
    at: '75m',
    fires: [
      {
        alert: 'SwitchyardQueueStarving',
        labels: { cluster_queue: 'big' },
        summary: 'the first Job of ClusterQueue big waits while others go',
        description:
          'The first Job of ClusterQueue big has waited for 7h 0m 0s (21600 s is the limit), while other Jobs were admitted in the last 1h.',
      },
    ],
  },
  quiet(
    'everybody waits for hours behind Jobs that run for a day',
    healthy({ ...NOTHING_ADMITTED, [usage()]: '4x180', [headWaits()]: '20700+60x180' }),
  ),
  quiet('there are no queues yet', without(healthy({ [leftToUs]: '0x180' }), /cluster_queue=/)),
  quiet(
    'all that waits in a queue asks for more than the queue could ever give, or the queue is stopped',
    healthy({
      ...NOTHING_ADMITTED,
      [usage()]: '1x180',
      [headWaits()]: '20700+60x180',
      [waitsFor('InsufficientQuota')]: '0x180',
      [waitsFor('ExceedsQuota')]: '2x180',
      [waitsFor('QueueStopped')]: '3x180',
    }),
    '60m',
  ),
];
