import type { Situation } from '../support/promtool.ts';
import { condition, healthy, lag, ofManager, ofWorker, quiet } from './alert-world.ts';

const notReady = (reason: string): string => ofManager('switchyard_cluster_not_ready', `cluster="west",reason="${reason}"`);

export const CLUSTER_SITUATIONS: readonly Situation[] = [
  {
    name: 'a cluster is out of reach',
    series: healthy({
      [condition('west', 'Reachable')]: '1x9 0x120',
      [condition('west', 'Ready')]: '1x9 0x120',
      [notReady('Unreachable')]: '_x9 1x120',
    }),
    at: '15m',
    fires: [
      {
        alert: 'SwitchyardClusterLost',
        labels: { cluster: 'west' },
        summary: 'cluster west is out of reach',
        description:
          'The API server of worker cluster west has not answered the manager for 3m. 3 Jobs are placed there: the worker stops those that are fenced, and they run elsewhere once the time-out of lost clusters is over.',
      },
    ],
  },
  quiet('a cluster is out of reach for two minutes', healthy({ [condition('west', 'Reachable')]: '1x9 0x1 1x120' }), '12m'),
  quiet(
    'a manager has just started, and has not reached its clusters yet',
    healthy({
      [condition('west', 'Reachable')]: '0x1 1x120',
      [condition('west', 'Ready')]: '0x1 1x120',
      [notReady('Connecting')]: '1x1 _x120',
    }),
    '2m',
  ),
  {
    name: 'a cluster answers, and refuses copies for one reason after another',
    series: healthy({
      [condition('west', 'Able')]: '1x9 0x120',
      [condition('west', 'Ready')]: '1x9 0x120',
      [notReady('Forbidden')]: '_x9 1x2 stale _x120',
      [notReady('NotAble')]: '_x12 1x120',
    }),
    at: '16m',
    fires: [
      {
        alert: 'SwitchyardClusterNotAble',
        labels: { cluster: 'west' },
        summary: 'cluster west answers, and takes no Jobs',
        description:
          'Worker cluster west has not been ready for 5m although its API server answers: NotAble. No Jobs are placed there; what runs there goes on.',
      },
    ],
  },
  quiet('a cluster refused one Job, and the next one shows that it can', healthy({ [notReady('NotAble')]: '_x9 1x2 stale _x120' }), '14m'),
  {
    name: 'a worker has stopped the copies of its manager',
    series: healthy({ [ofWorker('east', 'switchyard_worker_fenced', 'origin="home"')]: '0x9 1x120' }),
    at: '12m',
    fires: [
      {
        alert: 'SwitchyardClusterFenced',
        labels: { origin: 'home', cluster: 'east' },
        summary: 'the worker has stopped the Jobs of manager home',
        description:
          'The manager home has not renewed its Lease on this cluster for longer than the fence allows, so the worker stopped its Jobs here 1m ago or earlier. They go on when the manager is back, or run elsewhere.',
      },
    ],
  },
  {
    name: 'what happens on one of two clusters comes home after more than half a minute',
    series: healthy({
      [lag('west', '0.5')]: '0+10x180',
      [lag('west', '10')]: '0+10x180',
      [lag('west', '60')]: '0+20x180',
    }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardStatusLag',
        labels: { cluster: 'west' },
        summary: 'what happens on cluster west comes home late',
        description:
          'One in a hundred changes of Jobs on worker cluster west took 59s or longer until it stood in the Job on the manager cluster; 30 s is the limit. Submitters are told as late, and quota is given back as late.',
      },
    ],
  },
  quiet('nothing happens on any cluster', healthy(Object.fromEntries(['0.5', '10', '60', '+Inf'].map((le) => [lag('west', le), '7x180'])))),
];
