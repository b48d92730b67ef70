import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../runtime/clock.ts';
import { runProgram } from '../runtime/lifecycle.ts';
import { createLogger } from '../runtime/pino-logger.ts';
import { CONTROL_PLANE_USAGE, readControlPlaneConfig } from './config.ts';
import { createControlPlane } from './control-plane.ts';

const config = readControlPlaneConfig(process.argv.slice(2), process.env);
if (config.help) {
  console.log(CONTROL_PLANE_USAGE);
  process.exit(0);
}
const log = createLogger(config.logLevel);

process.exitCode = await runProgram({ clock: systemClock, log }, async (signal) => {
  const controlPlane = await createControlPlane({
    clock: systemClock,
    random: Math.random,
    log,
    controllers: config.controllers,
    ...(config.dataDir === undefined ? {} : { dataDir: config.dataDir }),
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
});
