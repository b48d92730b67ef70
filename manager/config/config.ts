import { SUBMISSION_QUEUE, SUBMISSION_QUEUE_PREFIX } from '../../shared/api/names.ts';
import type { ApiRate } from '../../shared/kube/rate-limiter.ts';
import { FlagError, type FlagTable, type FlagValues, oneOf, type Program, text, wholeNumber, wordsOf } from '../../shared/runtime/flags.ts';
import type { LogLevel } from '../../shared/runtime/logger.ts';
import {
  burstFlag,
  CONFIG_FILE_FLAGS,
  deniedNamespacesFlag,
  type LeaderElectionConfig,
  leaderElectionFlags,
  leaderElectionOf,
  LOG_FLAGS,
  METRICS_FLAGS,
  qpsFlag,
} from '../../shared/runtime/program-flags.ts';
import { TRACING_FLAGS, type TracingFlags, tracingFlagsOf } from '../../shared/runtime/tracing-flags.ts';
import { durationOrZero, durationShape, shaped } from '../../shared/runtime/value-shape.ts';
import { DEFAULT_LOCAL_QUEUES_MAX } from '../admission/controllers/state-metrics.ts';
import { DEFAULT_REQUEUING_TIMESTAMP, REQUEUING_TIMESTAMPS, type RequeuingTimestamp } from '../admission/eviction/requeuing.ts';
import { FENCE_MARGIN_MS } from '../api/fenced-off.ts';
import { DEFAULT_JOB_RULES, type JobRules, RESOURCE_CLAIMS_RULES } from '../api/job-rules.ts';
import type { CanaryConfig } from '../canary/canary.ts';
import type { Identities } from '../policy/writer.ts';
import { hasHashTag } from '../submission/tenant.ts';
import { ADMISSION_FLAGS, type AdmissionFlags, admissionFlagsOf } from './admission-flags.ts';
import { CANARY_FLAGS, canaryConfigOf } from './canary-flags.ts';
import { CERTIFICATE_FLAGS, type CertificateConfig, certificateConfigOf, secretName } from './certificate-flags.ts';
import { DASHBOARD_FLAGS, type DashboardConfig, dashboardConfigOf } from './dashboard-flags.ts';
import { DECISION_LOG_FLAGS, type DecisionLogConfig, decisionLogConfigOf } from './decision-log-flags.ts';
import {
  addressRanges,
  CARRY_NAMESPACES_SHAPE,
  carryNamespaces,
  lostTimeout,
  managerId,
  NAMES,
  NAMESPACES_SHAPE,
  queueName,
  renewInterval,
  submissionNamespaces,
  TOKEN_LIFE,
  tokenLife,
} from './flag-values.ts';
import { HISTORY_FLAGS, type HistoryConfig, historyConfigOf } from './history-flags.ts';
import { REDIS_FLAGS, type RedisConfig, redisConfigOf } from './redis-flags.ts';

/** How one manager runs. Everything comes from flags, or from the environment where a flag is absent. */
export type ManagerConfig = AdmissionFlags &
  CertificateConfig & {
    /** Absent: where kubectl would look, then the service account of the pod. */
    readonly kubeconfig: string | undefined;
    /** undefined: no submissions are taken. */
    readonly redis: RedisConfig | undefined;
    readonly redisPrefix: string;
    /** '': none but those of SubmissionQueues. */
    readonly submissionQueue: string;
    /** Where Jobs of that queue may be, the default first. */
    readonly submissionNamespaces: readonly string[] | '*';
    /** Whether SubmissionQueues may have Jobs created with the rights of the manager. */
    readonly allowManagerIdentity: boolean;
    readonly concurrentSubmissions: number;
    readonly storyEventQps: number;
    readonly metricsLocalQueuesMax: number;
    /** Where traces go, if flags say it. */
    readonly tracing: TracingFlags & { readonly pods: boolean };
    /** Absent: the UID of the namespace kube-system. */
    readonly managerId: string | undefined;
    /** Without a namespace: that of the election's Lease, else that of the kubeconfig's context or of the pod. */
    readonly recordKeySecret: { readonly namespace: string | undefined; readonly name: string };
    readonly leaderElection: LeaderElectionConfig | undefined;
    /** undefined: not served. */
    readonly metricsAddress: string | undefined;
    /** Whether /metrics asks for a bearer token. */
    readonly metricsAuthentication: boolean;
    /** undefined: none is served. */
    readonly dashboard: DashboardConfig | undefined;
    /** Users that the webhook knows beside the manager's own. */
    readonly knownUsers: Identities;
    readonly home: ApiRate;
    readonly worker: ApiRate;
    /** Of the creation of Jobs from submissions, which is not part of the manager's other requests. */
    readonly submissions: ApiRate;
    /** Ranges of addresses, such as `169.254.0.0/16`, in which no worker cluster may be. */
    readonly workerAddressDeny: readonly string[];
    /** That what is kept of one worker cluster may take. */
    readonly workerMemoryBytes: number;
    readonly concurrentDispatches: number;
    /** After this time the Jobs of a cluster that is lost run elsewhere; 0: never. */
    readonly workerLostTimeoutMs: number;
    /** Of the sidecar of pod fences; undefined: that of Switchyard. */
    readonly podFenceImage: string | undefined;
    /** Namespaces whose Jobs may take ConfigMaps and Secrets along. */
    readonly carryNamespaces: readonly string[];
    readonly requeuingTimestamp: RequeuingTimestamp;
    /** How long tokens of worker clusters are good for that are renewed; 0: none is. */
    readonly tokenLifeMs: number;
    /** Where the Secrets of WorkerClusters are; undefined: anywhere. */
    readonly clusterSecretsNamespace: string | undefined;
    /** Between two renewals of the Lease on each worker cluster. */
    readonly renewIntervalMs: number;
    /** Where all that admission sees and decides is written down; undefined: nowhere. */
    readonly decisionLog: DecisionLogConfig | undefined;
    /** Where it is written who did what: a file, or `-`; undefined: nowhere. */
    readonly auditLog: string | undefined;
    /** Where it is kept what became of Jobs; undefined: nowhere. */
    readonly history: HistoryConfig | undefined;
    /** undefined: no canaries are sent. */
    readonly canary: CanaryConfig | undefined;
    /** What a Job may be. */
    readonly jobRules: JobRules;
    readonly logLevel: LogLevel;
  };

