import { parseArgs } from 'node:util';
import { LOG_LEVELS, type LogLevel } from '../runtime/pino-logger.ts';
import type { ControlPlaneController } from './control-plane.ts';

export type ControlPlaneConfig = {
  readonly kubeconfigOut: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly controllers: readonly ControlPlaneController[];
  readonly dataDir: string | undefined;
  readonly plain: boolean;
  readonly clientCaFile: string | undefined;
  readonly logLevel: LogLevel;
  readonly help: boolean;
};

export const CONTROL_PLANE_USAGE = `Usage: npm run control-plane -- --kubeconfig-out FILE [flags]

Runs a small Kubernetes API server in this process.

  --kubeconfig-out FILE   write a kubeconfig of a cluster administrator there   (KUBECONFIG_OUT)
  --host HOST             address to listen on (127.0.0.1)                      (HOST)
  --port N                port to listen on (0: any free one)                   (PORT)
  --with LIST             controllers to run beside the API, comma-separated:
                          garbage-collector, namespace, pod-gc, node-agent      (WITH)
  --data-dir DIR          keep all objects in DIR over restarts                 (DATA_DIR)
  --plain                 without TLS; kubectl then sends no token              (PLAIN=true)
  --client-ca-file FILE   client certificates signed by it authenticate         (CLIENT_CA_FILE)
  --log-level LEVEL       debug, info, warn or error (info)                     (LOG_LEVEL)
`;

const CONTROLLERS: readonly ControlPlaneController[] = ['garbage-collector', 'namespace', 'pod-gc', 'node-agent'];

/** Reads flags, and environment variables where a flag is absent. Throws for what is neither. */
export function readControlPlaneConfig(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): ControlPlaneConfig {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...argv],
    options: {
      'kubeconfig-out': text,
      host: text,
      port: text,
      with: text,
      'data-dir': text,
      plain: { type: 'boolean' },
      'client-ca-file': text,
      'log-level': text,
      help: { type: 'boolean' },
    },
  });
  const port = Number(values.port ?? env['PORT'] ?? '0');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port ${values.port ?? env['PORT'] ?? ''} is no port`);
  return {
    kubeconfigOut: values['kubeconfig-out'] ?? env['KUBECONFIG_OUT'],
    host: values.host ?? env['HOST'] ?? '127.0.0.1',
    port,
    controllers: readControllers(values.with ?? env['WITH'] ?? ''),
    dataDir: values['data-dir'] ?? env['DATA_DIR'],
    plain: values.plain ?? env['PLAIN'] === 'true',
    clientCaFile: values['client-ca-file'] ?? env['CLIENT_CA_FILE'],
    logLevel: readLogLevel(values['log-level'] ?? env['LOG_LEVEL'] ?? 'info'),
    help: values.help === true,
  };
}

const readLogLevel = (text: string): LogLevel => {
  const level = LOG_LEVELS.find((each) => each === text);
  if (level === undefined) throw new Error(`--log-level ${text}: known are ${LOG_LEVELS.join(', ')}`);
  return level;
};

const readControllers = (text: string): ControlPlaneController[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => {
      const known = CONTROLLERS.find((each) => each === name);
      if (known === undefined) throw new Error(`--with ${name}: known are ${CONTROLLERS.join(', ')}`);
      return known;
    });
