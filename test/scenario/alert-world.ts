import type { Situation } from '../support/promtool.ts';

const MANAGER = 'job="switchyard-manager",pod="manager-0"';
const STANDBY = 'job="switchyard-manager",pod="manager-1"';
const worker = (cluster: string): string => `job="switchyard-worker",pod="worker-0",cluster="${cluster}"`;
const CONDITIONS = ['Reachable', 'Synced', 'Able', 'Ready', 'WorkerAlive'];
const REDIS_TROUBLES = ['Unreachable', 'Unauthenticated', 'NotAllowed', 'ReadOnly', 'Full', 'Loading', 'Evicting', 'NotDurable', 'TooOld'];

/** Names of series, as Prometheus scrapes them from a manager that leads, and from the worker of a cluster. */
export const ofManager = (name: string, labels = ''): string => `${name}{${MANAGER}${labels === '' ? '' : `,${labels}`}}`;
export const ofStandby = (name: string, labels = ''): string => `${name}{${STANDBY}${labels === '' ? '' : `,${labels}`}}`;
export const ofWorker = (cluster: string, name: string, labels = ''): string =>
  `${name}{${worker(cluster)}${labels === '' ? '' : `,${labels}`}}`;
export const condition = (cluster: string, type: string): string =>
  ofManager('switchyard_cluster_condition', `cluster="${cluster}",condition="${type}"`);
export const headWaits = (queue = 'batch'): string => ofManager('switchyard_admission_head_waiting_seconds', `cluster_queue="${queue}"`);
export const admitted = (queue = 'batch', cluster = 'east'): string =>
  ofManager('switchyard_admitted_workloads_total', `cluster_queue="${queue}",cluster="${cluster}"`);
export const usage = (queue = 'batch', resource = 'cpu'): string =>
  ofManager('switchyard_cluster_queue_resource_usage', `cluster_queue="${queue}",flavor="default",resource="${resource}"`);
export const nominal = (queue = 'batch', resource = 'cpu'): string =>
  ofManager('switchyard_cluster_queue_nominal_quota', `cluster_queue="${queue}",flavor="default",resource="${resource}"`);
export const pending = (status = 'active', queue = 'batch'): string =>
  ofManager('switchyard_pending_workloads', `cluster_queue="${queue}",status="${status}"`);
export const waitsFor = (reason: string, queue = 'batch'): string =>
  ofManager('switchyard_pending_workloads_by_reason', `cluster_queue="${queue}",reason="${reason}"`);
export const fresh = ofManager('switchyard_admission_wait_time_seconds_bucket', 'cluster_queue="batch",le="320"');
export const evicted = ofManager('switchyard_evicted_workloads_total', 'cluster_queue="batch",reason="Preempted"');
/** Of the Job controller of the manager cluster, whose target is none of ours. */
export const leftToUs =
  'job_controller_jobs_by_external_controller_total{job="kube-controller-manager",controller_name="switchyard.dev/manager"}';
export const webhook = (outcome: string): string =>
  ofManager('switchyard_webhook_requests_total', `webhook="validate",outcome="${outcome}"`);
export const redisTrouble = (reason: string): string => ofManager('switchyard_redis_trouble', `reason="${reason}"`);
/** `bytes` or `max_bytes`. */
export const redisMemory = (what: string): string => ofManager(`switchyard_redis_memory_${what}`, 'server="redis:6379"');
export const syncs = (result: string, cluster = 'east'): string =>
  ofWorker(cluster, 'job_controller_job_syncs_total', `completion_mode="NonIndexed",action="reconciling",result="${result}"`);
export const tracked = (event: string, cluster = 'east'): string =>
  ofWorker(cluster, 'job_controller_terminated_pods_tracking_finalizer_total', `event="${event}"`);
export const lag = (cluster: string, le: string): string =>
  ofManager('switchyard_status_lag_seconds_bucket', `cluster="${cluster}",le="${le}"`);
export const backlog = ofManager('switchyard_submission_queue_backlog', 'queue="team/main"');
export const takenUp = (result: string): string =>
  ofManager('switchyard_submission_queue_submissions_total', `queue="team/main",result="${result}"`);

