import type { Situation } from '../support/promtool.ts';
import { admitted, condition, fresh, healthy, leftToUs, ofManager, ofStandby, pending, quiet, without } from './alert-world.ts';

/** Worlds in which nobody should be woken by whatever alert. */
export const QUIET_SITUATIONS: readonly Situation[] = [
  quiet('Jobs come and go', healthy()),
  quiet(
    'the manager has just started',
    Object.fromEntries(
      Object.keys(healthy()).map((series) => [
        series,
        /switchyard_leader|Reachable|Able|Ready|Alive/.test(series) ? '0x180' : /nominal|not_after/.test(series) ? '7776000x180' : '0x180',
      ]),
    ),
    '1m',
  ),
  quiet('nothing was ever submitted', {
    ...without(
      healthy({ [admitted()]: '0x180', [fresh]: '0x180', [pending()]: '0x180' }),
      /webhook_requests|controller_name|submission_queue/,
    ),
  }),
  quiet(
    'an operator has cordoned a cluster, which stays as well as it is, and nothing is placed there',
    healthy({
      [admitted('batch', 'west')]: '9x180',
      [ofManager('switchyard_remote_copies', 'cluster="west"')]: '0x180',
      [condition('west', 'Ready')]: '1x180',
    }),
  ),
  quiet('there is no Redis', without(healthy(), /redis|submission/)),
  quiet(
    'nobody scrapes Job controller and API server of the manager cluster',
    without(healthy({ [leftToUs]: '0x180' }), /controller_name/),
  ),
  quiet(
    'one manager runs, and takes part in no election',
    without(healthy(), new RegExp(ofStandby('switchyard_leader').replace(/[{}]/g, '\\$&'))),
  ),
  quiet(
    'the programs are scraped by a PodMonitor',
    Object.fromEntries(
      Object.entries(healthy()).map(([series, values]) => [series.replace('job="switchyard-', 'job="switchyard/switchyard-'), values]),
    ),
  ),
];
