import { WORKER_CONTROLLER_NAME } from '../shared/api/names.ts';
import {
  bindAddress,
  durationMs,
  FlagError,
  listOf,
  oneOf,
  rate,
  text,
  wholeNumber,
  type FlagTable,
  type FlagValues,
  type Program,
} from '../shared/runtime/flags.ts';
import { LOG_LEVELS, type LogLevel } from '../shared/runtime/pino-logger.ts';
import { WORKER_CONTROLLERS, type WorkerController, type WorkerSettings } from './worker.ts';

/** How one worker runs. Everything comes from flags, or from the environment where a flag is absent. */
export type WorkerConfig = WorkerSettings & {
  /** Absent: where kubectl would look, then the service account of the pod. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Requests a second; 0 means no limit. */
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  /** Absent: this worker is the only one. Without a namespace: the kubeconfig context's. */
  readonly leaderElection: { readonly namespace: string | undefined; readonly name: string } | undefined;
  /** undefined: not served. */
  readonly metricsAddress: string | undefined;
  readonly logLevel: LogLevel;
};

const FLAGS = {
  kubeconfig: {
    value: 'FILE',
    about: 'kubeconfig of the cluster; default: KUBECONFIG, ~/.kube/config, the pod’s service account',
    parse: text,
  },
  context: { value: 'NAME', about: 'context of the kubeconfig; default: its current one', parse: text },
  'controller-name': {
    value: 'NAME',
    fallback: WORKER_CONTROLLER_NAME,
    about:
      'spec.managedBy of the Jobs to run; kubernetes.io/job-controller replaces the built-in controller and takes Jobs without the field, too',
    parse: controllerName,
  },
  controllers: {
    value: 'LIST',
    fallback: 'job',
    about: `controllers to run, separated by commas: ${WORKER_CONTROLLERS.join(', ')}`,
    parse: controllers,
  },
  'concurrent-job-syncs': { value: 'N', fallback: '5', about: 'Jobs worked on at once', parse: wholeNumber(1) },
  'concurrent-ttl-after-finished-syncs': { value: 'N', fallback: '5', about: 'expired Jobs worked on at once', parse: wholeNumber(1) },
  'job-batch-period': {
    value: 'DURATION',
    fallback: '1s',
    about: 'how long events of pods are gathered before their Job is synced',
    parse: durationMs,
  },
  namespace: { value: 'NAME', about: 'the only namespace to look at; default: all', parse: text },
  'kube-api-qps': { value: 'N', fallback: '50', about: 'requests per second to the API server; 0: no limit', parse: rate },
  'kube-api-burst': { value: 'N', fallback: '100', about: 'requests to the API server at once', parse: wholeNumber(1) },
  'leader-elect': { about: 'run several workers, of which one leads' },
  'leader-elect-resource-namespace': {
    value: 'NAME',
    about: 'namespace of the election’s Lease; default: that of the kubeconfig’s context, or the pod’s',
    parse: text,
  },
  'leader-elect-resource-name': { value: 'NAME', fallback: 'switchyard-worker', about: 'name of the election’s Lease', parse: text },
  'metrics-bind-address': {
    value: 'HOST:PORT',
    fallback: '127.0.0.1:0',
    about: '/metrics, /healthz and /readyz; port 0 takes a free one, 0 alone serves nothing',
    parse: (given: string) => (given === '0' ? undefined : bindAddress(given)),
  },
  'log-level': { value: 'LEVEL', fallback: 'info', about: LOG_LEVELS.join(', '), parse: oneOf(LOG_LEVELS) },
} satisfies FlagTable;

export const WORKER_PROGRAM: Program<typeof FLAGS, WorkerConfig> = {
  usage: 'npm run worker --',
  about: 'Runs the Jobs of one cluster: Switchyard’s Job controller.',
  flags: FLAGS,
  configOf,
};

function configOf(flags: FlagValues<typeof FLAGS>): WorkerConfig {
  return {
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    controllerName: flags['controller-name'],
    controllers: flags.controllers,
    concurrentJobSyncs: flags['concurrent-job-syncs'],
    concurrentTtlSyncs: flags['concurrent-ttl-after-finished-syncs'],
    batchPeriodMs: flags['job-batch-period'],
    namespace: flags.namespace ?? '',
    kubeApiQps: flags['kube-api-qps'],
    kubeApiBurst: flags['kube-api-burst'],
    leaderElection: flags['leader-elect']
      ? { namespace: flags['leader-elect-resource-namespace'], name: flags['leader-elect-resource-name'] }
      : undefined,
    metricsAddress: flags['metrics-bind-address'],
    logLevel: flags['log-level'],
  };
}

function controllerName(given: string): string {
  // The rule of the API server for spec.managedBy, which a Job must pass to get here.
  if (/^[a-z0-9.-]+\/[^/].*$/.test(given) && given.length <= 63) return given;
  throw new FlagError(
    `${JSON.stringify(given)} is no value of spec.managedBy; write a domain and a path, such as ${WORKER_CONTROLLER_NAME}`,
  );
}

function controllers(given: string): readonly WorkerController[] {
  const chosen = listOf(WORKER_CONTROLLERS)(given);
  if (chosen.length === 0) throw new FlagError(`names no controller; choose from ${WORKER_CONTROLLERS.join(', ')}`);
  return chosen;
}
