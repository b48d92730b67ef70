import type { Situation } from '../support/promtool.ts';
import { backlog, evicted, fresh, healthy, quiet, redisMemory, redisTrouble, takenUp, webhook, without } from './alert-world.ts';

export const INTAKE_SITUATIONS: readonly Situation[] = [
  {
    name: 'submissions lie in Redis, and nobody takes them up',
    series: healthy({ [backlog]: '0+2x180', [takenUp('accepted')]: '70x180' }),
    at: '40m',
    fires: [
      {
        alert: 'SwitchyardSubmissionBacklog',
        labels: { queue: 'team/main' },
        summary: 'submissions of team/main are not taken up',
        description:
          '80 submissions of team/main wait, and at the pace of the last 10m it takes longer than 300 s until they are taken up (+Inf).',
      },
    ],
  },
  {
    name: 'more is submitted than can be made Jobs of',
    series: healthy({ [backlog]: '0+30x180', [takenUp('accepted')]: '0+60x180' }),
    at: '40m',
    fires: [
      {
        alert: 'SwitchyardSubmissionBacklog',
        labels: { queue: 'team/main' },
        summary: 'submissions of team/main are not taken up',
        description:
          '1200 submissions of team/main wait, and at the pace of the last 10m it takes longer than 300 s until they are taken up (20m 0s).',
      },
    ],
  },
  quiet(
    'thousands of submissions wait, and are worked off in two minutes',
    healthy({ [backlog]: '2000x180', [takenUp('accepted')]: '0+1000x180' }),
    '40m',
  ),
  quiet('nobody submits anything', healthy({ [backlog]: '0x180', [takenUp('accepted')]: '7x180' }), '40m'),
  {
    name: 'a submitter goes on submitting what can never become a Job',
    series: healthy({ [takenUp('refused')]: '0x20 0+1x120' }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardSubmissionPoison',
        labels: { queue: 'team/main' },
        summary: 'submissions of team/main can never become Jobs',
        description:
          'About 39 submissions of team/main were refused for good in the last 1h (10 are tolerated): what they say can never become a Job.',
      },
    ],
  },
  quiet('a few submissions were refused', healthy({ [takenUp('refused')]: '0x20 0+1x5 5x120' }), '60m'),
  {
    name: 'Redis wants another password',
    series: healthy({ [redisTrouble('Unauthenticated')]: '0x9 1x120' }),
    at: '15m',
    fires: [
      {
        alert: 'SwitchyardRedisUnreachable',
        labels: { reason: 'Unauthenticated' },
        summary: 'no submissions are taken: Redis is Unauthenticated',
        description:
          'For 2m the manager could not write to the Redis that carries submissions (Unauthenticated). Nothing is taken up, and submitters are told nothing; what is already a Job runs on.',
      },
    ],
  },
  quiet('Redis starts anew, and reads its data for a minute', healthy({ [redisTrouble('Loading')]: '0x9 1 0x120' }), '11m'),
  {
    name: 'Redis keeps nothing on disk',
    series: healthy({ [redisTrouble('NotDurable')]: '1x180' }),
    at: '30m',
    fires: [
      {
        alert: 'SwitchyardRedisNotDurable',
        labels: { reason: 'NotDurable' },
        summary: 'Redis may forget submissions: NotDurable',
        description:
          'For 10m the Redis that carries submissions has been NotDurable: what it has acknowledged may be gone after a restart, or when its memory runs short. A submission that was not yet made a Job is then lost.',
      },
    ],
  },
  {
    name: 'what is kept in Redis fills its memory',
    series: healthy({ [redisMemory('bytes')]: '880+1x90' }),
    at: '80m',
    fires: [
      {
        alert: 'SwitchyardRedisMemory',
        labels: { server: 'redis:6379' },
        summary: 'the memory of Redis is nearly full',
        description:
          'Redis redis:6379 uses 96% of the memory that it may use: more than 0.9 of it, or at the pace of the last 1h all of it in 4 hours. Then it takes no more submissions, and with another policy than noeviction it forgets some.',
      },
    ],
  },
  quiet('Redis has no limit', without(healthy({ [redisMemory('bytes')]: '700+2000x90' }), /max_bytes/), '80m'),
  {
    name: 'the webhook fails for every second Job',
    series: healthy({ [webhook('allowed')]: '0+5x180', [webhook('refused')]: '0x180', [webhook('error')]: '0+5x180' }),
    at: '30m',
    fires: [
      {
        alert: 'SwitchyardWebhookFailing',
        summary: 'new Jobs are refused because the webhook fails',
        description:
          'The webhook failed for 50% of what the API server asked in the last 5m (0.05 is the limit). With failurePolicy Fail these Jobs are refused; with Ignore they pass unseen.',
      },
    ],
  },
  {
    name: 'the API server does not reach the webhook',
    series: healthy({
      'apiserver_admission_webhook_rejection_count{job="apiserver",name="jobs.switchyard.dev",error_type="calling_webhook_error"}':
        '0+4x180',
      'apiserver_admission_webhook_rejection_count{job="apiserver",name="jobs.switchyard.dev",error_type="no_error"}': '0+3x180',
      'apiserver_admission_webhook_admission_duration_seconds_count{job="apiserver",name="jobs.switchyard.dev",rejected="true"}': '0+7x180',
      'apiserver_admission_webhook_admission_duration_seconds_count{job="apiserver",name="jobs.switchyard.dev",rejected="false"}':
        '0+3x180',
    }),
    at: '30m',
    fires: [
      {
        alert: 'SwitchyardWebhookFailing',
        summary: 'new Jobs are refused because the webhook fails',
        description:
          'The webhook failed for 40% of what the API server asked in the last 5m (0.05 is the limit). With failurePolicy Fail these Jobs are refused; with Ignore they pass unseen.',
      },
    ],
  },
  quiet(
    'the webhook refuses every second Job, as it should',
    healthy({ [webhook('allowed')]: '0+5x180', [webhook('refused')]: '0+5x180' }),
    '30m',
  ),
  quiet('no Job was made for an hour', healthy({ [webhook('allowed')]: '7x180', [webhook('refused')]: '0x180', [fresh]: '9x180' })),
  {
    name: 'new Jobs come in, and the webhook is never asked',
    series: healthy({ [webhook('allowed')]: '0x180', [webhook('refused')]: '0x180' }),
    at: '75m',
    fires: [
      {
        alert: 'SwitchyardWebhookNotCovering',
        summary: 'Jobs come in that no webhook has seen',
        description:
          'About 120 new Jobs were admitted in the last 1h, and the API server asked no manager about any of them: nobody keeps users from writing what is the manager’s.',
      },
    ],
  },
  quiet(
    'Jobs are preempted and come back for hours, and nobody makes new ones',
    healthy({ [webhook('allowed')]: '7x180', [webhook('refused')]: '0x180', [evicted]: '0+2x180' }),
  ),
];
