import manifest from '../../package.json' with { type: 'json' };
import type { Job } from '../../shared/api/kubernetes.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { KeptLeaseHold } from '../../shared/kube/lease-hold.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { SpanExporter } from '../../shared/runtime/span-exporter.ts';
import { allOrNone } from '../../shared/runtime/tasks.ts';
import { type Admission, type AdmissionDeps, createAdmission } from '../admission/admission.ts';
import type { ObservedState } from '../admission/controllers/state-metrics.ts';
import { createClusterObjects } from '../admission/queues/cluster-objects.ts';
import type { JobRules } from '../api/job-rules.ts';
import { createLostClusters } from '../api/lost-clusters.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { RecordKeeper } from '../api/record-keeper.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { createCanary } from '../canary/canary.ts';
import { DEFAULT_TOKEN_LIFE_MS, DEFAULT_WORKER_LOST_TIMEOUT_MS, WORKER_MEMORY_MIB } from '../config/config.ts';
import { createDispatch, type Dispatch, type DispatchDeps } from '../dispatch/dispatch.ts';
import { DEFAULT_RENEW_INTERVAL_MS } from '../dispatch/lease/cluster-lease.ts';
import { createHistoryWriter, type HistoryWriter } from '../history/history-writer.ts';
import { createHistory } from '../history/history.ts';
import { createExpectedRunTimes, expectedOfJobs } from '../insight/estimate/expected-run-times.ts';
import { createRunTimes } from '../insight/estimate/run-times.ts';
import { createStartEstimates } from '../insight/estimate/start-estimates.ts';
import { createLiveInvariants, type LiveInvariants } from '../invariants/live-invariants.ts';
import { clusterGauges } from '../metrics/cluster-gauges.ts';
import type { ManagerMetrics } from '../metrics/metrics.ts';
import { synced } from '../process/awaited-informers.ts';
import { createCarriableObjects } from '../process/carriable-objects.ts';
import type { HomeInformers } from '../process/home-informers.ts';
import type { ManagerDeps } from '../process/manager-deps.ts';
import { onCopyEnded } from '../process/on-copy-ended.ts';
import { createJobTracer } from '../story/job-tracer.ts';
import { createLifecycleEvents } from '../story/lifecycle-events.ts';
import { createOverrideAlarm } from '../story/override-alarm.ts';
import type { RedisTrouble } from '../submission/redis-health.ts';
import { createSubmissions, type Submissions } from '../submission/submissions.ts';
import type { TenantRules } from '../submission/tenant.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/**
 * The work of the leader alone: taking submissions, admitting, dispatching and reporting outcomes. Every replica has the parts, which
 * follow its informers, so that whoever leads next goes on from caches that are filled.
 */
export interface Leader {
  readonly invariants: LiveInvariants;
  /** Follows the objects that may travel with Jobs, on every replica, until `signal` aborts. */
  watchCarriable(signal: AbortSignal): Promise<void>;
  /** Works until `leading` aborts. */
  run(leading: AbortSignal): Promise<void>;
}

/** The parts that each replica has whether it leads or not. */
export type LeaderContext = {
  readonly deps: ManagerDeps;
  readonly kind: WorkKind<Job>;
  readonly keys: RecordKeys;
  readonly records: RecordKeeper;
  /** Id of this manager. */
  readonly origin: string;
  readonly rules: JobRules;
  readonly tenantRules: TenantRules;
  readonly informers: HomeInformers;
  readonly identities: NamespaceIdentities;
  /** The manager cluster, to which only a leader writes. */
  readonly home: KubeClient;
  /** Has a client write nothing while this manager does not lead. */
  readonly fenced: (client: KubeClient) => KubeClient;
  /** Connects to a worker cluster, to which only a leader writes. */
  readonly connect: (cluster: string, access: ClusterAccess) => KubeClient;
  readonly events: EventRecorder;
  /** A recorder that drops Events beyond its rate: for facts that conditions state too. */
  readonly storyEvents: EventRecorder;
  /** The present troubles of Redis; absent: nobody looks. */
  readonly redisTroubles: (() => readonly RedisTrouble[] | undefined) | undefined;
  /** The Lease of the leader election; absent: this manager is the only one. */
  readonly hold?: KeptLeaseHold;
  /** Absent: no traces are exported. */
  readonly spans?: SpanExporter;
  readonly log: Logger;
  readonly metrics: ManagerMetrics;
};

