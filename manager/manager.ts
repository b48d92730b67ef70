import type { Registry } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };
import type { ClusterAccess } from '../shared/kube/cluster-access.ts';
import type { DeepReadonly, Job, KubeObject, ObjectKey } from '../shared/api/kubernetes.ts';
import { JOBS, type Resource } from '../shared/api/resources.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import type { Informer } from '../shared/kube/informer.ts';
import { parseKey } from '../shared/kube/keys.ts';
import { guardStaleReads } from '../shared/kube/stale-read-guard.ts';
import { fencedClient } from '../shared/kube/fenced-client.ts';
import { createLeaseHold } from '../shared/kube/lease-hold.ts';
import { createRevisionTracker } from '../shared/kube/revision-tracker.ts';
import { createBudgetedRecorder } from '../shared/kube/budgeted-recorder.ts';
import { createEventRecorder } from '../shared/kube/event-recorder.ts';
import { endsWithin, type Clock } from '../shared/runtime/clock.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import type { Random } from '../shared/runtime/random.ts';
import { createSpanExporter } from '../shared/runtime/span-exporter.ts';
import type { TraceDestination } from '../shared/runtime/tracing-flags.ts';
import type { Tracing } from './dispatch/copy/remote-job.ts';
import { aborted, allOrNone, onAbort } from '../shared/runtime/tasks.ts';
import type { FairSharingConfig } from './admission/fair-sharing/fair-strategy.ts';
import type { UsagePolicy } from './admission/fair-sharing/local-queue-usage.ts';
import type { RequeuingTimestamp } from './admission/eviction/requeuing.ts';
import { createAdmission } from './admission/admission.ts';
import type { LineSink } from './admission/decision-log/decision-recorder.ts';
import { DEFAULT_JOB_RULES, type JobRules } from './api/job-rules.ts';
import { createRecordKeeper, type RecordKeeper } from './api/record-keeper.ts';
import type { RecordKeys } from './api/record-seal.ts';
import { CLUSTER_QUEUES } from './api/cluster-queue.ts';
import { LOCAL_QUEUES } from './api/local-queue.ts';
import { createNamespaceIdentities } from './api/namespace-identities.ts';
import { createLostClusters } from './api/lost-clusters.ts';
import { WORKER_CLUSTERS } from './api/worker-cluster.ts';
import type { AuditLog } from './audit/audit-log.ts';
import { createWriteAudit } from './audit/write-audit.ts';
import type { DecisionLogFile } from './process/decision-log-file.ts';
import { DEFAULT_STORY_EVENT_QPS, DEFAULT_TOKEN_LIFE_MS, DEFAULT_WORKER_LOST_TIMEOUT_MS, WORKER_MEMORY_MIB } from './config/config.ts';
import { DEFAULT_RENEW_INTERVAL_MS } from './dispatch/lease/cluster-lease.ts';
import { onCopyEnded } from './process/on-copy-ended.ts';
import { createDispatch } from './dispatch/dispatch.ts';
import { caughtUp, synced } from './process/awaited-informers.ts';
import { createCanary, type CanaryConfig } from './canary/canary.ts';
import { createLiveInvariants, type LiveInvariants } from './invariants/live-invariants.ts';
import type { InvariantReport } from '../shared/runtime/invariant-report.ts';
import { createHomeInformers } from './process/home-informers.ts';
import { createIdentityAlarm } from './process/identity-alarm.ts';
import { clusterIdentity } from './process/identity.ts';
import { createManagerDashboard, SHOWN_LABELS_MAX, type DashboardService } from './process/manager-dashboard.ts';
import { createManagerMetrics } from './metrics/metrics.ts';
import { HOME } from './process/client-factory.ts';
import type { ApiMetrics } from './http/api-metrics.ts';
import type { RedisMetrics } from './submission/redis-metrics.ts';
import { clusterGauges } from './metrics/cluster-gauges.ts';
import { DEFAULT_LOCAL_QUEUES_MAX, type ObservedState } from './admission/controllers/state-metrics.ts';
import type { ApiServer } from './http/server.ts';
import type { PortOf } from './http/submission-routes.ts';
import type { Identities } from './policy/writer.ts';
import { leadWhenElected, type Election } from './process/lead-when-elected.ts';
import { recordKeys } from './process/record-key.ts';
import { claimRecords } from './process/record-origin.ts';
import { createSubmissionEndpoints } from './submission/submission-endpoints.ts';
import { createSubmissions, type SubmissionSource } from './submission/submissions.ts';
import { createJobTracer } from './story/job-tracer.ts';
import { createOverrideAlarm } from './story/override-alarm.ts';
import { createLifecycleEvents } from './story/lifecycle-events.ts';
import { tracedLog } from './story/traced-log.ts';
import type { RedisProbe } from './submission/redis-probe.ts';
import type { TenantRules } from './submission/tenant.ts';
import { createStartEstimates } from './insight/estimate/start-estimates.ts';
import { createHistory } from './history/history.ts';
import { createNamespaceHistory, type NamespaceHistory } from './history/namespace-history.ts';
import { createHistoryWriter } from './history/history-writer.ts';
import type { KeyValueStore } from './history/key-value-store.ts';
import type { CertificateKeeper } from './certificates/certificate-keeper.ts';
import { serveWebhook, type WebhookListener } from './process/serve-webhook.ts';
import { createSeriesKeeper } from './metrics/series-keeper.ts';