export const canaries = (outcome: string): string => ofManager('switchyard_canary_runs_total', `cluster="west",outcome="${outcome}"`);
const INVARIANTS = ['one_copy_runs', 'quota_covers_pods', 'record_and_copy_agree', 'no_orphans', 'jobs_managed'];
export const violations = (invariant: string, cluster?: string): string =>
  cluster === undefined
    ? ofManager('switchyard_invariant_violations', `invariant="${invariant}"`)
    : ofWorker(cluster, 'switchyard_invariant_violations', `invariant="${invariant}"`);

export const tokenEnds = ofManager('switchyard_worker_token_expires_seconds', 'cluster="west"');

/** An hour and a half of an installation with two managers, two worker clusters and a queue in which Jobs come and go. */
export function healthy(changes: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const series: Record<string, string> = {
    [ofManager('switchyard_leader')]: '1x90',
    [ofStandby('switchyard_leader')]: '0x90',
    [headWaits()]: '12x90',
    [admitted()]: '0+2x90',
    [usage()]: '3x90',
    [nominal()]: '4x90',
    [usage('batch', 'memory')]: '1x90',
    [nominal('batch', 'memory')]: '4x90',
    [pending()]: '1x90',
    [waitsFor('InsufficientQuota')]: '1x90',
    [pending('inadmissible')]: '0x90',
    [fresh]: '0+2x90',
    [evicted]: '0x90',
    [leftToUs]: '0+2x90',
    [backlog]: '1x90',
    [takenUp('accepted')]: '0+2x90',
    [takenUp('refused')]: '0x90',
    [takenUp('failed')]: '0x90',
    [webhook('allowed')]: '0+5x90',
    [webhook('refused')]: '0+1x90',
    [webhook('error')]: '0x90',
    [ofManager('switchyard_history_entries_total', 'result="written"')]: '0+2x90',
    [ofManager('switchyard_history_entries_total', 'result="dropped"')]: '0x90',
    [redisMemory('bytes')]: '500x90',
    [redisMemory('max_bytes')]: '1000x90',
    [tokenEnds]: '86400x90',
    [canaries('complete')]: '0+0.2x90',
    [ofManager('switchyard_certificate_not_after_seconds', 'certificate="webhook"')]: '7776000x90',
  };
  for (const outcome of ['failed', 'timeout', 'refused', 'not_admitted', 'withdrawn']) series[canaries(outcome)] = '0x90';
  for (const invariant of INVARIANTS) series[violations(invariant)] = '0x90';
  for (const reason of REDIS_TROUBLES) series[redisTrouble(reason)] = '0x90';
  for (const cluster of ['east', 'west']) {
    for (const type of CONDITIONS) series[condition(cluster, type)] = '1x90';
    series[ofManager('switchyard_cluster_ready', `cluster="${cluster}"`)] = '1x90';
    series[ofManager('switchyard_remote_copies', `cluster="${cluster}"`)] = '3x90';
    for (const [le, values] of [
      ['0.5', '0+19x90'],
      ['10', '0+20x90'],
      ['60', '0+20x90'],
      ['+Inf', '0+20x90'],
    ] as const)
      series[lag(cluster, le)] = values;
    series[ofWorker(cluster, 'switchyard_worker_fenced', 'origin="home"')] = '0x90';
    series[violations('no_finalizers_left', cluster)] = '0x90';
    series[syncs('success', cluster)] = '0+50x90';
    series[syncs('error', cluster)] = '0+1x90';
    series[tracked('add', cluster)] = '1+10x90';
    series[tracked('delete', cluster)] = '0+10x90';
  }
  return { ...series, ...changes };
}

export const quiet = (name: string, series: Readonly<Record<string, string>>, at = '45m'): Situation => ({ name, series, at, fires: [] });

/** Without the series that are called so. */
export const without = (series: Readonly<Record<string, string>>, name: RegExp): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(series).filter(([key]) => !name.test(key)));
