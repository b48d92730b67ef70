import manifest from '../package.json' with { type: 'json' };
import type { DeepReadonly, Job, KubeObject } from '../shared/api/kubernetes.ts';
import type { Resource } from '../shared/api/resources.ts';
import { createBudgetedRecorder } from '../shared/kube/budgeted-recorder.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { createEventRecorder } from '../shared/kube/event-recorder.ts';
import { fencedClient } from '../shared/kube/fenced-client.ts';
import type { Informer } from '../shared/kube/informer.ts';
import { parseKey } from '../shared/kube/keys.ts';
import { createLeaseHold } from '../shared/kube/lease-hold.ts';
import { createRevisionTracker } from '../shared/kube/revision-tracker.ts';
import { guardStaleReads } from '../shared/kube/stale-read-guard.ts';
import { endsWithin } from '../shared/runtime/clock.ts';
import type { InvariantReport } from '../shared/runtime/invariant-report.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import { createSpanExporter } from '../shared/runtime/span-exporter.ts';
import { aborted, allOrNone, onAbort } from '../shared/runtime/tasks.ts';
import { DEFAULT_LOCAL_QUEUES_MAX } from './admission/controllers/state-metrics.ts';
import { CLUSTER_QUEUES } from './api/cluster-queue.ts';
import { DEFAULT_JOB_RULES } from './api/job-rules.ts';
import { LOCAL_QUEUES } from './api/local-queue.ts';
import { createNamespaceIdentities } from './api/namespace-identities.ts';
import { createRecordKeeper, type RecordKeeper } from './api/record-keeper.ts';
import type { RecordKeys } from './api/record-seal.ts';
import { WORKER_CLUSTERS } from './api/worker-cluster.ts';
import { createWriteAudit } from './audit/write-audit.ts';
import { DEFAULT_STORY_EVENT_QPS } from './config/config.ts';
import { createHistory } from './history/history.ts';
import { createNamespaceHistory } from './history/namespace-history.ts';
import type { LiveInvariants } from './invariants/live-invariants.ts';
import { createLeader } from './leader/leader.ts';
import { createManagerMetrics } from './metrics/metrics.ts';
import { createSeriesKeeper } from './metrics/series-keeper.ts';
import { caughtUp, synced } from './process/awaited-informers.ts';
import { HOME } from './process/client-factory.ts';
import { createHomeInformers } from './process/home-informers.ts';
import { createIdentityAlarm } from './process/identity-alarm.ts';
import { clusterIdentity } from './process/identity.ts';
import { leadWhenElected } from './process/lead-when-elected.ts';
import { createManagerDashboard, SHOWN_LABELS_MAX } from './process/manager-dashboard.ts';
import type { ManagerDeps } from './process/manager-deps.ts';
import { recordKeys } from './process/record-key.ts';
import { claimRecords } from './process/record-origin.ts';
import { serveWebhook } from './process/serve-webhook.ts';
import { tracedLog } from './story/traced-log.ts';
import { createSubmissionEndpoints } from './submission/submission-endpoints.ts';
import { submissionsOfKinds } from './submission/submissions.ts';
import { createKinds } from './work-kind/kinds.ts';
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
  const { kinds = [] } = given;
  const kind = createKinds(JOB_KIND, kinds);
  const deps: ManagerDeps = {
    ...given,
    client: createKindsClient(given.client, kinds, (key) => informers.jobs.get(key)),
    connectCluster: (cluster, access) => createKindsClient(given.connectCluster(cluster, access), kinds),
    ...(given.submissions && { submissions: submissionsOfKinds(given.submissions, kinds) }),
  };
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
    kind,
    rules,
    ...(deps.dashboard && { usersLabelsMax: SHOWN_LABELS_MAX }),
    isAdmitted,
    onWentBack,
    course,
    onRestart: (resource, times) => metrics.dispatch.watchRestarts.inc({ cluster: HOME, resource }, times),
  });
  const identities = createNamespaceIdentities(informers.namespaces);
  const series = createSeriesKeeper({
    ...informers,
    registry,
    metrics,
    kinds: [kind.resource, ...kinds.map(({ resource }) => resource)].map((each) => each.kind),
    clock,
  });
  const log = tracing === undefined ? deps.log : tracedLog(deps.log, (key) => informers.jobs.get(parseKey(key)));
  /** Of what the manager writes to. */
  const caches = new Map<Resource, Pick<Informer<KubeObject>, 'get'>>([
    [kind.resource, informers.jobs],
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
  const dashboard =
    deps.dashboard && createManagerDashboard(deps.dashboard(metrics.api), { ...deps, kind, informers, identities, keys: keysRead.promise });
  const alarm = createIdentityAlarm({ client, events, log, metrics: metrics.identity });
  const writeAudit = deps.audit && deps.webhook && createWriteAudit({ kind, log: deps.audit, jobs: informers.jobs, clock });
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
          { ...deps, kind, ...omitUndefined({ onPassed: writeAudit?.passed }) },
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
      open: dashboard?.open,
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
    const keeping = { kind, client, secret, origin, onMissing: (problem: string) => (keyProblem = problem), clock, log };
    const keys = await recordKeys(keeping, signal);
    if (keys === undefined) return;
    keyProblem = undefined;
    keysRead.resolve(keys);
    records = createRecordKeeper(keys, kind);
    const leader = createLeader({
      deps,
      kind,
      keys,
      records,
      origin,
      rules,
      tenantRules,
      informers,
      identities,
      home,
      fenced,
      events,
      storyEvents,
      connect: (cluster, access) => fencedClient(deps.connectCluster(cluster, access), deposed.signal),
      redisTroubles: redisProbe?.troubles,
      log,
      metrics,
      ...omitUndefined({ hold, spans }),
    });
    ({ invariants } = leader);
    // Who leads at once lists what there is once, and need not ask whether a leader before it has admitted more.
    const mayList = Promise.withResolvers<void>();
    const onExpiring = (): void => {
      for (const informer of Object.values(informers)) informer.willCatchUp();
    };
    const lead = async (leading: AbortSignal, lost?: AbortSignal): Promise<void> => {
      lost?.addEventListener('abort', () => deposed.abort(lost.reason), { once: true });
      // The leader before may have admitted what a watch that is held up somewhere has not brought here.
      const caught = lost === undefined ? true : caughtUp(Object.values(informers), leading);
      mayList.resolve();
      if (!(await caught) || !(await claimRecords({ ...keeping, client: home }, leading))) return;
      keyProblem = undefined;
      deps.onLeading?.();
      return leader.run(leading);
    };
    await allOrNone(signal, [
      ...Object.values(informers).map((informer) => async (each: AbortSignal) => {
        onAbort(each, mayList.resolve);
        await mayList.promise;
        await informer.run(each);
      }),
      (each) => leader.watchCarriable(each),
      (each) => leadWhenElected({ ...deps, ...omitUndefined({ hold }), onWentBack, onWaiting: mayList.resolve, onExpiring }, lead, each),
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