export type ManagerDeps = {
  /** The manager cluster. */
  readonly client: KubeClient;
  /** Connects to a worker cluster. */
  readonly connectCluster: (cluster: string, access: ClusterAccess) => KubeClient;
  /** Where submissions come from; absent: Jobs come through the API alone. */
  readonly submissions?: SubmissionSource;
  /** Looks after the Redis of the submissions; absent: nobody does. */
  readonly redisProbe?: (metrics: RedisMetrics) => RedisProbe;
  /** Serves submissions over HTTP; absent: nobody does. */
  readonly serveApi?: ((served: ServedApi) => Promise<ApiServer>) | undefined;
  /** How the dashboard is served; absent: not by this manager. */
  readonly dashboard?: ((metrics: ApiMetrics) => DashboardService) | undefined;
  /** The Secret with the key that seals admission records; made where it is absent. */
  readonly recordKeySecret: ObjectKey;
  /** The value of the origin label on copies; absent: the UID of the namespace kube-system. */
  readonly managerId?: string;
  /** Absent: this manager is the only one. */
  readonly leaderElection?: Election;
  /** How the admission webhook is served; absent: not by this manager. */
  readonly webhook?: WebhookListener;
  /** Looks after the certificates of this manager's servers; absent: somebody else does. */
  readonly certificates?: Pick<CertificateKeeper, 'run' | 'problem' | 'warnings'> | undefined;
  /** Users that the webhook knows beside the manager's own; absent: none. */
  readonly knownUsers?: Identities;
  /** Writes under way at once to each worker cluster. */
  readonly concurrentDispatches: number;
  /** After this time the Jobs of a lost cluster run elsewhere, 0: never; absent: the default of the flag. */
  readonly workerLostTimeoutMs?: number;
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
  /** Absent: none is kept. */
  readonly history: NamespaceHistory | undefined;
  /** The UID of the namespace that a name means now. */
  readonly uidOf: (namespace: string) => string | undefined;
  readonly metrics: ApiMetrics;
};

/** One manager, in this process. */
export interface Manager {
  /** What is still missing before it can do its work; undefined when nothing is. */
  unreadiness(): string | undefined;
  /** What is wrong although it works: somebody should look. */
  warnings(): readonly string[];
  /** Whether what is promised holds; undefined while it is not looked at. */
  invariants(): InvariantReport | undefined;
  /** Works until `signal` aborts. Rejects when it cannot go on, such as after losing leadership. */
  run(signal: AbortSignal): Promise<void>;
}

const OWN_IMAGE = `ghcr.io/switchyard/switchyard:${manifest.version}`;
const OURSELVES = { 'service.name': 'switchyard-manager', 'service.version': manifest.version };
const FLUSH_MS = 3_000;
/** The text of a submission may say in more words what the Job says in its own. */
const BYTES_PER_JOB_BYTE = 2;
const WORKER_MEMORY_BYTES = WORKER_MEMORY_MIB * 1024 * 1024;

/**
 * Puts the manager together. Every replica watches the manager cluster; the leader alone takes submissions, admits, dispatches and
 * reports outcomes. All state is in Kubernetes: whoever leads next continues from its own, already filled, caches. One that has lost its
 * leadership writes nothing more, not even what was begun.
 */
