import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  DEFAULT_LEASE_NAMESPACE,
  FORMER_LEASE_NAMESPACE,
  WORKER_CONTROLLER_NAME,
} from '../shared/api/names.ts';
import {
  durationMs,
  FlagError,
  listOf,
  oneOf,
  text,
  wholeNumber,
  type FlagTable,
  type FlagValues,
  type Program,
} from '../shared/runtime/flags.ts';
import { durationOrZero, shaped, type ValueShape } from '../shared/runtime/value-shape.ts';
import { TRACING_FLAGS } from '../shared/runtime/tracing-flags.ts';
import type { LogLevel } from '../shared/runtime/logger.ts';
import {
  burstFlag,
  CONFIG_FILE_FLAGS,
  deniedNamespacesFlag,
  leaderElectionFlags,
  leaderElectionOf,
  LOG_FLAGS,
  metricsFilesOf,
  METRICS_FLAGS,
  qpsFlag,
  type LeaderElectionConfig,
} from '../shared/runtime/program-flags.ts';
import type { CertificateFiles } from '../shared/runtime/serving-certificate.ts';
import type { FenceSettings } from './fence/fence.ts';
import { KEEP_LOGS, type KeepLogs } from './logs/keep-rule.ts';
import { WORKER_CONTROLLERS, type WorkerController, type WorkerSettings } from './worker.ts';

/** How one worker runs. Everything comes from flags, or from the environment where a flag is absent. */
export type WorkerConfig = WorkerSettings &
  FenceSettings & {
    /** Absent: where kubectl would look, then the service account of the pod. */
    readonly kubeconfig: string | undefined;
    readonly context: string | undefined;
    /** Requests a second; 0 means no limit. */
    readonly kubeApiQps: number;
    readonly kubeApiBurst: number;
    /** Of which pods of copies the end of the log is kept, where the Job says nothing; None: of none, whatever Jobs say. */
    readonly keepLogs: KeepLogs;
    readonly logTailBytes: number;
    /** Where traces go, if the flag says it. */
    readonly otlpEndpoint: string | undefined;
    readonly leaderElection: LeaderElectionConfig | undefined;
    /** undefined: not served. */
    readonly metricsAddress: string | undefined;
    /** Whether /metrics asks for a bearer token. */
    readonly metricsAuthentication: boolean;
    /** Undefined: plain HTTP. */
    readonly metricsTls: CertificateFiles | undefined;
    readonly logLevel: LogLevel;
  };

/** Renewals come every ten seconds (the manager's --fence-renew-interval), and one or the other may be late. */
const FENCE_AFTER_MS_MIN = 5_000;

const NAMESPACE: ValueShape = { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };

const FLAGS = {
  ...CONFIG_FILE_FLAGS,
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
    parse: shaped({ type: 'string', maxLength: 63, pattern: '^[a-z0-9.-]+/[^/].*$' }, controllerName),
  },
  controllers: {
    value: 'LIST',
    fallback: 'job',
    about: `controllers to run, separated by commas: ${WORKER_CONTROLLERS.join(', ')}`,
    parse: shaped({ type: 'array', minItems: 1, items: { enum: WORKER_CONTROLLERS } }, controllers),
  },
  'concurrent-job-syncs': {
    value: 'N',
    fallback: '5',
    about: 'Jobs worked on at once: so many small ones, of at most 10 pods at once, and so many others',
    parse: wholeNumber(1),
  },
  'concurrent-ttl-after-finished-syncs': { value: 'N', fallback: '5', about: 'expired Jobs worked on at once', parse: wholeNumber(1) },
  'job-batch-period': {
    value: 'DURATION',
    fallback: '1s',
    about: 'how long events of pods are gathered before their Job is synced',
    parse: durationMs,
  },
  namespace: {
    value: 'NAMESPACE,...',
    about: 'the only namespaces in which Jobs are run, which the worker alone needs rights in; default: all',
    parse: shaped({ anyOf: [{ type: 'array', minItems: 1, items: NAMESPACE }, NAMESPACE] }, namespaces),
  },
  'denied-namespaces': deniedNamespacesFlag(
    `no pods are created for Jobs of these namespaces; no part of a worker that replaces the built-in controller (--controller-name ${BUILT_IN_JOB_CONTROLLER_NAME})`,
  ),
  'fence-after': {
    value: 'DURATION',
    fallback: '60s',
    about: 'stop the pods of copies whose manager has given no sign for this long, until it is back (docs/fencing.md); 0: never',
    parse: shaped(durationOrZero(FENCE_AFTER_MS_MIN), fenceAfter),
  },
  'lease-namespace': {
    value: 'NAME',
    fallback: DEFAULT_LEASE_NAMESPACE,
    about:
      'namespace of the Leases by which worker and managers know of each other, and of the ends of logs: spec.leaseNamespace of the WorkerCluster',
    parse: text,
  },
  'former-lease-namespace': {
    value: 'NAME',
    about: `keep those Leases in this namespace as well, and ends of logs beside copies, where managers of an earlier release look for them: ${FORMER_LEASE_NAMESPACE} (docs/fencing.md)`,
    parse: text,
  },
  'keep-logs': {
    value: KEEP_LOGS.join('|'),
    fallback: 'Failed',
    about:
      'of which pods of copies the end of the log is kept where their Job does not say (docs/logs.md); None: of none, whatever Jobs say',
    parse: oneOf(KEEP_LOGS),
  },
  'log-tail-bytes': {
    value: 'BYTES',
    fallback: '65536',
    about: 'how much of the end of a log is kept, before it is compressed',
    parse: wholeNumber(1024, 256 * 1024),
  },
  'otlp-endpoint': TRACING_FLAGS['otlp-endpoint'],
  'kube-api-qps': qpsFlag('the API server, which Jobs share by turns', 50),
  'kube-api-burst': burstFlag('the API server', 100),
  ...leaderElectionFlags('workers', 'switchyard-worker'),
  ...METRICS_FLAGS,
  ...LOG_FLAGS,
} satisfies FlagTable;

export const WORKER_PROGRAM: Program<typeof FLAGS, WorkerConfig> = {
  name: 'switchyard-worker',
  usage: 'npm run worker --',
  about: 'Runs the Jobs of one cluster: Switchyard’s Job controller.',
  flags: FLAGS,
  readsConfigFile: true,
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
    namespaces: flags.namespace ?? [],
    // The cluster's own Jobs are run in its own namespaces.
    deniedNamespaces: flags['controller-name'] === BUILT_IN_JOB_CONTROLLER_NAME ? [] : flags['denied-namespaces'],
    fenceAfterMs: flags['fence-after'],
    leaseNamespace: flags['lease-namespace'],
    formerLeaseNamespace: flags['former-lease-namespace'],
    keepLogs: flags['keep-logs'],
    logTailBytes: flags['log-tail-bytes'],
    kubeApiQps: flags['kube-api-qps'],
    kubeApiBurst: flags['kube-api-burst'],
    otlpEndpoint: flags['otlp-endpoint'],
    leaderElection: leaderElectionOf(flags),
    metricsAddress: flags['metrics-bind-address'],
    metricsAuthentication: flags['metrics-authentication'],
    metricsTls: metricsFilesOf(flags),
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

function fenceAfter(given: string): number {
  const afterMs = given === '0' ? 0 : durationMs(given);
  if (afterMs === 0 || afterMs >= FENCE_AFTER_MS_MIN) return afterMs;
  throw new FlagError(
    `${given} is too short for a manager to be noticed; write 0, or at least 5s and three times its --fence-renew-interval`,
  );
}

function controllers(given: string): readonly WorkerController[] {
  const chosen = listOf(WORKER_CONTROLLERS)(given);
  if (chosen.length === 0) throw new FlagError(`names no controller; choose from ${WORKER_CONTROLLERS.join(', ')}`);
  return chosen;
}

function namespaces(given: string): readonly string[] {
  const names = [...new Set(given.split(',').map((each) => each.trim()))];
  const wrong = names.find((each) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(each));
  if (wrong === undefined) return names;
  throw new FlagError(`${JSON.stringify(wrong)} is no namespace; write names with commas between them, such as team-a,team-b`);
}

/** Where the ends of logs are kept; undefined: beside copies, because a manager of an earlier release looks there alone. */
export const tailsNamespace = ({ leaseNamespace, formerLeaseNamespace }: FenceSettings): string | undefined =>
  formerLeaseNamespace === undefined ? leaseNamespace : undefined;
