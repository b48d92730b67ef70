/**
 * Of each alert how it comes and goes: two hours in which what it judges is just within bounds, two in which it is not, and two in which it
 * is as it was before.
 */
import { canaries, condition, fresh, headWaits, lag, leftToUs, nominal, ofManager, ofWorker, pending } from './alert-world.ts';
import {
  admitted,
  backlog,
  redisMemory,
  redisTrouble,
  syncs,
  takenUp,
  tokenEnds,
  tracked,
  usage,
  violations,
  waitsFor,
  webhook,
} from './alert-world.ts';

export type Course = {
  readonly alert: string;
  /** What is just within bounds. */
  readonly edge: string;
  readonly series: Readonly<Record<string, string>>;
  /** The minute at which that is looked at. */
  readonly edgeAt: number;
};

/** Minutes of each part. */
export const PART = 120;
/** Late in the second and in the third part. */
export const FIRES_AT = 2 * PART - 5;
export const OVER_AT = 3 * PART - 5;
const LATE = PART - 10;
const BEGINS = 100;

/** Samples of a gauge that is so in each of the parts. */
const gauge = (edge: number, wrong: number, well = 0): string => [edge, wrong, well].map((value) => `${value}x${PART - 1}`).join(' ');
/** A counter that rises by so much a minute in each of the parts. */
const counter = (...rates: readonly [number, number, number]): string => {
  const starts = [0, rates[0] * PART, (rates[0] + rates[1]) * PART];
  return rates.map((rate, part) => `${starts[part]}+${rate}x${PART - 1}`).join(' ');
};
/** It is wrong for all minutes of `for` but the last, and then, later, for long. */
const short = (minutes: number, right: number, wrong: number): string =>
  `${right}x${BEGINS - 1} ${wrong}x${minutes - 1} ${right}x${PART - BEGINS - minutes - 1} ${wrong}x${PART - 1} ${right}x${PART - 1}`;
const forAlmost = (alert: string, minutes: number, series: string, [right, wrong]: readonly [number, number] = [0, 1]): Course => ({
  alert,
  edge: `it is so for ${minutes} minutes, and not for a moment longer`,
  series: { [series]: short(minutes, right, wrong) },
  edgeAt: BEGINS + minutes - 1,
});
const atThreshold = (alert: string, edge: string, series: Readonly<Record<string, string>>): Course => ({
  alert,
  edge,
  series,
  edgeAt: LATE,
});

const [used, most] = [redisMemory('bytes'), redisMemory('max_bytes')];

