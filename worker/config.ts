/** The worker's flags: each also an environment variable, `--kube-api-qps` as SWITCHYARD_KUBE_API_QPS. Flags win. */
import { parseArgs } from 'node:util';
import { WORKER_CONTROLLER_NAME } from '../shared/api/names.ts';
import { LOG_LEVELS, type LogLevel } from '../shared/runtime/pino-logger.ts';
import { WORKER_CONTROLLERS, type WorkerController, type WorkerSettings } from './worker.ts';
import { parseAddress } from '../shared/runtime/http-server.ts';

export type WorkerConfig = WorkerSettings & {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Requests a second; 0 means no limit. */
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly leaderElect: boolean;
  readonly leaseNamespace: string | undefined;
  readonly leaseName: string;
  /** undefined: not served. */
  readonly metricsBindAddress: string | undefined;
  readonly logLevel: LogLevel;
};

export type ParsedFlags =
  | { readonly kind: 'run'; readonly config: WorkerConfig }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'invalid'; readonly message: string };

type Flag = { readonly value: string; readonly fallback?: string; readonly about: string };

const FLAGS = {
  kubeconfig: { value: 'FILE', about: 'kubeconfig of the cluster (default: KUBECONFIG, ~/.kube/config, or the pod it runs in)' },
  context: { value: 'NAME', about: 'context of the kubeconfig (default: its current one)' },
  'controller-name': {
    value: 'NAME',
    fallback: WORKER_CONTROLLER_NAME,
    about:
      'spec.managedBy of the Jobs to run; kubernetes.io/job-controller replaces the built-in controller and takes Jobs without the field, too',
  },
  controllers: { value: 'LIST', fallback: 'job', about: `controllers to run, separated by commas: ${WORKER_CONTROLLERS.join(', ')}` },
  'concurrent-job-syncs': { value: 'N', fallback: '5', about: 'Jobs worked on at once' },
  'concurrent-ttl-after-finished-syncs': { value: 'N', fallback: '5', about: 'expired Jobs worked on at once' },
  'job-batch-period': { value: 'DURATION', fallback: '1s', about: 'how long events of pods are gathered before their Job is synced' },
  namespace: { value: 'NAME', fallback: '', about: 'the only namespace to look at (default: all)' },
  'kube-api-qps': { value: 'N', fallback: '50', about: 'requests a second to the API server; 0 means no limit' },
  'kube-api-burst': { value: 'N', fallback: '100', about: 'requests beyond that at one moment' },
  'leader-elect': { value: 'BOOL', fallback: 'false', about: 'work only while holding a Lease, so that replicas can stand by' },
  'leader-elect-lease-namespace': { value: 'NAME', about: "namespace of the Lease (default: the kubeconfig context's)" },
  'leader-elect-lease-name': { value: 'NAME', fallback: 'switchyard-worker', about: 'name of the Lease' },
  'metrics-bind-address': {
    value: 'HOST:PORT',
    fallback: '127.0.0.1:0',
    about: 'where /metrics, /healthz and /readyz are served; port 0 takes a free one, 0 alone serves nothing',
  },
  'log-level': { value: 'LEVEL', fallback: 'info', about: LOG_LEVELS.join(', ') },
} as const satisfies Record<string, Flag>;

type FlagName = keyof typeof FLAGS;
const flagNames = Object.keys(FLAGS) as FlagName[];
const flags: Record<FlagName, Flag> = FLAGS;

class FlagError extends Error {}

export function parseFlags(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): ParsedFlags {
  try {
    const given = readArgs(args);
    if (given.help !== undefined) return { kind: 'help', text: helpText() };
    return { kind: 'run', config: readConfig((name) => given[name] ?? environment[variableOf(name)] ?? flags[name].fallback) };
  } catch (error) {
    if (error instanceof FlagError) return { kind: 'invalid', message: error.message };
    throw error;
  }
}

const variableOf = (name: FlagName): string => `SWITCHYARD_${name.toUpperCase().replaceAll('-', '_')}`;

