import { Registry } from 'prom-client';
import { createClientFactory } from '../../manager/process/client-factory.ts';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import { createWorkerConnector } from '../../manager/process/worker-connection.ts';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import { createClientMetrics } from '../../shared/kube/client-metrics.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createCertificateGauge } from '../../shared/runtime/certificate-gauge.ts';
import { createProgramMetrics } from '../../shared/runtime/program-metrics.ts';
import { createWorker } from '../../worker/worker.ts';

const clock = systemClock;
const log = silentLogger;
const NO_SERVER: Transport = {
  send: () => Promise.reject(new Error('nothing is to be sent')),
  stream: () => Promise.reject(new Error('nothing is to be sent')),
  close: () => Promise.resolve(),
};
const aboutProgram = { version: '', nodeVersion: '', checks: {} };

/** All that a manager registers, without those of Node: nothing runs. */
export function managerRegistry(): Registry {
  const registry = new Registry();
  createProgramMetrics(registry, aboutProgram);
  createCertificateGauge(registry);
  createManagerMetrics(registry, clock);
  const clientOver = createClientFactory({ registry, clock });
  createWorkerConnector({ clientOver, denied: createAddressRanges([]), rate: { qps: 0, burst: 1 }, registry, clock, log });
  return registry;
}

/** All that a worker with every controller registers, without those of Node: nothing runs. */
export function workerRegistry(): Registry {
  const registry = new Registry();
  createProgramMetrics(registry, aboutProgram);
  createCertificateGauge(registry);
  createClientMetrics(registry);
  const client = createKubeClient(NO_SERVER, { userAgent: '', clock, rateLimiter: createRateLimiter({ qps: 0, burst: 1, clock }) });
  createWorker({
    client,
    registry,
    clock,
    random: Math.random,
    log,
    settings: {
      controllerName: '',
      controllers: ['job', 'ttl-after-finished'],
      concurrentJobSyncs: 1,
      concurrentTtlSyncs: 1,
      batchPeriodMs: 0,
      namespaces: [],
    },
    presence: { client, identity: '', version: '', settings: { fenceAfterMs: 0, leaseNamespace: '' } },
    logs: { client, namespace: '', keepLogs: 'All', tailBytes: 1 },
  });
  return registry;
}
