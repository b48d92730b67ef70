/** The program that makes the webhook's certificate and has API servers trust it, under an account of its own. */
import manifest from '../package.json' with { type: 'json' };
import type { ClusterAccess } from '../shared/kube/cluster-access.ts';
import { createHttpTransport } from '../shared/kube/http-transport.ts';
import { createKubeClient } from '../shared/kube/kube-client.ts';
import { programAccess } from '../shared/kube/program-access.ts';
import { createRateLimiter } from '../shared/kube/rate-limiter.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { runCommandLine } from '../shared/runtime/command-line.ts';
import { createProgramHttp, listen } from '../shared/runtime/http-server.ts';
import { runProgram } from '../shared/runtime/lifecycle.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { createLogger } from '../shared/runtime/pino-logger.ts';
import { createCertificateKeeper } from './certificates/certificate-keeper.ts';
import { makeKeyPair } from './certificates/make-key-pair.ts';
import { CERTIFICATES_PROGRAM, type CertificatesConfig } from './config/certificates-program.ts';

/** A certificate takes two writes for each configuration and renewal. */
const RATE = { qps: 5, burst: 20 };

await runCommandLine(CERTIFICATES_PROGRAM, main);

async function main(config: CertificatesConfig): Promise<number> {
  const log = createLogger(config.logLevel);
  const access = programAccess(config, process.env, systemClock);
  return runProgram({ clock: systemClock, log }, (signal) => serve(config, access, log, signal));
}

async function serve(config: CertificatesConfig, access: ClusterAccess, log: Logger, signal: AbortSignal): Promise<void> {
  const clock = systemClock;
  const transport = createHttpTransport(access, log);
  const { secret, configuration } = config.certificateSecret;
  const keeper = createCertificateKeeper({
    client: createKubeClient(transport, {
      userAgent: `switchyard-certificates/${manifest.version}`,
      clock,
      rateLimiter: createRateLimiter({ ...RATE, clock }),
    }),
    secret: { namespace: secret.namespace ?? access.namespace, name: secret.name },
    configuration,
    names: config.names,
    makeKeyPair,
    clock,
    random: Math.random,
    log,
  });
  // Ready when API servers accept the webhook: an installation that waits for this program may create Jobs.
  const answer = createProgramHttp({ readiness: { certificate: () => keeper.problem() ?? keeper.warnings()[0] } });
  const http = config.healthAddress === undefined ? undefined : await listen(answer, config.healthAddress, { signal });
  if (http !== undefined) log.info('health is served', { url: http.url });
  try {
    await keeper.run(signal);
  } finally {
    await transport.close();
    await http?.close();
  }
}
