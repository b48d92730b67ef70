import { ALERTS } from '../../../shared/monitoring/alerts.ts';

/** Alerts whose cause can be seen in what the manager cluster and Redis show: a check that finds it names the alert, and so its runbook. */
export const SEEN_ALERTS = [
  'SwitchyardJobsUnmanaged',
  'SwitchyardClusterLost',
  'SwitchyardClusterNotAble',
  'SwitchyardQueueStuck',
  'SwitchyardQueueStarving',
  'SwitchyardSubmissionBacklog',
  'SwitchyardWebhookFailing',
  'SwitchyardWebhookNotCovering',
  'SwitchyardNoLeader',
  'SwitchyardLeaderFlapping',
  'SwitchyardFinalizersLeft',
  'SwitchyardCertificateExpiring',
  'SwitchyardTokenExpiring',
  'SwitchyardRedisUnreachable',
  'SwitchyardRedisNotDurable',
  'SwitchyardRedisMemory',
] as const;
export type SeenAlert = (typeof SEEN_ALERTS)[number];

/** Where somebody finds out about the others, of which neither tells. */
export const UNSEEN_ALERTS: Readonly<Record<string, string>> = {
  SwitchyardClusterFenced: 'condition Fenced of the copies, on the worker cluster',
  SwitchyardStatusLag: 'switchyard_status_lag_seconds of the manager',
  SwitchyardSubmissionPoison: 'switchyard_submission_queue_failed of the manager',
  SwitchyardSyncErrors: 'the log of the worker',
  SwitchyardQuotaAndRealityApart: 'switchyard_invariant_violations of the manager',
  SwitchyardInvariantViolated: 'switchyard_invariant_violations of the manager',
  SwitchyardCanaryFailing: 'switchyard_canary_runs_total of the manager',
  SwitchyardJobOverridden: 'Events Overridden of Jobs',
  SwitchyardHistoryDropping: 'the log of the manager',
};

/** What an alert counts as too much, so that this program and Prometheus agree; `fallback` where there is no such alert in this version. */
export function thresholdOf(alert: SeenAlert, threshold: string, fallback: number): number {
  const value = ALERTS.find(({ name }) => name === alert)?.thresholds[threshold];
  return typeof value === 'number' ? value : fallback;
}
