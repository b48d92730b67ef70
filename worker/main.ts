/** The worker program: flags, cluster, metrics server, leader election. What it does is in worker.ts. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };
import { createCertificateGauge } from '../shared/runtime/certificate-gauge.ts';
import { workerLeaseName } from '../shared/api/fence-leases.ts';
import { WORKER_FIELD_MANAGER } from '../shared/api/names.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { createClientMetrics } from '../shared/kube/client-metrics.ts';
import type { ClusterAccess } from '../shared/kube/cluster-access.ts';
import { createFairRateLimiter } from '../shared/kube/fair-rate-limiter.ts';
import { createHttpTransport } from '../shared/kube/http-transport.ts';
import { createKubeClient } from '../shared/kube/kube-client.ts';
import { programAccess } from '../shared/kube/program-access.ts';
import { createMetricsGate } from '../shared/kube/access-gate.ts';
import { createRateLimiter, type RateLimiter } from '../shared/kube/rate-limiter.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { runCommandLine } from '../shared/runtime/command-line.ts';
import { FlagError } from '../shared/runtime/flags.ts';
import { createProgramHttp, listen } from '../shared/runtime/http-server.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import { runProgram } from '../shared/runtime/lifecycle.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { certificateFromFiles, reportingSource, type CertificateSource } from '../shared/runtime/serving-certificate.ts';
import { createLogger } from '../shared/runtime/pino-logger.ts';
import { createMetricsText } from '../shared/runtime/metrics-text.ts';
import { createProgramMetrics } from '../shared/runtime/program-metrics.ts';
import { createSpanExporter } from '../shared/runtime/span-exporter.ts';
import { createSpanMetrics } from '../shared/runtime/span-metrics.ts';
import { traceDestination, type TraceDestination } from '../shared/runtime/tracing-flags.ts';
import { tailsNamespace, WORKER_PROGRAM, type WorkerConfig } from './config.ts';
import { createElectedWorker } from './elected-worker.ts';
import { createWorker } from './worker.ts';

await runCommandLine(WORKER_PROGRAM, main);

async function main(config: WorkerConfig): Promise<number> {
  const log = createLogger(config.logLevel);
  const access = programAccess(config, process.env, systemClock);
  checkLeases(config, access);
  const traces = traceDestination(config.otlpEndpoint, process.env);
  return runProgram({ clock: systemClock, log }, (signal) => serve(config, access, traces, log, signal));
}

/** Two programs' parts that write one Lease would take turns in it. */
function checkLeases({ leaderElection, leaseNamespace, formerLeaseNamespace, controllerName }: WorkerConfig, access: ClusterAccess): void {
  const name = workerLeaseName(controllerName);
  const namespace = leaderElection?.namespace ?? access.namespace;
  if (leaderElection?.name !== name || (namespace !== leaseNamespace && namespace !== formerLeaseNamespace)) return;
  throw new FlagError(
    `--leader-elect-resource-name: Lease ${namespace}/${name} is the one by which this worker tells that it is alive; choose another name, such as ${name}-leader`,
  );
}

async function serve(
  config: WorkerConfig,
  access: ClusterAccess,
  traces: TraceDestination | undefined,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const transport = createHttpTransport(access, log);
  // No renewal waits for a connection that the work has.
  const electionTransport = createHttpTransport(access, log);
  const metrics = createClientMetrics(registry)(new URL(access.server).host);
  const clientWith = (rateLimiter: RateLimiter, over = transport): KubeClient =>
    createKubeClient(over, { userAgent: `${WORKER_FIELD_MANAGER}/${manifest.version}`, clock: systemClock, rateLimiter, metrics });
  const rate = { burst: config.kubeApiBurst, clock: systemClock };
  const newClient = (qps = config.kubeApiQps, over = transport): KubeClient => clientWith(createRateLimiter({ ...rate, qps }), over);
  // What is no Job's own, such as watches and orphaned pods, is one flow beside those of the Jobs.
  const fair = createFairRateLimiter({ ...rate, qps: config.kubeApiQps });
  const readiness = { worker: () => worker.problem() };
  const program = createProgramMetrics(registry, { version: manifest.version, nodeVersion: process.version, checks: readiness });
  const spans =
    traces &&
    createSpanExporter({
      ...traces,
      resource: { 'service.name': 'switchyard-worker', 'service.version': manifest.version },
      count: createSpanMetrics(registry),
      clock: systemClock,
      random: Math.random,
      log,
    });
  const deps = {
    onLeading: () => program.leads(true),
    client: clientWith(fair.of('')),
    clientOf: (key: string) => clientWith(fair.of(key)),
    eventClient: newClient(),
    registry,
    clock: systemClock,
    random: Math.random,
    log,
    settings: config,
    spans,
    logs: { client: newClient(), namespace: tailsNamespace(config), keepLogs: config.keepLogs, tailBytes: config.logTailBytes },
    presence: { client: newClient(0), identity: hostname(), version: manifest.version, settings: config },
  };
  const { leaderElection } = config;
  // Alone it leads from the start.
  if (leaderElection === undefined) program.leads(true);
  const worker =
    leaderElection === undefined
      ? createWorker(deps)
      : createElectedWorker({
          ...deps,
          election: {
            client: newClient(0, electionTransport),
            namespace: leaderElection.namespace ?? access.namespace,
            name: leaderElection.name,
            identity: `${hostname()}_${randomUUID()}`,
            leaseDurationMs: leaderElection.leaseDurationMs,
          },
        });
  const http = createProgramHttp({
    metrics: createMetricsText(registry, systemClock),
    readiness,
    invariants: () => worker.invariants(),
    ...(config.metricsAuthentication ? { metricsGate: createMetricsGate({ client: newClient(0), clock: systemClock, log }) } : {}),
  });
  const server =
    config.metricsAddress === undefined
      ? undefined
      : await listen(http, config.metricsAddress, omitUndefined({ certificate: certificateOf(config, registry, log) }));
  log.info('worker started', { server: access.server, ...(server && { http: server.url }), version: manifest.version });
  try {
    await Promise.all([worker.run(signal), spans?.run(signal)]);
  } finally {
    await server?.close();
    await Promise.all([transport.close(), electionTransport.close()]);
  }
}

/** Of the address of the metrics; undefined: plain HTTP. */
function certificateOf({ metricsTls }: WorkerConfig, registry: Registry, log: Logger): CertificateSource | undefined {
  if (metricsTls === undefined) return undefined;
  const notAfter = createCertificateGauge(registry);
  const source = certificateFromFiles({ of: 'metrics', ...metricsTls, clock: systemClock, log });
  return reportingSource(source, (seconds) => notAfter.set({ certificate: 'metrics' }, seconds));
}
