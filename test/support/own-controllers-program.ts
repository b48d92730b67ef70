/**
 * Our controllers beside a real API server, in a process that can be paused with it. Arguments: a kubeconfig, and their names with commas
 * between.
 */
import { once } from 'node:events';
import { startOwnControllers } from '../../shared/controlplane/binaries/own-controllers.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { createLogger } from '../../shared/runtime/pino-logger.ts';

const [file = '', names = ''] = process.argv.slice(2);
const log = createLogger('warn');
const transport = createHttpTransport(accessFromKubeconfig({ kind: 'file', path: file }, systemClock), log);
const controllers = names.split(',') as ControlPlaneController[];
const running = await startOwnControllers({ clock: systemClock, random: Math.random, log, controllers }, transport);
console.log('running');
await once(process, 'SIGTERM');
await running.stop();
await transport.close();
