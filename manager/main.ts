import { hostname } from 'node:os';
import { Registry } from 'prom-client';
import { createClientMetrics } from '../shared/kube/client-metrics.ts';
import type { ClusterAccess } from '../shared/kube/cluster-access.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { createHttpTransport } from '../shared/kube/http-transport.ts';
import { createKubeClient } from '../shared/kube/kube-client.ts';
import { accessFromKubeconfig, defaultKubeconfigSource, KubeconfigError } from '../shared/kube/kubeconfig.ts';
import { createRateLimiter } from '../shared/kube/rate-limiter.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { createProgramHttp, listen } from '../shared/runtime/http-server.ts';
import { runProgram } from '../shared/runtime/lifecycle.ts';
import { createLogger } from '../shared/runtime/pino-logger.ts';
import { ConfigError, managerUsage, readManagerConfig, type ApiRate, type ManagerConfig } from './config.ts';
import { createManager } from './manager.ts';
import { connectBullmqQueue } from './submission/bullmq-queue.ts';

const { config, home } = settingsOrExit();
const log = createLogger(config.logLevel);
process.exitCode = await runProgram({ clock: systemClock, log }, (signal) => runManager(config, home, signal));

async function runManager(settings: ManagerConfig, homeAccess: ClusterAccess, signal: AbortSignal): Promise<void> {
  const clock = systemClock;
  const registry = new Registry();
  const metricsOf = createClientMetrics(registry);
  const connect = (access: ClusterAccess, { qps, burst }: ApiRate): KubeClient =>
    createKubeClient(createHttpTransport(access, log), {
      userAgent: 'switchyard-manager',
      clock,
      rateLimiter: createRateLimiter({ qps, burst, clock }),
      metrics: metricsOf(new URL(access.server).host),
    });
  const { redisUrl, leaderElection, managerId, submissionQueue, webhook } = settings;
  const client = connect(homeAccess, settings.home);
  const queue =
    redisUrl === undefined
      ? undefined
      : connectBullmqQueue({
          redisUrl,
          name: submissionQueue,
          prefix: settings.redisPrefix,
          concurrency: settings.concurrentSubmissions,
          clock,
          log,
        });
  const manager = createManager({
    client,
    connectCluster: (_cluster, yaml) => connect(accessFromKubeconfig({ kind: 'text', yaml }, clock), settings.worker),
    ...(queue === undefined ? {} : { submissions: { queue, name: submissionQueue } }),
    ...(managerId === undefined ? {} : { managerId }),
    ...(leaderElection === undefined ? {} : { leaderElection: { ...leaderElection, identity: `${hostname()}_${crypto.randomUUID()}` } }),
    ...(webhook === undefined ? {} : { webhook }),
    concurrentDispatches: settings.concurrentDispatches,
    registry,
    clock,
    random: Math.random,
    log,
  });
  const http = await listen(
    createProgramHttp({ metrics: registry, readiness: { caches: () => manager.unreadiness() } }),
    settings.metricsAddress,
  );
  log.info('metrics and health are served', { url: http.url });
  try {
    await manager.run(signal);
  } finally {
    await queue?.close();
    await client.close();
    await http.close();
  }
}

/** A wrong flag, or a kubeconfig that cannot be used, is one line and exit status 2. */
function settingsOrExit(): { readonly config: ManagerConfig; readonly home: ClusterAccess } {
  try {
    const read = readManagerConfig(process.argv.slice(2), process.env);
    if (read.kind === 'Help') {
      process.stdout.write(managerUsage());
      process.exit(0);
    }
    const { kubeconfig } = read.config;
    const source = kubeconfig === undefined ? defaultKubeconfigSource(process.env) : { kind: 'file' as const, path: kubeconfig };
    return { config: read.config, home: accessFromKubeconfig(source, systemClock) };
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof KubeconfigError)) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.message.split('\n')[0]}` : '';
    process.stderr.write(`switchyard-manager: ${error.message}${cause}\n`);
    process.exit(2);
  }
}
