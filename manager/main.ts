import { hostname } from 'node:os';
import path from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };
import { SHARED_TENANT } from '../shared/api/names.ts';
import { createAddressRanges } from '../shared/kube/address-ranges.ts';
import type { ClusterAccess } from '../shared/kube/cluster-access.ts';
import { createHttpTransport } from '../shared/kube/http-transport.ts';
import { programAccess } from '../shared/kube/program-access.ts';
import type { KubeClient, StreamClient } from '../shared/kube/client.ts';
import type { ActingAs } from '../shared/kube/kube-client.ts';
import type { ApiRate } from '../shared/kube/rate-limiter.ts';
import { createAccessGate, createMetricsGate } from '../shared/kube/access-gate.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { runCommandLine } from '../shared/runtime/command-line.ts';
import { createProgramHttp, listen, type ProgramHttpOptions } from '../shared/runtime/http-server.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import { DRAIN_MS, runProgram } from '../shared/runtime/lifecycle.ts';
import { allOrNone } from '../shared/runtime/tasks.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { createLogger } from '../shared/runtime/pino-logger.ts';
import { createMetricsText } from '../shared/runtime/metrics-text.ts';
import { createProgramMetrics } from '../shared/runtime/program-metrics.ts';
import { traceDestination, type TraceDestination } from '../shared/runtime/tracing-flags.ts';
import { createClientFactory } from './process/client-factory.ts';
import { MANAGER_PROGRAM, type ManagerConfig } from './config/config.ts';
import type { DecisionLogConfig } from './config/decision-log-flags.ts';
import { createAuditFile, type AuditFile } from './audit/audit-file.ts';
import { createAuditLog, type AuditLog } from './audit/audit-log.ts';
import { createDecisionLogFile, type DecisionLogFile } from './process/decision-log-file.ts';
import type { OpenDashboard } from './http/dashboard-routes.ts';
import { serveDashboard } from './http/serve-dashboard.ts';
import { serveSubmissions } from './http/serve-submissions.ts';
import { createManager, type Manager } from './manager.ts';
import type { ManagerDeps } from './process/manager-deps.ts';
import type { RecordKeys } from './api/record-seal.ts';
import type { SubmissionSource } from './submission/submissions.ts';
import type { KeyValueStore } from './history/key-value-store.ts';
import { openStore } from './history/open-store.ts';
import type { HistoryConfig } from './config/history-flags.ts';
import { readHistorySettings } from './config/read-history-settings.ts';
import { readSignInSettings } from './config/sign-in-flags.ts';
import { readRedisSettings } from './config/read-redis-settings.ts';
import type { RedisMetrics } from './submission/redis-metrics.ts';
import type { RedisProbe } from './submission/redis-probe.ts';
import type { RedisSettings } from './submission/redis-settings.ts';
import { sharedTenant } from './submission/tenant.ts';
import { textProblem } from './submission/submission-text.ts';
import { createSignIn, type SignInSettings } from './sign-in/sign-in.ts';
import { createServingCertificates, type ServingCertificates } from './process/serving-certificates.ts';
import { followWorkKinds, KindsChanged, readWorkKinds } from './process/work-kinds.ts';
import { createWorkerConnector } from './process/worker-connection.ts';

async function main(config: ManagerConfig): Promise<number> {
  const log = createLogger(config.logLevel);
  const home = programAccess(config, process.env, systemClock);
  const redis = config.redis && readRedisSettings(config.redis);
  const signIn = config.dashboard?.signIn && readSignInSettings(config.dashboard.signIn);
  const traces = traceDestination(config.tracing.otlpEndpoint, process.env);
  const drainMs = DRAIN_MS + (config.webhook?.shutdownDelayMs ?? 0);
  return runProgram({ clock: systemClock, log, drainMs }, async (signal) => {
    for (;;) {
      try {
        return await runManager({ ...config, redis, signIn }, home, traces, log, signal);
      } catch (error) {
        if (!(error instanceof KindsChanged)) throw error;
      }
    }
  });
}

type Settings = Omit<ManagerConfig, 'redis'> & {
  readonly redis: RedisSettings | undefined;
  readonly signIn: SignInSettings | undefined;
};