const OWN_IMAGE = `ghcr.io/switchyard/switchyard:${manifest.version}`;
const WORKER_MEMORY_BYTES = WORKER_MEMORY_MIB * 1024 * 1024;

/** Call before the informers run. */
export function createLeader(context: LeaderContext): Leader {
  const { deps, kind, records, informers, log, metrics } = context;
  const { clock } = deps;
  const { jobs, workerClusters } = informers;
  const readRecord = records.read;
  const intake = createIntake(context);
  const history = createKeptHistory(context);
  if (history !== undefined) jobs.addHandler(history.handler);
  const lostClusters = createLostClusters(clock);
  workerClusters.addHandler(lostClusters.handler);
  const { workerLostTimeoutMs = DEFAULT_WORKER_LOST_TIMEOUT_MS } = deps;
  const carriedObjects = createCarriableObjects(deps.carryNamespaces ?? [], { ...deps, log });
  const clusterObjects = createClusterObjects((namespace, object) => dispatch.answersAbout(namespace, object));
  const runTimes = createRunTimes();
  const expected = createExpectedRunTimes(runTimes);
  const admission = createAdmission({
    ...admissionDeps(context),
    lostClusters,
    workerLostTimeoutMs,
    clustersSettled: (leading) => dispatch.clustersReported(leading),
    carriedObjects,
    clusterObjects,
    expectedRunTimes: expectedOfJobs(kind, expected, jobs, readRecord),
  });
  const startEstimates = createStartEstimates({
    kind,
    jobs,
    readRecord,
    clock,
    runTimes: { ...runTimes, observe: expected.observe },
    admission: admission.view,
    log: log.with({ part: 'admission' }),
    metrics: metrics.startEstimates,
  });
  jobs.addHandler(startEstimates);
  const dispatch = createDispatch({
    ...dispatchDeps(context),
    admitting: (cluster) => admission.admitting(cluster),
    lostClusters,
    workerLostTimeoutMs,
    objectWaiters: clusterObjects,
    isNoted: intake.isNoted,
    ...omitUndefined({ endings: onCopyEnded([history, intake.endings]) }),
  });
  const invariants = createInvariants(context, admission, dispatch);
  jobs.addHandler(invariants.handler);
  const observers = createObservers(context);
  const observed = (): ObservedState => {
    const state = admission.observed();
    return { ...state, clusters: clusterGauges(workerClusters.list(), { ...state, heardMs: (name) => dispatch.heardMs(name), clock }) };
  };
  return {
    invariants,
    watchCarriable: (signal) => carriedObjects.run(signal),
    async run(leading) {
      metrics.state.observe(observed);
      await allOrNone(leading, [
        (each) => observers.run(each),
        (each) => admission.run(each),
        (each) => startEstimates.run(each),
        (each) => dispatch.run(each),
        (each) => invariants.run(each),
        (each) => intake.run(each),
        // A record says of which namespace its Job was.
        async (each) => void ((await synced(informers.namespaces, each)) && (await history?.run(each))),
      ]);
    },
  };
}

function createIntake({ deps, kind, keys, rules, tenantRules, informers, identities, ...context }: LeaderContext): Submissions {
  const { home, fenced, redisTroubles, log, metrics } = context;
  return createSubmissions({
    kind,
    home,
    fenced,
    keys,
    rules,
    tenantRules,
    redisTroubles,
    log,
    metrics,
    source: deps.submissions,
    jobs: informers.jobs,
    objects: informers.submissionQueues,
    ledgerNamespace: deps.recordKeySecret.namespace,
    carryNamespaces: deps.carryNamespaces ?? [],
    namespaceUid: (namespace) => identities.of(namespace)?.uid,
    clock: deps.clock,
  });
}

/** undefined: no history is kept. */
function createKeptHistory({ deps, kind, records, informers, identities, log, metrics }: LeaderContext): HistoryWriter | undefined {
  if (deps.history === undefined) return undefined;
  const { history, clock, random } = deps;
  return createHistoryWriter({
    kind,
    clock,
    random,
    history: createHistory(history.store),
    jobs: informers.jobs,
    namespaces: identities,
    readRecord: records.read,
    limits: history.limits,
    log: log.with({ part: 'history' }),
    metrics: metrics.history,
  });
}

