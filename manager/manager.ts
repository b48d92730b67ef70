import manifest from '../package.json' with { type: 'json' };
import type { Job, KubeObject } from '../shared/api/kubernetes.ts';
import type { Resource } from '../shared/api/resources.ts';
import { createBudgetedRecorder } from '../shared/kube/budgeted-recorder.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { createEventRecorder, type EventRecorder } from '../shared/kube/event-recorder.ts';
import { fencedClient } from '../shared/kube/fenced-client.ts';
import type { Informer } from '../shared/kube/informer.ts';
import { parseKey } from '../shared/kube/keys.ts';
import { createLeaseHold, type KeptLeaseHold } from '../shared/kube/lease-hold.ts';
import { createRevisionTracker } from '../shared/kube/revision-tracker.ts';
import { guardStaleReads } from '../shared/kube/stale-read-guard.ts';
import { endsWithin } from '../shared/runtime/clock.ts';
import type { InvariantReport } from '../shared/runtime/invariant-report.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import { createSpanExporter, type SpanExporter } from '../shared/runtime/span-exporter.ts';
import { aborted, allOrNone, onAbort } from '../shared/runtime/tasks.ts';
import { DEFAULT_LOCAL_QUEUES_MAX } from './admission/controllers/state-metrics.ts';
import { CLUSTER_QUEUES } from './api/cluster-queue.ts';
import { DEFAULT_JOB_RULES, type JobRules } from './api/job-rules.ts';
import { LOCAL_QUEUES } from './api/local-queue.ts';
import { createNamespaceIdentities, type NamespaceIdentities } from './api/namespace-identities.ts';
import { createRecordKeeper, type RecordKeeper } from './api/record-keeper.ts';
import type { RecordKeys } from './api/record-seal.ts';
import { WORKER_CLUSTERS } from './api/worker-cluster.ts';
import { createWriteAudit, type WriteAudit } from './audit/write-audit.ts';
import { DEFAULT_STORY_EVENT_QPS } from './config/config.ts';
import { createHistory } from './history/history.ts';
import { createNamespaceHistory } from './history/namespace-history.ts';
import type { LiveInvariants } from './invariants/live-invariants.ts';
import { createLeader, type Leader } from './leader/leader.ts';
import { createManagerMetrics, type ManagerMetrics } from './metrics/metrics.ts';
import { createSeriesKeeper, type SeriesKeeper } from './metrics/series-keeper.ts';
import { caughtUp, synced } from './process/awaited-informers.ts';
import { HOME } from './process/client-factory.ts';
import { createHomeInformers, type HomeInformers } from './process/home-informers.ts';
import { createIdentityAlarm, type IdentityAlarm } from './process/identity-alarm.ts';
import { clusterIdentity } from './process/identity.ts';
import { leadWhenElected } from './process/lead-when-elected.ts';
import { createManagerDashboard, type DashboardService, SHOWN_LABELS_MAX } from './process/manager-dashboard.ts';
import type { ManagerDeps } from './process/manager-deps.ts';
import { recordKeys } from './process/record-key.ts';
import { claimRecords } from './process/record-origin.ts';
import { serveWebhook } from './process/serve-webhook.ts';
import { tracedLog } from './story/traced-log.ts';
import { createSubmissionEndpoints, type SubmissionEndpoints } from './submission/submission-endpoints.ts';
import type { RedisProbe } from './submission/redis-probe.ts';
import { submissionsOfKinds, type SubmissionSource } from './submission/submissions.ts';
import { createKinds } from './work-kind/kinds.ts';
import type { WorkKind } from './work-kind/work-kind.ts';
import { createKindsClient } from './work-kind/kinds-client.ts';
import { JOB_KIND } from './work-kind/job/job-kind.ts';
import type { TenantRules } from './submission/tenant.ts';

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

const OURSELVES = { 'service.name': 'switchyard-manager', 'service.version': manifest.version };

const FLUSH_MS = 3_000;

/** The text of a submission may say in more words what the Job says in its own. */
const BYTES_PER_JOB_BYTE = 2;

/**
 * Puts the manager together. Every replica watches the manager cluster; the leader alone takes submissions, admits, dispatches and
 * reports outcomes. All state is in Kubernetes: whoever leads next continues from its own, already filled, caches. One that has lost its
 * leadership writes nothing more, not even what was begun.
 */
export function createManager(given: ManagerDeps): Manager {
  return new AssembledManager(given);
}