async function runManager(
  settings: Settings,
  homeAccess: ClusterAccess,
  traces: TraceDestination | undefined,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const common = { registry, clock: systemClock, random: Math.random, log };
  const clientOver = createClientFactory(common);
  const denied = createAddressRanges(settings.workerAddressDeny);
  const homeTransport = createHttpTransport(homeAccess, log);
  const homeClient: HomeClient = (rate, actAs) => clientOver(homeTransport, homeAccess, rate, omitUndefined({ actAs }));
  const client = homeClient(settings.home);
  const ofKinds = { client, clock: systemClock, random: Math.random, log: log.with({ part: 'kinds' }) };
  const workKinds = await readWorkKinds(ofKinds, signal);
  if (workKinds === undefined) return client.close();
  // No renewal waits for a connection that the work has.
  const electionTransport = createHttpTransport(homeAccess, log);
  const { close, ...outlets } = await openOutlets(settings, homeClient, log);
  const readiness = { caches: () => manager.unreadiness() };
  const program = createProgramMetrics(registry, { version: manifest.version, nodeVersion: process.version, checks: readiness });
  const { leaderElection } = settings;
  const namespace = leaderElection?.namespace ?? homeAccess.namespace;
  const ofCertificates = { own: settings.certificateSecret, namespace, client: homeClient(CERTIFICATE_RATE) };
  const certificates = createServingCertificates({ ...common, ...ofCertificates });
  const connectCluster = createWorkerConnector({ ...common, clientOver, denied, rate: settings.worker });
  const serving = { settings, homeClient, connectCluster, certificates, audit: outlets.audit, log };
  const manager = createManager({
    ...common,
    ...flagDeps(settings, namespace),
    onLeading: () => program.leads(true),
    client,
    kinds: workKinds.kinds,
    connectCluster,
    ...outlets,
    ...(leaderElection && {
      leaderElection: {
        client: clientOver(electionTransport, homeAccess, UNLIMITED),
        namespace,
        name: leaderElection.name,
        identity: `${hostname()}_${crypto.randomUUID()}`,
        leaseDurationMs: leaderElection.leaseDurationMs,
      },
    }),
    ...webhookOf(serving),
    certificates: certificates.reader,
    ...(traces && { tracing: { ...traces, ratio: settings.tracing.traceRatio, pods: settings.tracing.pods } }),
    serveApi: apiOf(serving),
    dashboard: dashboardOf(serving),
  });
  const serve = serverOfProgram(serving, registry, readiness, manager);
  let http: { close(): Promise<void> } | undefined;
  // A certificate of our own comes when the manager runs.
  const isOwn = settings.metricsTls === 'Own';
  if (!isOwn) http = await serve(signal);
  try {
    await allOrNone(signal, [
      (each) => manager.run(each),
      (each) => followWorkKinds(workKinds, ofKinds, each),
      async (each) => {
        if (isOwn) http = await serve(each);
      },
    ]);
  } finally {
    await close();
    await Promise.all([client.close(), electionTransport.close()]);
    await http?.close();
  }
}

/** A client of the manager cluster with a rate limit of its own. */
type HomeClient = (rate: ApiRate, actAs?: ActingAs) => KubeClient & StreamClient;

const UNLIMITED: ApiRate = { qps: 0, burst: 1 };

/** Opens what the manager reads submissions from, and writes to beside Kubernetes. */
async function openOutlets(settings: Settings, homeClient: HomeClient, log: Logger) {
  const { redis } = settings;
  const submissions = redis && {
    ...(await submissionSource(redis, settings, log)),
    // The gate in front of it has the limit.
    client: (actAs: ActingAs | undefined) => homeClient(UNLIMITED, actAs),
  };
  const probing = redis && (await connectProbe(redis, log));
  const decisionLog = settings.decisionLog && (await openDecisionLog(settings.decisionLog, log));
  const auditFile = settings.auditLog === undefined ? undefined : await openAuditFile(settings.auditLog, log);
  const history = settings.history && { ...settings.history, store: await openHistory(settings.history, log) };
  return {
    ...omitUndefined({ submissions }),
    ...(probing && { redisProbe: (metrics: RedisMetrics) => probing.probe(metrics) }),
    decisionLog,
    audit: auditFile && createAuditLog({ sink: auditFile, clock: systemClock }),
    history,
    close: async (): Promise<void> => {
      probing?.close();
      submissions?.close?.();
      await Promise.all([decisionLog?.close(LOG_CLOSE_MS), auditFile?.close(LOG_CLOSE_MS)]);
      await history?.store.close();
    },
  };
}

