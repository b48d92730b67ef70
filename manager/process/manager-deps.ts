import type { PlacementPolicy } from '../api/cluster-queue.ts';
import type { Registry } from 'prom-client';
import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import type { TraceDestination } from '../../shared/runtime/tracing-flags.ts';
import type { LineSink } from '../admission/decision-log/decision-recorder.ts';
import type { RequeuingTimestamp } from '../admission/eviction/requeuing.ts';
import type { FairSharingConfig } from '../admission/fair-sharing/fair-strategy.ts';
import type { UsagePolicy } from '../admission/fair-sharing/local-queue-usage.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { CanaryConfig } from '../canary/canary.ts';
import type { CertificateReader } from '../certificates/certificate-reader.ts';
import type { SingleKind } from '../work-kind/work-kind.ts';
import type { Tracing } from '../work-kind/copy-options.ts';
import type { KeyValueStore } from '../history/key-value-store.ts';
import type { NamespaceHistory } from '../history/namespace-history.ts';
import type { ApiMetrics } from '../http/api-metrics.ts';
import type { OpenDashboard } from '../http/dashboard-routes.ts';
import type { ApiServer } from '../http/server.ts';
import type { PortOf } from '../http/submission-routes.ts';
import type { Identities } from '../policy/writer.ts';
import type { RedisMetrics } from '../submission/redis-metrics.ts';
import type { RedisProbe } from '../submission/redis-probe.ts';
import type { SubmissionSource } from '../submission/submissions.ts';
import type { DecisionLogFile } from './decision-log-file.ts';
import type { Election } from './lead-when-elected.ts';
import type { DashboardService } from './manager-dashboard.ts';
import type { WebhookListener } from './serve-webhook.ts';

export type ManagerDeps = {
  /** The manager cluster. */
  readonly client: KubeClient;
  /** The kinds of work beside Jobs; absent: none. */
  readonly kinds?: readonly SingleKind[];
  /** Connects to a worker cluster. */
  readonly connectCluster: (cluster: string, access: ClusterAccess) => KubeClient;
  /** Where submissions come from; absent: Jobs come through the API alone. */
  readonly submissions?: SubmissionSource;
  /** Looks after the Redis of the submissions; absent: nobody does. */
  readonly redisProbe?: (metrics: RedisMetrics) => RedisProbe;
  /** Serves submissions over HTTP; absent: nobody does. */
  readonly serveApi?: ((served: ServedApi) => Promise<ApiServer>) | undefined;
  /** Views of Jobs, queues and clusters for users, and how the dashboard is served; absent: not by this manager. */
  readonly dashboard?: ((metrics: ApiMetrics) => DashboardService) | undefined;
  /** The Secret with the key that seals admission records; made where it is absent. */
  readonly recordKeySecret: ObjectKey;
  /** The value of the origin label on copies; absent: the UID of the namespace kube-system. */
  readonly managerId?: string;
  /** Absent: this manager is the only one. */
  readonly leaderElection?: Election;
  /** How the admission webhook is served; absent: not by this manager. */
  readonly webhook?: WebhookListener;
  /** Follows the certificate of this manager's servers that switchyard-certificates makes; absent: all come from files. */
  readonly certificates?: Pick<CertificateReader, 'run' | 'problem' | 'warnings'> | undefined;
  /** Users that the webhook knows beside the manager's own; absent: none. */
  readonly knownUsers?: Identities;
  /** Writes under way at once to each worker cluster. */
  readonly concurrentDispatches: number;
  /** After this time the Jobs of a lost cluster run elsewhere, 0: never; absent: the default of the flag. */
  readonly workerLostTimeoutMs?: number;
  /** Namespaces whose Jobs may take ConfigMaps and Secrets to their worker cluster; absent: none. */
  readonly carryNamespaces?: readonly string[];
  /** Of the sidecar of pod fences; absent: that of Switchyard. */
  readonly podFenceImage?: string | undefined;
  /** By which age a Job queues again that did not start in time; absent: the default of the flag. */
  readonly requeuingTimestamp?: RequeuingTimestamp;
  /** Between two renewals of the Lease on each worker cluster; absent: the default of the flag. */
  readonly renewIntervalMs?: number;
  /** How long tokens of worker clusters are good for that are renewed, 0: none is; absent: the default of the flag. */
  readonly tokenLifeMs?: number;
  /** Where the Secrets of WorkerClusters are; absent: anywhere. */
  readonly clusterSecretsNamespace?: string | undefined;
  /** How idle quota and ClusterQueues are shared; absent: by priority and age. */
  readonly fairSharing?: FairSharingConfig | undefined;
  readonly admissionFairSharing?: UsagePolicy | undefined;
  /** How Jobs are placed in ClusterQueues that do not say it; absent: LeastRoom. */
  readonly defaultPlacement?: PlacementPolicy | undefined;
  /** Where all that admission sees and decides is written down; absent: nowhere. The caller closes it. */
  readonly decisionLog?: Pick<DecisionLogFile, keyof LineSink | 'countLost'> | undefined;
  /** Says who did what; absent: none is kept. The caller closes it. */
  readonly audit?: AuditLog | undefined;
  /** Events a second that tell the way of Jobs, 0: none; absent: the default of the flag. */
  readonly storyEventQps?: number;
  /** LocalQueues that have figures of their own; absent: the default of the flag. */
  readonly metricsLocalQueuesMax?: number;
  /** Where traces of Jobs go, of how many, and whether their pods are told; absent: nowhere. */
  readonly tracing?: (TraceDestination & Tracing) | undefined;
  /** Where it is kept what became of Jobs, and how much; absent: nowhere. The caller closes it. */
  readonly history?: { readonly store: KeyValueStore; readonly limits: { readonly ageMs: number; readonly bytesMax: number } } | undefined;
  /** Sends canaries through every cluster; absent: nobody does. */
  readonly canary?: CanaryConfig | undefined;
  /** What a Job may be; absent: as the flags have it by default. */
  readonly jobRules?: JobRules;
  /** Memory that what is kept of one worker cluster may take; absent: the default of the flag. */
  readonly memoryPerClusterBytes?: number;
  /** What part of their grace periods live invariants give; absent: all. For simulations, whose stories are short. */
  readonly invariantPatience?: number;
  /** It leads from now on. */
  readonly onLeading?: () => void;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

/** What is served over HTTP. */
export type ServedApi = {
  readonly portOf: PortOf;
  /** Opens the views of a user; absent: none are served. */
  readonly open: OpenDashboard | undefined;
  /** Absent: none is kept. */
  readonly history: NamespaceHistory | undefined;
  /** The UID of the namespace that a name means now. */
  readonly uidOf: (namespace: string) => string | undefined;
  readonly metrics: ApiMetrics;
};