export function createManager(deps: ManagerDeps): Manager {
  const { client, submissions, clock, registry, tracing, jobRules: rules = DEFAULT_JOB_RULES } = deps;
  const metrics = createManagerMetrics(registry, clock, { localQueuesMax: deps.metricsLocalQueuesMax ?? DEFAULT_LOCAL_QUEUES_MAX });
  deps.decisionLog?.countLost(metrics.admission.decisionLogDropped);
  deps.audit?.countDropped(metrics.audit.dropped);
  /** Known before the first Job is looked at, and before anybody submits over HTTP. */
  const keysRead = Promise.withResolvers<RecordKeys>();
  let records: RecordKeeper | undefined;
  let invariants: LiveInvariants | undefined;
  const deposed = new AbortController();
  const hold = deps.leaderElection && createLeaseHold(clock);
  const fenced = (each: KubeClient): KubeClient => fencedClient(each, deposed.signal, hold);
  const restored = new AbortController();
  const onWentBack = (error: Error): void => {
    // What was decided on what did not happen must not be written.
    deposed.abort(error);
    restored.abort(new Error('the manager cluster went back in time; the manager starts anew', { cause: error }));
  };
  const isAdmitted = (job: DeepReadonly<Job>): boolean => records?.read(job).kind === 'Record';
  const course = createRevisionTracker();
  const informers = createHomeInformers({
    ...deps,
    rules,
    ...(deps.dashboard && { usersLabelsMax: SHOWN_LABELS_MAX }),
    isAdmitted,
    onWentBack,
    course,
    onRestart: (resource, times) => metrics.dispatch.watchRestarts.inc({ cluster: HOME, resource }, times),
  });
  const identities = createNamespaceIdentities(informers.namespaces);
  const series = createSeriesKeeper({ ...informers, registry, metrics, clock });
  const log = tracing === undefined ? deps.log : tracedLog(deps.log, (key) => informers.jobs.get(parseKey(key)));
  /** Of what the manager writes to. */
  const caches = new Map<Resource, Pick<Informer<KubeObject>, 'get'>>([
    [JOBS, informers.jobs],
    [WORKER_CLUSTERS, informers.workerClusters],
    [CLUSTER_QUEUES, informers.clusterQueues],
    [LOCAL_QUEUES, informers.localQueues],
  ]);
  const home = fenced(
    guardStaleReads(client, {
      clock,
      cached: (resource, key) => caches.get(resource)?.get(key)?.metadata.resourceVersion,
      onDoubt({ plural }, { namespace, name }, resourceVersion) {
        log.warn('what is known of the manager cluster is not what it has: all is listed anew', {
          plural,
          namespace,
          name,
          resourceVersion,
        });
        course.invalidate();
      },
    }),
  );
  const events = createEventRecorder({ client: home, component: 'switchyard-manager', clock, log });
  // So that no story stands in the way of what somebody must know.
  const storyEvents = createBudgetedRecorder(createEventRecorder({ client: home, component: 'switchyard-story', clock, log }), {
    qps: deps.storyEventQps ?? DEFAULT_STORY_EVENT_QPS,
    clock,
    onDropped: () => metrics.story.dropped.inc(),
  });
  const spans = tracing && createSpanExporter({ ...tracing, ...deps, resource: OURSELVES, count: metrics.spans });
  const redisProbe = deps.redisProbe?.(metrics.redis);
  const tenantRules: TenantRules = {
    bytesMax: BYTES_PER_JOB_BYTE * rules.bytesMax,
    managerIdentity: submissions?.managerIdentity ?? false,
    isRedisCluster: submissions?.isRedisCluster ?? false,
    deniedNamespaces: rules.deniedNamespaces,
  };
  const doors =
    submissions?.openDoor &&
    createSubmissionEndpoints({
      shared: submissions.shared,
      open: submissions.openDoor,
      objects: informers.submissionQueues,
      keys: keysRead.promise,
      tenantRules,
      log: log.with({ part: 'api' }),
    });
  const dashboard = deps.dashboard && createManagerDashboard(deps.dashboard(metrics.api), { ...deps, informers, identities });
  const alarm = createIdentityAlarm({ client, events, log, metrics: metrics.identity });
  const writeAudit = deps.audit && deps.webhook && createWriteAudit({ log: deps.audit, jobs: informers.jobs, clock });
  if (writeAudit !== undefined) informers.jobs.addHandler(writeAudit.handler);
  let webhookProblem: string | undefined = deps.webhook && 'the webhook is not served yet';
  let keyProblem: string | undefined = 'the key of admission records is not read yet';

  async function run(signal: AbortSignal): Promise<void> {
    const origin = deps.managerId ?? (await clusterIdentity(deps, signal));
    if (origin === undefined) return;
    log.info('the manager starts', { origin });
    await allOrNone(signal, [
      async (each) => deps.certificates?.run(each),
      (each) =>
        serveWebhook(
          { ...deps, ...omitUndefined({ onPassed: writeAudit?.passed }) },
          metrics.webhook,
          alarm,
          (problem) => (webhookProblem = problem),
          each,
        ),
      (each) => manage(origin, each),
      (each) => serveDoors(each),
      async (each) => dashboard?.run(each),
      (each) => unlessRestored(each),
      async (each) => redisProbe?.run(each),
      async (each) => spans?.run(each),
      (each) => series.run(each),
    ]);
    await endsWithin(clock, FLUSH_MS, Promise.all([events.flush(), storyEvents.flush()]));
  }

  /**
   * Queues, quota in use and what was written before the answer was seen: all of it would be of another time. Anew is how it is known to be
   * right.
   */
  async function unlessRestored(signal: AbortSignal): Promise<void> {
    await aborted(AbortSignal.any([signal, restored.signal]));
    if (!signal.aborted) throw restored.signal.reason;
  }

  /** Every replica takes submissions over HTTP: they lie in Redis until the leader looks at them. */
  async function serveDoors(signal: AbortSignal): Promise<void> {
    if (deps.serveApi === undefined) return;
    // A queue, or a namespace, that is not listed yet would be said not to exist.
    if (!(await synced(informers.submissionQueues, signal)) || !(await synced(informers.namespaces, signal))) return;
    await Promise.race([keysRead.promise, aborted(signal)]);
    if (signal.aborted) return;
    const server = await deps.serveApi({
      portOf: (namespace, queue) => doors?.of(namespace, queue),
      history: deps.history && createNamespaceHistory(createHistory(deps.history.store), identities),
      uidOf: (namespace) => identities.of(namespace)?.uid,
      metrics: metrics.api,
    });
    log.info('submissions are taken over HTTP', { url: server.url });
    await aborted(signal);
    await server.close();
    await doors?.close();
  }

  /** Nothing is looked at before it can be told who wrote the records on it. */
  async function manage(origin: string, signal: AbortSignal): Promise<void> {
    const secret = deps.recordKeySecret;
    const keeping = { client, secret, origin, onMissing: (problem: string) => (keyProblem = problem), clock, log };
    const keys = await recordKeys(keeping, signal);
    if (keys === undefined) return;
    keyProblem = undefined;
    keysRead.resolve(keys);
    records = createRecordKeeper(keys);
    const intake = createSubmissions({
      source: submissions,
      home,
      fenced,
      jobs: informers.jobs,
      objects: informers.submissionQueues,
      ledgerNamespace: deps.recordKeySecret.namespace,
      keys,
      rules,
      tenantRules,
      redisTroubles: redisProbe?.troubles,
      clock,
      log,
      metrics,
    });
    const history =
      deps.history &&
      createHistoryWriter({
        history: createHistory(deps.history.store),
        jobs: informers.jobs,
        namespaces: identities,
        readRecord: records.read,
        limits: deps.history.limits,
        clock,
        random: deps.random,
        log: log.with({ part: 'history' }),
        metrics: metrics.history,
      });
    if (history !== undefined) informers.jobs.addHandler(history.handler);
    const lostClusters = createLostClusters(clock);
    informers.workerClusters.addHandler(lostClusters.handler);
    const { workerLostTimeoutMs = DEFAULT_WORKER_LOST_TIMEOUT_MS } = deps;
    const admission = createAdmission({
      client: home,
      events,
      storyEvents,
      informers,
      records,
      lostClusters,
      workerLostTimeoutMs,
      clustersSettled: (leading) => dispatch.clustersReported(leading),
      ...omitUndefined({
        requeuingTimestamp: deps.requeuingTimestamp,
        fairSharing: deps.fairSharing,
        admissionFairSharing: deps.admissionFairSharing,
        decisionLog: deps.decisionLog,
        traceRatio: tracing?.ratio,
      }),
      clock,
      log: log.with({ part: 'admission' }),
      metrics: metrics.admission,
    });
    const startEstimates = createStartEstimates({
      jobs: informers.jobs,
      readRecord: records.read,
      admission: admission.view,
      clock,
      log: log.with({ part: 'admission' }),
      metrics: metrics.startEstimates,
    });
    informers.jobs.addHandler(startEstimates);
    const dispatch = createDispatch({
      home,
      jobs: informers.jobs,
      workerClusters: informers.workerClusters,
      flavors: informers.resourceFlavors,
      clusterQueues: informers.clusterQueues,
      namespaces: informers.namespaces,
      readRecord: records.read,
      admitting: admission.admitting,
      lostClusters,
      workerLostTimeoutMs,
      podFenceImage: deps.podFenceImage ?? OWN_IMAGE,
      keys,
      clusterSecretsNamespace: deps.clusterSecretsNamespace,
      tokenLifeMs: deps.tokenLifeMs ?? DEFAULT_TOKEN_LIFE_MS,
      renewIntervalMs: deps.renewIntervalMs ?? DEFAULT_RENEW_INTERVAL_MS,
      connect: (cluster, access) => fencedClient(deps.connectCluster(cluster, access), deposed.signal),
      origin,
      concurrencyPerCluster: deps.concurrentDispatches,
      memoryPerClusterBytes: deps.memoryPerClusterBytes ?? WORKER_MEMORY_BYTES,
      clock,
      random: deps.random,
      log: log.with({ part: 'dispatch' }),
      events,
      metrics: metrics.dispatch,
      isNoted: intake.isNoted,
      ...omitUndefined({ hold, endings: onCopyEnded([history, intake.endings]), tracing }),
    });
    const watched = createLiveInvariants({
      ...informers,
      homeHeardMs: () => informers.jobs.lastHeardMs(),
      readRecord: records.read,
      accountOf: admission.accountOf,
      dispatch,
      events,
      metrics: metrics.invariants,
      patience: deps.invariantPatience ?? 1,
      clock,
      log: log.with({ part: 'invariants' }),
    });
    invariants = watched;
    informers.jobs.addHandler(watched.handler);
    const { canary: config } = deps;
    const canary =
      config && createCanary({ ...informers, config, client: home, metrics: metrics.canary, clock, log: log.with({ part: 'canary' }) });
    if (canary !== undefined) informers.jobs.addHandler(canary.handler);
    const story = createLifecycleEvents({ events: storyEvents, readRecord: records.read });
    informers.jobs.addHandler(story.handler);
    const overrides = createOverrideAlarm({ events, metrics: metrics.story, log: log.with({ part: 'overrides' }) });
    informers.jobs.addHandler(overrides.handler);
    const observed = (): ObservedState => {
      const state = admission.observed();
      return { ...state, clusters: clusterGauges(informers.workerClusters.list(), { ...dispatch, ...state, clock }) };
    };
    const tracer = tracing && spans && createJobTracer({ exporter: spans, ratio: tracing.ratio, readRecord: records.read, clock });
    if (tracer !== undefined) informers.jobs.addHandler(tracer.handler);
    // Who leads at once lists what there is once, and need not ask whether a leader before it has admitted more.
    const mayList = Promise.withResolvers<void>();
    const lead = async (leading: AbortSignal, lost?: AbortSignal): Promise<void> => {
      lost?.addEventListener('abort', () => deposed.abort(lost.reason), { once: true });
      // The leader before may have admitted what a watch that is held up somewhere has not brought here.
      const caught = lost === undefined ? true : caughtUp(Object.values(informers), leading);
      mayList.resolve();
      if (!(await caught) || !(await claimRecords({ ...keeping, client: home }, leading))) return;
      keyProblem = undefined;
      story.lead(leading);
      overrides.lead(leading);
      metrics.state.observe(observed);
      deps.onLeading?.();
      tracer?.lead(leading);
      return allOrNone(leading, [
        (each) => admission.run(each),
        (each) => startEstimates.run(each),
        (each) => dispatch.run(each),
        (each) => watched.run(each),
        async (each) => canary?.run(each),
        (each) => intake.run(each),
        // A record says of which namespace its Job was.
        async (each) => void ((await synced(informers.namespaces, each)) && (await history?.run(each))),
      ]);
    };
    await allOrNone(signal, [
      ...Object.values(informers).map((informer) => async (each: AbortSignal) => {
        onAbort(each, mayList.resolve);
        await mayList.promise;
        await informer.run(each);
      }),
      (each) => leadWhenElected({ ...deps, ...omitUndefined({ hold }), onWentBack, onWaiting: mayList.resolve }, lead, each),
    ]);
  }

  return {
    run,
    unreadiness() {
      if (keyProblem !== undefined) return keyProblem;
      const missing = Object.values(informers).find((informer) => !informer.hasSynced());
      if (missing !== undefined) return `the ${missing.resource.plural} of the manager cluster are not listed yet`;
      if (webhookProblem !== undefined) return webhookProblem;
      return deps.certificates?.problem();
    },
    invariants: () => invariants?.report(),
    warnings: () => [
      ...alarm.warnings(),
      ...(deps.certificates?.warnings() ?? []),
      ...(redisProbe?.troubles() ?? []).map(({ reason, message }) => `${reason}: ${message}`),
    ],
  };
}