function readArgs(args: readonly string[]): Partial<Record<FlagName | 'help', string>> {
  const options = Object.fromEntries(flagNames.map((name) => [name, { type: 'string' as const }]));
  // `--leader-elect` alone means true, as in Kubernetes programs.
  const expanded = args.map((arg) => (arg === '--leader-elect' ? '--leader-elect=true' : arg));
  try {
    const { values } = parseArgs({ args: expanded, options: { ...options, help: { type: 'boolean', short: 'h' } }, strict: true });
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch (error) {
    throw new FlagError(`${error instanceof Error ? error.message : String(error)}. See --help.`);
  }
}

type Lookup = (name: FlagName) => string | undefined;

function readConfig(look: Lookup): WorkerConfig {
  return {
    kubeconfig: look('kubeconfig'),
    context: look('context'),
    controllerName: readControllerName(look),
    controllers: readControllers(look),
    concurrentJobSyncs: readNumber(look, 'concurrent-job-syncs', 1),
    concurrentTtlSyncs: readNumber(look, 'concurrent-ttl-after-finished-syncs', 1),
    batchPeriodMs: readDuration(look, 'job-batch-period'),
    namespace: look('namespace') ?? '',
    kubeApiQps: readNumber(look, 'kube-api-qps', 0),
    kubeApiBurst: readNumber(look, 'kube-api-burst', 1),
    leaderElect: readBoolean(look, 'leader-elect'),
    leaseNamespace: look('leader-elect-lease-namespace'),
    leaseName: look('leader-elect-lease-name') ?? '',
    metricsBindAddress: readAddress(look, 'metrics-bind-address'),
    logLevel: readOneOf(look, 'log-level', LOG_LEVELS),
  };
}

function readControllerName(look: Lookup): string {
  const name = look('controller-name') ?? '';
  // The rule of the API server for spec.managedBy, which a Job must pass to get here.
  if (/^[a-z0-9.-]+\/[^/].*$/.test(name) && name.length <= 63) return name;
  throw new FlagError(
    `--controller-name: ${JSON.stringify(name)} is no value of spec.managedBy: write a domain and a path, such as ${WORKER_CONTROLLER_NAME}`,
  );
}

function readControllers(look: Lookup): WorkerController[] {
  const names = (look('controllers') ?? '').split(',').map((name) => name.trim());
  return names.map((name) => {
    const known = WORKER_CONTROLLERS.find((controller) => controller === name);
    if (known === undefined)
      throw new FlagError(`--controllers: ${JSON.stringify(name)} is no controller: choose from ${WORKER_CONTROLLERS.join(', ')}`);
    return known;
  });
}

function readNumber(look: Lookup, name: FlagName, least: number): number {
  const text = look(name) ?? '';
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new FlagError(`--${name}: ${JSON.stringify(text)} is no number: write a whole number of at least ${least}`);
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
function readDuration(look: Lookup, name: FlagName): number {
  const text = look(name) ?? '';
  const match = /^(\d{1,9})(ms|s|m)$/.exec(text);
  const unit = UNITS_MS[match?.[2] ?? ''];
  if (match === null || unit === undefined) throw new FlagError(`--${name}: ${JSON.stringify(text)} is no duration: write 500ms, 1s or 2m`);
  return Number(match[1]) * unit;
}

function readBoolean(look: Lookup, name: FlagName): boolean {
  const text = look(name);
  if (text === 'true' || text === 'false') return text === 'true';
  throw new FlagError(`--${name}: ${JSON.stringify(text)} is neither true nor false`);
}

function readOneOf<T extends string>(look: Lookup, name: FlagName, choices: readonly T[]): T {
  const text = look(name);
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new FlagError(`--${name}: ${JSON.stringify(text)} is unknown: choose from ${choices.join(', ')}`);
  return choice;
}

function readAddress(look: Lookup, name: FlagName): string | undefined {
  const text = look(name) ?? '';
  if (text === '0') return undefined;
  try {
    parseAddress(text);
    return text;
  } catch (error) {
    throw new FlagError(`--${name}: ${error instanceof Error ? error.message : String(error)}, or 0 to serve nothing`);
  }
}

function helpText(): string {
  const lines = flagNames.map((name) => {
    const { value, fallback, about } = flags[name];
    return `  --${name} ${value}\n      ${about}${fallback ? ` (default ${fallback})` : ''}`;
  });
  return `Runs the Jobs of one cluster: Switchyard's Job controller.\n\nusage: worker [flags]\n\n${lines.join('\n')}\n\nEvery flag can be set as an environment variable: --kube-api-qps as ${variableOf('kube-api-qps')}.\n`;
}