/** Flags of the manager alone. `namespace`: its own. */
function flagDeps(settings: Settings, namespace: string) {
  const { managerId, recordKeySecret } = settings;
  return {
    memoryPerClusterBytes: settings.workerMemoryBytes,
    recordKeySecret: { namespace: recordKeySecret.namespace ?? namespace, name: recordKeySecret.name },
    ...omitUndefined({ managerId }),
    knownUsers: settings.knownUsers,
    concurrentDispatches: settings.concurrentDispatches,
    workerLostTimeoutMs: settings.workerLostTimeoutMs,
    podFenceImage: settings.podFenceImage,
    carryNamespaces: settings.carryNamespaces,
    requeuingTimestamp: settings.requeuingTimestamp,
    tokenLifeMs: settings.tokenLifeMs,
    clusterSecretsNamespace: settings.clusterSecretsNamespace,
    renewIntervalMs: settings.renewIntervalMs,
    fairSharing: settings.fairSharing,
    admissionFairSharing: settings.admissionFairSharing,
    defaultPlacement: settings.defaultPlacement,
    jobRules: settings.jobRules,
    canary: settings.canary,
    storyEventQps: settings.storyEventQps,
    metricsLocalQueuesMax: settings.metricsLocalQueuesMax,
  };
}

/** The parts of which the servers of this program are made. */
type Serving = {
  readonly settings: Settings;
  readonly homeClient: HomeClient;
  readonly connectCluster: ReturnType<typeof createWorkerConnector>;
  readonly certificates: ServingCertificates;
  readonly audit: AuditLog | undefined;
  readonly log: Logger;
};

const webhookOf = ({ settings: { webhook }, certificates }: Serving): Pick<ManagerDeps, 'webhook'> =>
  webhook ? { webhook: { ...webhook, certificate: certificates.of('webhook', webhook.tls) } } : {};

function apiOf({ settings, homeClient, certificates, audit, log }: Serving): ManagerDeps['serveApi'] {
  const { api, jobRules } = settings;
  const clock = systemClock;
  const bodyBytesMax = BODY_BYTES_PER_JOB_BYTE * jobRules.bytesMax;
  return (
    api &&
    (({ portOf, open, history, uidOf, metrics }) =>
      serveSubmissions(api.address, {
        ...(api.tls && { tls: certificates.of('api', api.tls) }),
        portOf,
        metrics,
        ...omitUndefined({ open, history }),
        bodyBytesMax,
        problemOf: (text) => textProblem(text, { bytesMax: bodyBytesMax }),
        // Like that of the metrics it has a limit of its own.
        gate: createAccessGate({ client: homeClient(UNLIMITED), uidOf, clock, log }),
        audit: audit && { door: 'http', log: audit },
        clock,
        log,
      }))
  );
}

/** The API serves the same views. */
function dashboardOf({ settings, homeClient, connectCluster, certificates, audit, log }: Serving): ManagerDeps['dashboard'] {
  const { api, dashboard, signIn } = settings;
  const clock = systemClock;
  return (
    (dashboard ?? api) &&
    ((metrics) => ({
      reviewer: homeClient(UNLIMITED),
      ...omitUndefined({ proxy: dashboard?.proxy, traceUrl: dashboard?.traceUrl }),
      actions: dashboard?.actions ?? false,
      audit,
      // With limits of their own: users who look keep no Job waiting.
      ...(dashboard?.liveLogs === true && { liveLogs: { home: homeClient(LOOKING_RATE), connect: connectCluster } }),
      ...(dashboard && {
        serve: (open: OpenDashboard, keys: Promise<RecordKeys>) =>
          serveDashboard(dashboard.address, {
            ...(signIn && { signIn: createSignIn({ settings: signIn, keys, clock, log: log.with({ part: 'sign-in' }) }) }),
            ...(dashboard.tls && { tls: certificates.of('dashboard', dashboard.tls) }),
            open,
            audit: audit && { door: 'dashboard', log: audit },
            pageFolder: PAGE_FOLDER,
            metrics,
            clock,
            log,
          }),
      }),
    }))
  );
}

/** Serves metrics and health from when it is called, if they have an address. */
function serverOfProgram(
  { settings, homeClient, certificates, log }: Serving,
  registry: Registry,
  readiness: ProgramHttpOptions['readiness'],
  manager: Manager,
) {
  const { metricsAddress, metricsTls, metricsAuthentication } = settings;
  // The gate of the metrics has a limit of its own.
  const answer = createProgramHttp({
    metrics: createMetricsText(registry, systemClock),
    readiness,
    warnings: () => manager.warnings(),
    invariants: () => manager.invariants(),
    ...(metricsAuthentication ? { metricsGate: createMetricsGate({ client: homeClient(UNLIMITED), clock: systemClock, log }) } : {}),
  });
  return async (signal: AbortSignal): Promise<{ close(): Promise<void> } | undefined> => {
    if (metricsAddress === undefined) return undefined;
    const certificate = metricsTls && certificates.of('metrics', metricsTls);
    const server = await listen(answer, metricsAddress, { ...omitUndefined({ certificate }), signal });
    log.info('metrics and health are served', { url: server.url });
    return server;
  };
}