function admissionDeps({
  deps,
  kind,
  records,
  informers,
  home,
  events,
  storyEvents,
  log,
  metrics,
}: LeaderContext): Omit<AdmissionDeps, 'lostClusters' | 'workerLostTimeoutMs'> {
  return {
    kind,
    records,
    informers,
    events,
    storyEvents,
    client: home,
    ...omitUndefined({
      requeuingTimestamp: deps.requeuingTimestamp,
      fairSharing: deps.fairSharing,
      admissionFairSharing: deps.admissionFairSharing,
      defaultPlacement: deps.defaultPlacement,
      decisionLog: deps.decisionLog,
      traceRatio: deps.tracing?.ratio,
    }),
    clock: deps.clock,
    log: log.with({ part: 'admission' }),
    metrics: metrics.admission,
  };
}

function dispatchDeps({
  deps,
  kind,
  keys,
  records,
  origin,
  informers,
  home,
  connect,
  ...context
}: LeaderContext): Omit<DispatchDeps, 'admitting' | 'lostClusters' | 'workerLostTimeoutMs'> {
  const { clock, random, tracing } = deps;
  const { events, hold, log, metrics } = context;
  return {
    kind,
    keys,
    origin,
    home,
    connect,
    events,
    clock,
    random,
    jobs: informers.jobs,
    workerClusters: informers.workerClusters,
    flavors: informers.resourceFlavors,
    clusterQueues: informers.clusterQueues,
    namespaces: informers.namespaces,
    readRecord: records.read,
    podFenceImage: deps.podFenceImage ?? OWN_IMAGE,
    clusterSecretsNamespace: deps.clusterSecretsNamespace,
    tokenLifeMs: deps.tokenLifeMs ?? DEFAULT_TOKEN_LIFE_MS,
    renewIntervalMs: deps.renewIntervalMs ?? DEFAULT_RENEW_INTERVAL_MS,
    concurrencyPerCluster: deps.concurrentDispatches,
    memoryPerClusterBytes: deps.memoryPerClusterBytes ?? WORKER_MEMORY_BYTES,
    ...omitUndefined({ hold, tracing }),
    log: log.with({ part: 'dispatch' }),
    metrics: metrics.dispatch,
  };
}

function createInvariants(context: LeaderContext, admission: Admission, dispatch: Dispatch): LiveInvariants {
  const { deps, kind, records, informers, events, log, metrics } = context;
  const { jobs, workerClusters } = informers;
  return createLiveInvariants({
    kind,
    jobs,
    workerClusters,
    dispatch,
    events,
    readRecord: records.read,
    clock: deps.clock,
    homeHeardMs: () => jobs.lastHeardMs(),
    accountOf: (key) => admission.accountOf(key),
    patience: deps.invariantPatience ?? 1,
    log: log.with({ part: 'invariants' }),
    metrics: metrics.invariants,
  });
}

/** The parts that say, or try, how Jobs fare: Events of their way, overrides, traces and canaries. */
function createObservers(context: LeaderContext): { run(leading: AbortSignal): Promise<void> } {
  const { deps, kind, records, informers, home, events, storyEvents, spans, log, metrics } = context;
  const { clock, tracing } = deps;
  const readRecord = records.read;
  const story = createLifecycleEvents({ kind, events: storyEvents, readRecord });
  const overrides = createOverrideAlarm({ kind, events, metrics: metrics.story, log: log.with({ part: 'overrides' }) });
  const tracer = tracing && spans && createJobTracer({ kind, exporter: spans, ratio: tracing.ratio, readRecord, clock });
  const { canary: config } = deps;
  const canary =
    config && createCanary({ ...informers, kind, config, client: home, metrics: metrics.canary, clock, log: log.with({ part: 'canary' }) });
  for (const each of [canary, story, overrides, tracer]) if (each !== undefined) informers.jobs.addHandler(each.handler);
  return {
    async run(leading) {
      story.lead(leading);
      overrides.lead(leading);
      tracer?.lead(leading);
      await canary?.run(leading);
    },
  };
}
