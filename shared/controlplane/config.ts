import { type FlagTable, type FlagValues, listeningPort, listOf, text, type Program } from '../runtime/flags.ts';
import type { LogLevel } from '../runtime/logger.ts';
import { LOG_FLAGS } from '../runtime/program-flags.ts';
import type { ControlPlaneController } from './controllers/controllers.ts';

/** How one control plane runs as a program of its own. */
export type ControlPlaneConfig = {
  readonly kubeconfigOut: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly controllers: readonly ControlPlaneController[];
  readonly dataDir: string | undefined;
  readonly plain: boolean;
  readonly clientCaFile: string | undefined;
  readonly logLevel: LogLevel;
};

const CONTROLLERS: readonly ControlPlaneController[] = [
  'garbage-collector',
  'namespace',
  'pod-gc',
  'taint-eviction',
  'cron-job',
  'deployment',
  'replica-set',
  'node-agent',
];

const FLAGS = {
  'kubeconfig-out': { value: 'FILE', about: 'write a kubeconfig of a cluster administrator there', parse: text },
  host: { value: 'HOST', fallback: '127.0.0.1', about: 'address to listen on', parse: text },
  port: { value: 'N', fallback: '0', about: 'port to listen on; 0 takes a free one', parse: listeningPort },
  with: {
    value: 'LIST',
    fallback: '',
    about: `controllers to run beside the API, separated by commas: ${CONTROLLERS.join(', ')}`,
    parse: listOf(CONTROLLERS),
  },
  'data-dir': { value: 'DIR', about: 'keep all objects in DIR over restarts', parse: text },
  plain: { about: 'without TLS; kubectl then sends no token' },
  'client-ca-file': { value: 'FILE', about: 'client certificates signed by it authenticate', parse: text },
  ...LOG_FLAGS,
} satisfies FlagTable;

export const CONTROL_PLANE_PROGRAM: Program<typeof FLAGS, ControlPlaneConfig> = {
  name: 'switchyard-control-plane',
  usage: 'npm run control-plane --',
  about: 'Runs a small Kubernetes API server in this process.',
  flags: FLAGS,
  configOf,
};

function configOf(flags: FlagValues<typeof FLAGS>): ControlPlaneConfig {
  return {
    kubeconfigOut: flags['kubeconfig-out'],
    host: flags.host,
    port: flags.port,
    controllers: flags.with,
    dataDir: flags['data-dir'],
    plain: flags.plain,
    clientCaFile: flags['client-ca-file'],
    logLevel: flags['log-level'],
  };
}