/** Less would refuse what kubectl makes of a few lines. */
const JOB_BYTES_MIN = 16 * 1024;

/** Ten thousand copies of 10 KiB, of which about a fifth is kept, fit in. */
export const WORKER_MEMORY_MIB = 32;

/** A leaked Secret is of no use after a day; a manager may be gone for half of one. */
export const DEFAULT_TOKEN_LIFE_MS = 24 * 3_600_000;

export const DEFAULT_WORKER_LOST_TIMEOUT_MS = 900_000;

/** The whole way of one Job a second: what describes a Job is read by people. */
export const DEFAULT_STORY_EVENT_QPS = 5;

const FLAGS = {
  ...CONFIG_FILE_FLAGS,
  kubeconfig: {
    value: 'FILE',
    about: 'kubeconfig of the manager cluster; default: KUBECONFIG, ~/.kube/config, the pod’s service account',
    parse: text,
  },
  ...REDIS_FLAGS,
  'redis-prefix': {
    value: 'PREFIX',
    fallback: SUBMISSION_QUEUE_PREFIX,
    about: `BullMQ’s key prefix of that queue; on a Redis Cluster one with a hash tag, by default {${SUBMISSION_QUEUE_PREFIX}}`,
    parse: text,
  },
  'submission-queue': {
    value: 'NAME',
    fallback: SUBMISSION_QUEUE,
    about: 'BullMQ queue of submissions that anyone who can reach Redis can use; empty: only SubmissionQueues',
    parse: shaped({ type: 'string', pattern: '^[^:]*$' }, queueName),
  },
  'submission-namespaces': {
    value: 'NAMESPACE,...',
    fallback: 'default',
    about: 'namespaces for Jobs of that queue, the first for those that name none; *: all but kube-*. SubmissionQueues have their own',
    parse: shaped(NAMESPACES_SHAPE, submissionNamespaces),
  },
  'allow-manager-identity': {
    about:
      'SubmissionQueues may have identity: Manager: their Jobs are created with the rights of the manager instead of a ServiceAccount’s',
  },
  'concurrent-submissions': { value: 'N', fallback: '50', about: 'submissions turned into Jobs at once', parse: wholeNumber(1) },
  'story-event-qps': {
    value: 'N',
    fallback: String(DEFAULT_STORY_EVENT_QPS),
    about: 'Events a second that tell the way of Jobs (admitted, dispatched, finished, ...); more are dropped; 0: none are written',
    parse: wholeNumber(0),
  },
  'metrics-local-queues-max': {
    value: 'N',
    fallback: String(DEFAULT_LOCAL_QUEUES_MAX),
    about:
      'LocalQueues that have figures of their own in /metrics, the first by namespace and name; all are counted with their ClusterQueues',
    parse: wholeNumber(0),
  },
  ...TRACING_FLAGS,
  'trace-pods': {
    about:
      'the containers of Jobs are told their trace as TRACEPARENT, unless the annotation switchyard.dev/trace-pods says off; without it those of Jobs that say on',
  },
  'manager-id': {
    value: 'ID',
    about: 'marks this manager’s copies on worker clusters; default: the UID of the namespace kube-system',
    parse: shaped({ type: 'string', pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$' }, managerId),
  },
  'record-key-secret': {
    value: '[NAMESPACE/]NAME',
    fallback: 'switchyard-manager-record-key',
    about: 'Secret with the key that seals admission records, made where it is absent; default namespace: that of the election’s Lease',
    parse: secretName,
  },
  ...leaderElectionFlags('managers', 'switchyard-manager'),
  ...METRICS_FLAGS,
  ...CERTIFICATE_FLAGS,
  'other-managers': {
    value: 'USER,...',
    fallback: '',
    about: 'users of other managers for which this cluster is a worker cluster: they may make copies on it',
    parse: shaped(NAMES, wordsOf),
  },
  'local-workers': {
    value: 'USER,...',
    fallback: '',
    about: 'users of the workers that run copies on the manager cluster (a WorkerCluster with local: true): they tell the status of those',
    parse: shaped(NAMES, wordsOf),
  },
  'kube-api-qps': qpsFlag('the manager cluster', 100),
  'kube-api-burst': burstFlag('the manager cluster', 200),
  'submission-api-qps': qpsFlag('the manager cluster for submissions', 300),
  'submission-api-burst': burstFlag('the manager cluster for submissions', 300),
  'worker-api-qps': qpsFlag('each worker cluster', 50),
  'worker-api-burst': burstFlag('each worker cluster', 100),
  'worker-address-deny': {
    value: 'CIDR,...',
    fallback: '169.254.0.0/16,fe80::/10,fd00:ec2::254/128',
    about: 'no worker cluster is connected to at these addresses, under whatever name; empty: at any',
    parse: shaped({ type: 'array', items: { type: 'string', pattern: '^[0-9A-Fa-f.:]+/[0-9]{1,3}$' } }, addressRanges),
  },
  'max-job-bytes': {
    value: 'BYTES',
    fallback: String(DEFAULT_JOB_RULES.bytesMax),
    about: 'a larger Job is refused, or waits with reason InvalidJob; its size is that of its JSON without managedFields and status',
    parse: wholeNumber(JOB_BYTES_MIN),
  },
  'resource-claims': {
    value: RESOURCE_CLAIMS_RULES.join('|'),
    fallback: DEFAULT_JOB_RULES.resourceClaims,
    about: 'Jobs whose pods claim devices (resourceClaims), which no quota counts: refused, or taken as if they claimed none',
    parse: oneOf(RESOURCE_CLAIMS_RULES),
  },
  'kueue-queue-label': {
    about: 'new Jobs may name their queue by the label kueue.x-k8s.io/queue-name, too; not where Kueue itself looks after Jobs',
  },
  'denied-namespaces': deniedNamespacesFlag(
    'Jobs of these namespaces are refused, or wait with reason InvalidJob; those that were admitted before run on',
  ),
  'worker-memory-limit': {
    value: 'MIB',
    fallback: String(WORKER_MEMORY_MIB),
    about: 'memory for what is kept of one worker cluster’s Jobs and nodes; one that has more is not Ready (TooManyObjects)',
    parse: wholeNumber(1, 65_536),
  },
  'cluster-secrets-namespace': {
    value: 'NAME',
    about: 'WorkerClusters may name Secrets of this namespace alone; without it of any that may be read',
    parse: text,
  },
  'worker-token-life': {
    value: 'DURATION',
    fallback: '24h',
    about:
      'the tokens by which worker clusters are reached are renewed at half of their life, for so long, where their account may; 0: they are left alone',
    parse: shaped(TOKEN_LIFE, tokenLife),
  },
  'worker-lost-timeout': {
    value: 'DURATION',
    fallback: '15m',
    about:
      'after this time the Jobs of a cluster that is lost run elsewhere, if its worker has stopped them by then: at least its --fence-after, their grace period and 30s; 0 is never',
    parse: shaped(durationOrZero(FENCE_MARGIN_MS + 1), lostTimeout),
  },
  'carry-namespaces': {
    value: 'LIST',
    fallback: '',
    about:
      'namespaces whose Jobs may take ConfigMaps and Secrets to their worker cluster (switchyard.dev/carry); the manager may read both there. Empty: none',
    parse: shaped(CARRY_NAMESPACES_SHAPE, carryNamespaces),
  },
  'pod-fence-image': {
    value: 'IMAGE',
    about:
      'the image of the sidecar of pod fences, with a program `node`; worker clusters pull it. Default: Switchyard’s own, of this version',
    parse: text,
  },
  'requeuing-timestamp': {
    value: REQUEUING_TIMESTAMPS.join('|'),
    fallback: DEFAULT_REQUEUING_TIMESTAMP,
    about: 'by which age a Job queues again that did not start in time (startTimeout): by that of its eviction, or by its own',
    parse: oneOf(REQUEUING_TIMESTAMPS),
  },
  'fence-renew-interval': {
    value: 'DURATION',
    fallback: '10s',
    about:
      'how often each worker is shown that this manager is in reach; workers stop copies when they have not seen that for --fence-after',
    parse: shaped(durationShape(500, 60_000), renewInterval),
  },
  ...ADMISSION_FLAGS,
  ...DECISION_LOG_FLAGS,
  'audit-log': {
    value: 'FILE|-',
    about:
      'appends who did what over HTTP and the dashboard, allowed or refused, and by writes that the webhook passed, as JSON lines (docs/audit.md); -: to standard output',
    parse: text,
  },
  'concurrent-dispatches': { value: 'N', fallback: '16', about: 'writes under way at once to each worker cluster', parse: wholeNumber(1) },
  ...HISTORY_FLAGS,
  ...CANARY_FLAGS,
  ...DASHBOARD_FLAGS,
  ...LOG_FLAGS,
} satisfies FlagTable;

export const MANAGER_PROGRAM: Program<typeof FLAGS, ManagerConfig> = {
  name: 'switchyard-manager',
  usage: 'npm run manager --',
  about: 'Admits Jobs against quota, picks a worker cluster for each, mirrors it there and brings its status home.',
  flags: FLAGS,
  readsConfigFile: true,
  configOf,
};

function configOf(flags: FlagValues<typeof FLAGS>): ManagerConfig {
  const redis = redisConfigOf(flags);
  return {
    kubeconfig: flags.kubeconfig,
    redis,
    redisPrefix: sharedPrefixOf(flags, redis),
    submissionQueue: flags['submission-queue'],
    submissionNamespaces: flags['submission-namespaces'],
    allowManagerIdentity: flags['allow-manager-identity'],
    concurrentSubmissions: flags['concurrent-submissions'],
    storyEventQps: flags['story-event-qps'],
    metricsLocalQueuesMax: flags['metrics-local-queues-max'],
    tracing: { ...tracingFlagsOf(flags), pods: flags['trace-pods'] },
    managerId: flags['manager-id'],
    recordKeySecret: flags['record-key-secret'],
    leaderElection: leaderElectionOf(flags),
    metricsAddress: flags['metrics-bind-address'],
    metricsAuthentication: flags['metrics-authentication'],
    ...certificateConfigOf(flags),
    dashboard: dashboardConfigOf(flags),
    knownUsers: { managers: flags['other-managers'], localWorkers: flags['local-workers'] },
    home: { qps: flags['kube-api-qps'], burst: flags['kube-api-burst'] },
    worker: { qps: flags['worker-api-qps'], burst: flags['worker-api-burst'] },
    submissions: { qps: flags['submission-api-qps'], burst: flags['submission-api-burst'] },
    workerAddressDeny: flags['worker-address-deny'],
    workerMemoryBytes: flags['worker-memory-limit'] * 1024 * 1024,
    concurrentDispatches: flags['concurrent-dispatches'],
    workerLostTimeoutMs: flags['worker-lost-timeout'],
    podFenceImage: flags['pod-fence-image'],
    carryNamespaces: flags['carry-namespaces'],
    requeuingTimestamp: flags['requeuing-timestamp'],
    clusterSecretsNamespace: flags['cluster-secrets-namespace'],
    tokenLifeMs: flags['worker-token-life'],
    renewIntervalMs: flags['fence-renew-interval'],
    ...admissionFlagsOf(flags),
    decisionLog: decisionLogConfigOf(flags),
    auditLog: flags['audit-log'],
    history: historyConfigOf(flags),
    canary: canaryConfigOf(flags),
    jobRules: {
      bytesMax: flags['max-job-bytes'],
      resourceClaims: flags['resource-claims'],
      kueueQueueLabel: flags['kueue-queue-label'],
      deniedNamespaces: flags['denied-namespaces'],
    },
    logLevel: flags['log-level'],
  };
}

/**
 * Of the queue that these flags describe. On a Redis Cluster the default has always been of no use, and what somebody wrote is not changed.
 */
function sharedPrefixOf(
  { 'redis-prefix': prefix, 'submission-queue': queue }: Pick<FlagValues<typeof FLAGS>, 'redis-prefix' | 'submission-queue'>,
  redis: RedisConfig | undefined,
): string {
  if (redis?.servers.kind !== 'Cluster' || queue === '' || hasHashTag(prefix)) return prefix;
  if (prefix === SUBMISSION_QUEUE_PREFIX) return `{${prefix}}`;
  throw new FlagError(
    `--redis-prefix ${JSON.stringify(prefix)} has no hash tag, and a Redis Cluster refuses what concerns several keys of such a queue: write {${prefix}}, or --submission-queue '' for none but those of SubmissionQueues`,
  );
}