/** Certificates are read by watches, which do not wait behind the work. */
const CERTIFICATE_RATE = { qps: 5, burst: 20 };
/** Kubeconfigs of worker clusters are read, and pods where the manager cluster is one. */
const LOOKING_RATE = { qps: 20, burst: 40 };
/** Made by scripts/build-page.ts. */
const PAGE_FOLDER = path.join(import.meta.dirname, 'dashboard', 'dist');

/** Where the disk does not answer the program ends all the same. */
const LOG_CLOSE_MS = 2_000;

async function openDecisionLog(config: DecisionLogConfig, log: Logger): Promise<DecisionLogFile> {
  const file = createDecisionLogFile({ config, clock: systemClock, log });
  try {
    await file.open();
    return file;
  } catch (error) {
    const destination = `the decision log ${config.destination}`;
    throw new Error(`${destination} cannot be written; name a file of which the directory exists and may be written to`, { cause: error });
  }
}

async function openAuditFile(destination: string, log: Logger): Promise<AuditFile> {
  const file = createAuditFile({ destination, clock: systemClock, log });
  try {
    await file.open();
    return file;
  } catch (error) {
    throw new Error(`the audit log ${destination} cannot be written; name a file of which the directory exists and may be written to`, {
      cause: error,
    });
  }
}

async function openHistory(config: HistoryConfig, log: Logger): Promise<KeyValueStore> {
  const { address, credentials } = readHistorySettings(config, process.env);
  try {
    return await openStore(address, credentials, log);
  } catch (error) {
    throw new Error('--history-store cannot be used', { cause: error });
  }
}

/** BullMQ is loaded where there is a Redis: it doubles what a manager without one would load. */
async function connectProbe(redis: RedisSettings, log: Logger): Promise<{ probe(metrics: RedisMetrics): RedisProbe; close(): void }> {
  const [{ connectRedis }, { createRedisProbe }] = await Promise.all([
    import('./submission/redis-connection.ts'),
    import('./submission/redis-probe.ts'),
  ]);
  const connection = connectRedis(redis, 'Impatient');
  return {
    probe: (metrics) => createRedisProbe({ connection, clock: systemClock, log: log.with({ part: 'redis' }), metrics }),
    close: () => connection.disconnect(),
  };
}

async function submissionSource(
  redis: RedisSettings,
  settings: ManagerConfig,
  log: Logger,
): Promise<SubmissionSource & { close?(): void }> {
  const [{ connectBullmqQueue }, { openSubmissionPort: openDoor }, { openRedis }] = await Promise.all([
    import('./submission/bullmq-queue.ts'),
    import('./submission/open-submission-port.ts'),
    import('./submission/redis-connection.ts'),
  ]);
  const { submissionQueue, redisPrefix, submissionNamespaces: namespaces } = settings;
  const { concurrentSubmissions, jobRules, allowManagerIdentity } = settings;
  const isRedisCluster = redis.servers.kind === 'Cluster';
  const shared = { prefix: redisPrefix, queue: submissionQueue };
  const doorsConnection = settings.api && openRedis(redis, log.with({ part: 'api' }));
  return {
    ...(doorsConnection && {
      openDoor: (tenant, sign) => openDoor(tenant, doorsConnection, systemClock, sign),
      close: () => doorsConnection.disconnect(),
    }),
    shared: submissionQueue === '' ? undefined : sharedTenant(shared, { namespaces, bytesMax: 2 * jobRules.bytesMax }),
    managerIdentity: allowManagerIdentity,
    isRedisCluster,
    rate: settings.submissions,
    turnsMax: concurrentSubmissions,
    connect: (tenant) =>
      connectBullmqQueue({
        redis,
        tenant: tenant.id,
        name: tenant.redis.queue,
        prefix: tenant.redis.prefix,
        concurrency: tenant.id === SHARED_TENANT ? concurrentSubmissions : Math.min(concurrentSubmissions, CONCURRENCY_PER_TENANT),
        textBytesMax: tenant.limits.bytes,
        textDepthMax: tenant.limits.depth,
        clock: systemClock,
        log: log.with({ tenant: tenant.label }),
      }),
  };
}

/** What is around a Job, such as options, is small; JSON may be written in more words than are stored. */
const BODY_BYTES_PER_JOB_BYTE = 2;

/** Of the submissions of one queue: the others wait in Redis. */
const CONCURRENCY_PER_TENANT = 20;

// Last: what stands below would not be there yet.
await runCommandLine(MANAGER_PROGRAM, main);