class AssembledManager implements Manager {
  readonly #deps: ManagerDeps;
  readonly #kind: WorkKind<Job>;
  readonly #rules: JobRules;
  readonly #metrics: ManagerMetrics;
  /** Known before the first Job is looked at, and before anybody submits over HTTP. */
  readonly #keysRead = Promise.withResolvers<RecordKeys>();
  #records: RecordKeeper | undefined;
  #invariants: LiveInvariants | undefined;
  readonly #deposed = new AbortController();
  readonly #restored = new AbortController();
  readonly #hold: KeptLeaseHold | undefined;
  readonly #course = createRevisionTracker();
  readonly #informers: HomeInformers;
  readonly #identities: NamespaceIdentities;
  readonly #series: SeriesKeeper;
  readonly #log: Logger;
  /** The manager cluster, to which only a leader writes. */
  readonly #home: KubeClient;
  readonly #events: EventRecorder;
  readonly #storyEvents: EventRecorder;
  readonly #spans: SpanExporter | undefined;
  readonly #redisProbe: RedisProbe | undefined;
  readonly #tenantRules: TenantRules;
  readonly #doors: SubmissionEndpoints | undefined;
  readonly #dashboard: ReturnType<typeof createManagerDashboard> | undefined;
  readonly #alarm: IdentityAlarm;
  readonly #writeAudit: WriteAudit | undefined;
  #webhookProblem: string | undefined;
  #keyProblem: string | undefined = 'the key of admission records is not read yet';