export const COURSES: readonly Course[] = [
  atThreshold('SwitchyardJobsUnmanaged', 'nothing is admitted, and a Job waits', {
    [leftToUs]: counter(2, 2, 2),
    [admitted()]: gauge(7, 7, 7),
    [pending()]: gauge(1, 0, 1),
  }),
  atThreshold('SwitchyardQueueStuck', 'the first has waited for half an hour to the second', {
    [headWaits()]: gauge(1_800, 1_860, 12),
    [usage()]: gauge(1, 1, 1),
    [nominal()]: gauge(4, 4, 4),
    [waitsFor('InsufficientQuota')]: gauge(1, 1, 1),
    [admitted()]: gauge(7, 7, 7),
  }),
  atThreshold('SwitchyardQueueStuck', 'half of its quota is in use', {
    [headWaits()]: gauge(1_860, 1_860, 1_860),
    [usage()]: gauge(2, 1, 2),
    [nominal()]: gauge(4, 4, 4),
    [waitsFor('InsufficientQuota')]: gauge(1, 1, 1),
    [admitted()]: gauge(7, 7, 7),
  }),
  atThreshold('SwitchyardQueueStarving', 'the first has waited for six hours to the second', {
    [headWaits()]: gauge(21_600, 21_660, 12),
    [waitsFor('InsufficientQuota')]: gauge(1, 1, 1),
    [admitted('other')]: counter(2, 2, 2),
  }),
  forAlmost('SwitchyardClusterLost', 3, condition('west', 'Reachable'), [1, 0]),
  forAlmost('SwitchyardClusterNotAble', 5, ofManager('switchyard_cluster_not_ready', 'cluster="west",reason="NotAble"')),
  atThreshold('SwitchyardStatusLag', 'five of a thousand changes take longer than 30 s', {
    [lag('west', '30')]: counter(995, 900, 1_000),
    [lag('west', '60')]: counter(1_000, 1_000, 1_000),
    [lag('west', '+Inf')]: counter(1_000, 1_000, 1_000),
  }),
  forAlmost('SwitchyardClusterFenced', 1, ofWorker('east', 'switchyard_worker_fenced', 'origin="home"')),
  atThreshold('SwitchyardSubmissionBacklog', 'it is worked off in 299 s', {
    [backlog]: gauge(299, 310, 10),
    [takenUp('accepted')]: counter(60, 60, 60),
  }),
  atThreshold('SwitchyardSubmissionPoison', 'ten are refused in the hour, and some scrapes are missing', {
    [takenUp('refused')]: `0x59 10x44 _x6 10x8 11+1x${PART - 1} 130x${PART - 1}`,
  }),
  forAlmost('SwitchyardRedisUnreachable', 2, redisTrouble('Unreachable')),
  forAlmost('SwitchyardRedisNotDurable', 10, redisTrouble('NotDurable')),
  atThreshold('SwitchyardRedisMemory', 'nine tenths are full, and it grows no more', {
    [used]: gauge(900, 910, 100),
    [most]: gauge(1_000, 1_000, 1_000),
  }),
  atThreshold(
    'SwitchyardRedisMemory',
    'it is half full and grows by a tenth of what there is in four hours; then by a seventh in an hour',
    {
      [used]: `500+0.41x${PART - 1} 549+2.4x${PART - 1} 100x${PART - 1}`,
      [most]: gauge(1_000, 1_000, 1_000),
    },
  ),
  atThreshold('SwitchyardWebhookFailing', '49 of a thousand reviews fail', {
    [webhook('allowed')]: counter(951, 940, 1_000),
    [webhook('error')]: counter(49, 60, 0),
  }),
  atThreshold('SwitchyardWebhookNotCovering', 'it is asked three times in the hour', {
    [fresh]: counter(2, 2, 2),
    [webhook('allowed')]: counter(0.05, 0, 1),
  }),
  forAlmost('SwitchyardNoLeader', 2, ofManager('switchyard_leader'), [1, 0]),
  atThreshold('SwitchyardLeaderFlapping', 'the lead changes six times in the hour', {
    [ofManager('switchyard_leader')]: `1x59 0x3 1x3 0x3 1x3 0x3 1x39 ${'0x3 1x3 '.repeat(PART / 8)}1x${PART - 1}`,
  }),
  {
    alert: 'SwitchyardHistoryDropping',
    edge: 'an entry was dropped four minutes ago',
    series: { [ofManager('switchyard_history_entries_total', 'result="dropped"')]: `0x${BEGINS - 1} 1x19 1+1x${PART - 1} 120x${PART - 1}` },
    edgeAt: BEGINS + 4,
  },
  {
    alert: 'SwitchyardJobOverridden',
    edge: 'a Job was overridden this very minute',
    series: { [ofManager('switchyard_job_overrides_total')]: `0x${BEGINS - 1} 1x19 1+1x${PART - 1} 120x${PART - 1}` },
    edgeAt: BEGINS,
  },
  atThreshold('SwitchyardSyncErrors', '99 of a thousand syncs fail', {
    [syncs('success', 'west')]: counter(901, 890, 1_000),
    [syncs('error', 'west')]: counter(99, 110, 0),
  }),
  atThreshold('SwitchyardFinalizersLeft', 'as many keep it as are done with in 59 s', {
    [tracked('delete', 'west')]: counter(60, 60, 60),
    [tracked('add', 'west')]: [59, 70, 10].map((left, part) => `${60 * PART * part + left}+60x${PART - 1}`).join(' '),
  }),
  forAlmost('SwitchyardInvariantViolated', 1, violations('one_copy_runs')),
  forAlmost('SwitchyardQuotaAndRealityApart', 1, violations('quota_covers_pods')),
  atThreshold('SwitchyardCertificateExpiring', 'it ends in seven days to the second', {
    [ofManager('switchyard_certificate_not_after_seconds', 'certificate="webhook"')]: gauge(
      7 * 86_400 + LATE * 60,
      7 * 86_400 + LATE * 60,
      7_776_000,
    ),
  }),
  atThreshold('SwitchyardTokenExpiring', 'it ends in four hours to the second', {
    [tokenEnds]: gauge(4 * 3_600 + LATE * 60, 4 * 3_600 + LATE * 60, 86_400),
  }),
  atThreshold('SwitchyardCanaryFailing', 'one has failed, no other was sent, and some scrapes are missing, which Prometheus makes up for', {
    [canaries('complete')]: gauge(3, 3, 3),
    [canaries('timeout')]: `0x95 1x8 _x6 1x8 2+0.2x${PART - 1} 26x${PART - 1}`,
  }),
  atThreshold('SwitchyardCanaryFailing', 'many fail, and some come through', {
    [canaries('complete')]: counter(0.05, 0, 0.2),
    [canaries('timeout')]: counter(0.2, 0.2, 0),
  }),
];
