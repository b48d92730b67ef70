import type { Situation } from '../support/promtool.ts';
import { canaries, healthy, ofManager, ofStandby, quiet, syncs, tokenEnds, tracked, violations, without } from './alert-world.ts';

const dropped = ofManager('switchyard_history_entries_total', 'result="dropped"');
const notAfter = ofManager('switchyard_certificate_not_after_seconds', 'certificate="webhook"');

export const PROGRAM_SITUATIONS: readonly Situation[] = [
  {
    name: 'both managers stand by',
    series: healthy({ [ofManager('switchyard_leader')]: '1x9 0x120' }),
    at: '15m',
    fires: [
      {
        alert: 'SwitchyardNoLeader',
        summary: 'no manager leads',
        description:
          'For 2m no manager has been leading, or none is scraped. Nothing is admitted and nothing dispatched, and after their fence the workers stop the Jobs that run.',
      },
    ],
  },
  {
    name: 'no manager is there at all',
    series: without(healthy(), /job="switchyard-manager"|controller_name/),
    at: '15m',
    fires: [
      {
        alert: 'SwitchyardNoLeader',
        summary: 'no manager leads',
        description:
          'For 2m no manager has been leading, or none is scraped. Nothing is admitted and nothing dispatched, and after their fence the workers stop the Jobs that run.',
      },
    ],
  },
  quiet(
    'one manager goes, and the other takes over',
    healthy({ [ofManager('switchyard_leader')]: '1x9 _x120', [ofStandby('switchyard_leader')]: '0x10 1x120' }),
    '11m',
  ),
  {
    name: 'two managers take the lead from each other every few minutes',
    series: healthy({
      [ofManager('switchyard_leader')]: `${'1x4 0x4 '.repeat(12)}`.trim(),
      [ofStandby('switchyard_leader')]: `${'0x4 1x4 '.repeat(12)}`.trim(),
    }),
    at: '75m',
    fires: [
      {
        alert: 'SwitchyardLeaderFlapping',
        summary: 'managers take turns at leading',
        description:
          'Managers began or ceased to lead 24 times in the last 1h (6 are tolerated). Each time everything is listed anew, and nothing is admitted meanwhile.',
      },
    ],
  },
  quiet(
    'both managers are updated, one after the other',
    healthy({ [ofManager('switchyard_leader')]: '1x30 0x1 1x120', [ofStandby('switchyard_leader')]: '0x30 1x1 0x120' }),
    '40m',
  ),
  {
    name: 'the store of history is too slow',
    series: healthy({ [dropped]: '0x9 0+4x120' }),
    at: '40m',
    fires: [
      {
        alert: 'SwitchyardHistoryDropping',
        summary: 'what became of Jobs is not kept',
        description:
          'About 60 entries of history (records, exit codes, ends of logs) were dropped in the last 15m, because the store took too long.',
      },
    ],
  },
  {
    name: 'an administrator passes by the rules',
    series: healthy({ [ofManager('switchyard_job_overrides_total')]: '0x9 1x120' }),
    at: '20m',
    fires: [
      {
        alert: 'SwitchyardJobOverridden',
        summary: 'somebody passed by the rules of who may write what',
        description:
          'About 1 writes of Jobs in the last 1h came from the field manager switchyard-override, which neither the webhook nor the admission policies judge. Events Overridden of the Jobs name the users.',
      },
    ],
  },
  quiet('some entries of history were dropped an hour ago', healthy({ [dropped]: '0x9 5x170' }), '70m'),
  {
    name: 'every fifth sync of Jobs on one cluster fails',
    series: healthy({ [syncs('success', 'west')]: '0+40x180', [syncs('error', 'west')]: '0+10x180' }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardSyncErrors',
        labels: { cluster: 'west' },
        summary: 'the Job controller fails at 20% of its syncs',
        description:
          '20% of the syncs of Jobs on this cluster ended in an error for 15m (0.1 is the limit). They are tried again, ever more rarely: pods are made, counted and removed late or not at all.',
      },
    ],
  },
  quiet('conflicts have some syncs tried again', healthy({ [syncs('error', 'west')]: '0+4x180' }), '60m'),
  {
    name: 'three ended pods keep their finalizer',
    series: healthy({ [tracked('add', 'west')]: '3x180', [tracked('delete', 'west')]: '0x180' }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardFinalizersLeft',
        labels: { cluster: 'west' },
        summary: 'ended pods keep their finalizer',
        description:
          '3 pods that have ended still have the finalizer batch.kubernetes.io/job-tracking: they stay, and their Jobs may not end. For 15m they have taken longer than 60 s on average, or their Jobs are gone.',
      },
    ],
  },
  {
    name: 'a pod is kept by the finalizer, and its Job is gone',
    series: healthy({ [violations('no_finalizers_left', 'west')]: '0x9 1x120' }),
    at: '40m',
    fires: [
      {
        alert: 'SwitchyardFinalizersLeft',
        labels: { cluster: 'west' },
        summary: 'ended pods keep their finalizer',
        description:
          '1 pods that have ended still have the finalizer batch.kubernetes.io/job-tracking: they stay, and their Jobs may not end. For 15m they have taken longer than 60 s on average, or their Jobs are gone.',
      },
    ],
  },
  {
    name: 'two copies of one Job have pods',
    series: healthy({ [violations('one_copy_runs')]: '0x9 1x120' }),
    at: '20m',
    fires: [
      {
        alert: 'SwitchyardInvariantViolated',
        labels: { invariant: 'one_copy_runs' },
        summary: 'a promise is broken: one_copy_runs',
        description:
          '1 violations of one_copy_runs are there for longer than anything in flight takes, and for 1m more. It is a bug of Switchyard, or somebody meddles.',
      },
    ],
  },
  {
    name: 'pods of four Jobs request more than they are charged for',
    series: healthy({ [violations('quota_covers_pods')]: '0x9 4x120' }),
    at: '20m',
    fires: [
      {
        alert: 'SwitchyardQuotaAndRealityApart',
        summary: 'more runs than quota is charged for',
        description:
          'What the pods of 4 Jobs request is more than what is charged for these Jobs, for longer than anything in flight takes and for 1m more: the quota of their ClusterQueues does not hold.',
      },
    ],
  },
  quiet(
    'hundreds of pods end at any moment, and each is counted within a second',
    healthy({ [tracked('add', 'west')]: '300+6000x180', [tracked('delete', 'west')]: '0+6000x180' }),
    '60m',
  ),
  quiet(
    'a worker starts anew',
    healthy({ [tracked('add', 'west')]: '1+10x50 0+10x120', [tracked('delete', 'west')]: '0+10x50 0+10x120' }),
    '70m',
  ),
  {
    name: 'a certificate that should have been renewed is not',
    series: healthy({ [notAfter]: '518400x180' }),
    at: '60m',
    fires: [
      {
        alert: 'SwitchyardCertificateExpiring',
        labels: { certificate: 'webhook' },
        summary: 'the certificate webhook ends soon',
        description:
          'The certificate webhook ends in 5d 23h 0m 0s; it should have been renewed more than 7 days before. After that the API server does not trust the webhook.',
      },
    ],
  },
  {
    name: 'the token for a cluster was not renewed',
    series: healthy({ [tokenEnds]: '12000x180' }),
    at: '20m',
    fires: [
      {
        alert: 'SwitchyardTokenExpiring',
        labels: { cluster: 'west' },
        summary: 'the manager will soon not be let into cluster west',
        description:
          'The token by which the manager reaches worker cluster west ends in 3h 0m 0s; it should have been renewed more than 4 hours before. After that the cluster counts as lost.',
      },
    ],
  },
  quiet('tokens do not say when they end', without(healthy(), /token_expires/), '20m'),
  {
    name: 'canaries do not come back from a cluster',
    series: healthy({ [canaries('complete')]: '0+0.2x15 3x160', [canaries('timeout')]: '0x15 0+0.2x160' }),
    at: '70m',
    fires: [
      {
        alert: 'SwitchyardCanaryFailing',
        labels: { cluster: 'west' },
        summary: 'Jobs do not come through cluster west',
        description: 'About 6 canaries through worker cluster west failed in the last 30m, more than 1, and none came through.',
      },
    ],
  },
  quiet('one canary of many was lost', healthy({ [canaries('failed')]: '0x30 1x150' }), '50m'),
  quiet(
    'the queue of canaries is full, and a cluster is cordoned',
    healthy({ [canaries('complete')]: '3x180', [canaries('not_admitted')]: '0+0.1x180', [canaries('withdrawn')]: '0+0.1x180' }),
    '70m',
  ),
];