  constructor(given: ManagerDeps) {
    const { kinds = [] } = given;
    this.#kind = createKinds(JOB_KIND, kinds);
    const deps: ManagerDeps = {
      ...given,
      client: createKindsClient(given.client, kinds, (key) => this.#informers.jobs.get(key)),
      connectCluster: (cluster, access) => createKindsClient(given.connectCluster(cluster, access), kinds),
      ...(given.submissions && { submissions: submissionsOfKinds(given.submissions, kinds) }),
    };
    this.#deps = deps;
    const { client, clock, registry, tracing, jobRules: rules = DEFAULT_JOB_RULES } = deps;
    this.#rules = rules;
    const metrics = createManagerMetrics(registry, clock, { localQueuesMax: deps.metricsLocalQueuesMax ?? DEFAULT_LOCAL_QUEUES_MAX });
    this.#metrics = metrics;
    deps.decisionLog?.countLost(metrics.admission.decisionLogDropped);
    deps.audit?.countDropped(metrics.audit.dropped);
    this.#hold = deps.leaderElection && createLeaseHold(clock);
    const informers = this.#createInformers();
    this.#informers = informers;
    this.#identities = createNamespaceIdentities(informers.namespaces);
    const kindNames = [this.#kind.resource, ...kinds.map(({ resource }) => resource)].map((each) => each.kind);
    this.#series = createSeriesKeeper({ ...informers, registry, metrics, kinds: kindNames, clock });
    const log = tracing === undefined ? deps.log : tracedLog(deps.log, (key) => informers.jobs.get(parseKey(key)));
    this.#log = log;
    this.#home = this.#createHome(log);
    this.#events = createEventRecorder({ client: this.#home, component: 'switchyard-manager', clock, log });
    this.#storyEvents = this.#createStoryEvents(log);
    this.#spans = tracing && createSpanExporter({ ...tracing, ...deps, resource: OURSELVES, count: metrics.spans });
    this.#redisProbe = deps.redisProbe?.(metrics.redis);
    this.#tenantRules = tenantRulesOf(deps.submissions, rules);
    this.#doors = deps.submissions && this.#createDoors(deps.submissions, log);
    this.#dashboard = deps.dashboard && this.#createDashboard(deps.dashboard(metrics.api));
    this.#alarm = createIdentityAlarm({ client, events: this.#events, log, metrics: metrics.identity });
    this.#writeAudit = deps.audit && deps.webhook && createWriteAudit({ kind: this.#kind, log: deps.audit, jobs: informers.jobs, clock });
    if (this.#writeAudit !== undefined) informers.jobs.addHandler(this.#writeAudit.handler);
    this.#webhookProblem = deps.webhook && 'the webhook is not served yet';
  }

  async run(signal: AbortSignal): Promise<void> {
    const deps = this.#deps;
    const origin = deps.managerId ?? (await clusterIdentity(deps, signal));
    if (origin === undefined) return;
    this.#log.info('the manager starts', { origin });
    await allOrNone(signal, [
      async (each) => deps.certificates?.run(each),
      (each) =>
        serveWebhook(
          { ...deps, kind: this.#kind, ...omitUndefined({ onPassed: this.#writeAudit?.passed }) },
          this.#metrics.webhook,
          this.#alarm,
          (problem) => (this.#webhookProblem = problem),
          each,
        ),
      (each) => this.#manage(origin, each),
      (each) => this.#serveDoors(each),
      async (each) => this.#dashboard?.run(each),
      (each) => this.#unlessRestored(each),
      async (each) => this.#redisProbe?.run(each),
      async (each) => this.#spans?.run(each),
      (each) => this.#series.run(each),
    ]);
    await endsWithin(deps.clock, FLUSH_MS, Promise.all([this.#events.flush(), this.#storyEvents.flush()]));
  }

  unreadiness(): string | undefined {
    if (this.#keyProblem !== undefined) return this.#keyProblem;
    const missing = Object.values(this.#informers).find((informer) => !informer.hasSynced());
    if (missing !== undefined) return `the ${missing.resource.plural} of the manager cluster are not listed yet`;
    if (this.#webhookProblem !== undefined) return this.#webhookProblem;
    return this.#deps.certificates?.problem();
  }

  warnings(): readonly string[] {
    return [
      ...this.#alarm.warnings(),
      ...(this.#deps.certificates?.warnings() ?? []),
      ...(this.#redisProbe?.troubles() ?? []).map(({ reason, message }) => `${reason}: ${message}`),
    ];
  }

  invariants(): InvariantReport | undefined {
    return this.#invariants?.report();
  }

  #createInformers(): HomeInformers {
    const deps = this.#deps;
    return createHomeInformers({
      ...deps,
      kind: this.#kind,
      rules: this.#rules,
      ...(deps.dashboard && { usersLabelsMax: SHOWN_LABELS_MAX }),
      isAdmitted: (job) => this.#records?.read(job).kind === 'Record',
      onWentBack: (error) => this.#onWentBack(error),
      course: this.#course,
      onRestart: (resource, times) => this.#metrics.dispatch.watchRestarts.inc({ cluster: HOME, resource }, times),
    });
  }

  #onWentBack(error: Error): void {
    // Decisions that rest on what did not happen must not be written.
    this.#deposed.abort(error);
    this.#restored.abort(new Error('the manager cluster went back in time; the manager starts anew', { cause: error }));
  }

  #fenced(client: KubeClient): KubeClient {
    return fencedClient(client, this.#deposed.signal, this.#hold);
  }

  #createHome(log: Logger): KubeClient {
    const informers = this.#informers;
    /** Of what the manager writes to. */
    const caches = new Map<Resource, Pick<Informer<KubeObject>, 'get'>>([
      [this.#kind.resource, informers.jobs],
      [WORKER_CLUSTERS, informers.workerClusters],
      [CLUSTER_QUEUES, informers.clusterQueues],
      [LOCAL_QUEUES, informers.localQueues],
    ]);
    const guarded = guardStaleReads(this.#deps.client, {
      clock: this.#deps.clock,
      cached: (resource, key) => caches.get(resource)?.get(key)?.metadata.resourceVersion,
      onDoubt: ({ plural }, { namespace, name }, resourceVersion) => {
        const doubted = { plural, namespace, name, resourceVersion };
        log.warn('what is known of the manager cluster is not what it has: all is listed anew', doubted);
        this.#course.invalidate();
      },
    });
    return this.#fenced(guarded);
  }

  /** So that no story stands in the way of what somebody must know. */
  #createStoryEvents(log: Logger): EventRecorder {
    const { storyEventQps: qps = DEFAULT_STORY_EVENT_QPS, clock } = this.#deps;
    const recorder = createEventRecorder({ client: this.#home, component: 'switchyard-story', clock, log });
    return createBudgetedRecorder(recorder, { qps, clock, onDropped: () => this.#metrics.story.dropped.inc() });
  }

  #createDoors({ shared, openDoor }: SubmissionSource, log: Logger): SubmissionEndpoints | undefined {
    if (openDoor === undefined) return undefined;
    return createSubmissionEndpoints({
      shared,
      open: openDoor,
      objects: this.#informers.submissionQueues,
      keys: this.#keysRead.promise,
      tenantRules: this.#tenantRules,
      log: log.with({ part: 'api' }),
    });
  }

  #createDashboard(service: DashboardService): ReturnType<typeof createManagerDashboard> {
    const common = { kind: this.#kind, informers: this.#informers, identities: this.#identities, keys: this.#keysRead.promise };
    return createManagerDashboard(service, { ...this.#deps, ...common });
  }

  /**
   * Queues, quota in use and what was written before the answer was seen: all of it would be of another time. Anew is how it is known to be
   * right.
   */
  async #unlessRestored(signal: AbortSignal): Promise<void> {
    const restored = this.#restored.signal;
    await aborted(AbortSignal.any([signal, restored]));
    if (!signal.aborted) throw restored.reason;
  }

  /** Every replica takes submissions over HTTP: they lie in Redis until the leader looks at them. */
  async #serveDoors(signal: AbortSignal): Promise<void> {
    const deps = this.#deps;
    const { submissionQueues, namespaces } = this.#informers;
    if (deps.serveApi === undefined) return;
    // A queue, or a namespace, that is not listed yet would be said not to exist.
    if (!(await synced(submissionQueues, signal)) || !(await synced(namespaces, signal))) return;
    await Promise.race([this.#keysRead.promise, aborted(signal)]);
    if (signal.aborted) return;
    const server = await deps.serveApi({
      portOf: (namespace, queue) => this.#doors?.of(namespace, queue),
      open: this.#dashboard?.open,
      history: deps.history && createNamespaceHistory(createHistory(deps.history.store), this.#identities),
      uidOf: (namespace) => this.#identities.of(namespace)?.uid,
      metrics: this.#metrics.api,
    });
    this.#log.info('submissions are taken over HTTP', { url: server.url });
    await aborted(signal);
    await server.close();
    await this.#doors?.close();
  }

  /** Nothing is looked at before it can be told who wrote the records on it. */
  async #manage(origin: string, signal: AbortSignal): Promise<void> {
    const deps = this.#deps;
    const { client, clock, recordKeySecret: secret } = deps;
    const onMissing = (problem: string): string => (this.#keyProblem = problem);
    const keeping = { kind: this.#kind, client, secret, origin, onMissing, clock, log: this.#log };
    const keys = await recordKeys(keeping, signal);
    if (keys === undefined) return;
    this.#keyProblem = undefined;
    this.#keysRead.resolve(keys);
    const leader = this.#createLeader(origin, keys);
    this.#invariants = leader.invariants;
    const informers = Object.values(this.#informers);
    // Who leads at once lists what there is once, and need not ask whether a leader before it has admitted more.
    const mayList = Promise.withResolvers<void>();
    const onExpiring = (): void => {
      for (const informer of informers) informer.willCatchUp();
    };
    const lead = async (leading: AbortSignal, lost?: AbortSignal): Promise<void> => {
      lost?.addEventListener('abort', () => this.#deposed.abort(lost.reason), { once: true });
      // The leader before may have admitted what a watch that is held up somewhere has not brought here.
      const caught = lost === undefined ? true : caughtUp(informers, leading);
      mayList.resolve();
      if (!(await caught) || !(await claimRecords({ ...keeping, client: this.#home }, leading))) return;
      this.#keyProblem = undefined;
      deps.onLeading?.();
      return leader.run(leading);
    };
    const onWentBack = (error: Error): void => this.#onWentBack(error);
    const electing = { ...deps, ...omitUndefined({ hold: this.#hold }), onWentBack, onWaiting: mayList.resolve, onExpiring };
    await allOrNone(signal, [
      ...informers.map((informer) => async (each: AbortSignal) => {
        onAbort(each, mayList.resolve);
        await mayList.promise;
        await informer.run(each);
      }),
      (each) => leader.watchCarriable(each),
      (each) => leadWhenElected(electing, lead, each),
    ]);
  }

  #createLeader(origin: string, keys: RecordKeys): Leader {
    const deps = this.#deps;
    const records = createRecordKeeper(keys, this.#kind);
    this.#records = records;
    return createLeader({
      deps,
      kind: this.#kind,
      keys,
      records,
      origin,
      rules: this.#rules,
      tenantRules: this.#tenantRules,
      informers: this.#informers,
      identities: this.#identities,
      home: this.#home,
      fenced: (client) => this.#fenced(client),
      events: this.#events,
      storyEvents: this.#storyEvents,
      connect: (cluster, access) => fencedClient(deps.connectCluster(cluster, access), this.#deposed.signal),
      redisTroubles: this.#redisProbe?.troubles,
      log: this.#log,
      metrics: this.#metrics,
      ...omitUndefined({ hold: this.#hold, spans: this.#spans }),
    });
  }
}

const tenantRulesOf = (submissions: SubmissionSource | undefined, { bytesMax, deniedNamespaces }: JobRules): TenantRules => ({
  bytesMax: BYTES_PER_JOB_BYTE * bytesMax,
  managerIdentity: submissions?.managerIdentity ?? false,
  isRedisCluster: submissions?.isRedisCluster ?? false,
  deniedNamespaces,
});
