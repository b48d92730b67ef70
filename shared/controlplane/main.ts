import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../runtime/clock.ts';
import { runCommandLine } from '../runtime/command-line.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import { runProgram } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { createLogger } from '../runtime/pino-logger.ts';
import { CONTROL_PLANE_PROGRAM, type ControlPlaneConfig } from './config.ts';
import { createControlPlane } from './control-plane.ts';

await runCommandLine(CONTROL_PLANE_PROGRAM, main);

function main(config: ControlPlaneConfig): Promise<number> {
  const log = createLogger(config.logLevel);
  return runProgram({ clock: systemClock, log }, (signal) => serve(config, log, signal));
}

async function serve(config: ControlPlaneConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const controlPlane = await createControlPlane({
    clock: systemClock,
    random: Math.random,
    log,
    controllers: config.controllers,
    ...omitUndefined({ dataDir: config.dataDir }),
  });
  const { url, kubeconfig } = await controlPlane.listen({
    host: config.host,
    port: config.port,
    plain: config.plain,
    ...(config.clientCaFile === undefined ? {} : { clientCaPem: readFileSync(config.clientCaFile, 'utf8') }),
  });
  if (config.kubeconfigOut !== undefined) writeFileSync(config.kubeconfigOut, kubeconfig, { mode: 0o600 });
  log.info('control plane is serving', { url, kubeconfig: config.kubeconfigOut });
  if (!signal.aborted) await once(signal, 'abort');
  await controlPlane.close();
}
