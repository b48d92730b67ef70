import { parseArgs } from 'node:util';
import { parseAddress } from '../shared/runtime/http-server.ts';
import { LOG_LEVELS, type LogLevel } from '../shared/runtime/pino-logger.ts';

/** How one manager runs. Everything comes from flags, or from the environment where a flag is absent. */
export type ManagerConfig = {
  /** Absent: where kubectl would look, then the service account of the pod. */
  readonly kubeconfig: string | undefined;
  /** Absent: Jobs come through the API alone. */
  readonly redisUrl: string | undefined;
  readonly redisPrefix: string;
  readonly submissionQueue: string;
  readonly concurrentSubmissions: number;
  /** Absent: the UID of the namespace kube-system. */
  readonly managerId: string | undefined;
  readonly leaderElection: { readonly namespace: string; readonly name: string } | undefined;
  readonly metricsAddress: string;
  readonly webhook: { readonly address: string; readonly certFile: string; readonly keyFile: string } | undefined;
  readonly home: ApiRate;
  readonly worker: ApiRate;
  readonly concurrentDispatches: number;
  readonly logLevel: LogLevel;
};
/** Requests per second to one API server; qps 0 means no limit. */
export type ApiRate = { readonly qps: number; readonly burst: number };

/** A flag or variable that cannot be used. The message is one line: which one, and what to write instead. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Flag = { readonly value?: string; readonly default?: string; readonly help: string };
const FLAGS = {
  kubeconfig: { value: 'FILE', help: 'kubeconfig of the manager cluster; default: KUBECONFIG, ~/.kube/config, the pod’s service account' },
  'redis-url': {
    value: 'URL',
    help: 'Redis that carries submissions, such as redis://localhost:6379; without it Jobs come through the API alone',
  },
  'redis-prefix': { value: 'PREFIX', default: 'bull', help: 'BullMQ’s key prefix; on a Redis cluster a hash tag, such as {bull}' },
  'submission-queue': { value: 'NAME', default: 'switchyard-submissions', help: 'BullMQ queue that carries submissions' },
  'concurrent-submissions': { value: 'N', default: '50', help: 'submissions turned into Jobs at once' },
  'manager-id': { value: 'ID', help: 'marks this manager’s copies on worker clusters; default: the UID of the namespace kube-system' },
  'leader-elect': { help: 'run several managers, of which one leads' },
  'leader-elect-namespace': { value: 'NAME', default: 'switchyard-system', help: 'namespace of the election’s Lease' },
  'leader-elect-name': { value: 'NAME', default: 'switchyard-manager', help: 'name of the election’s Lease' },
  'metrics-bind-address': { value: 'HOST:PORT', default: '127.0.0.1:0', help: '/metrics, /healthz and /readyz; port 0 takes a free one' },
  'webhook-bind-address': { value: 'HOST:PORT', help: 'admission webhook for Jobs, over TLS; without it no webhook is served' },
  'webhook-tls-cert-file': { value: 'FILE', help: 'certificate of the webhook, PEM; read again when it changes' },
  'webhook-tls-key-file': { value: 'FILE', help: 'private key of the webhook, PEM' },
  'kube-api-qps': { value: 'N', default: '100', help: 'requests per second to the manager cluster; 0: no limit' },
  'kube-api-burst': { value: 'N', default: '200', help: 'requests to the manager cluster at once' },
  'worker-api-qps': { value: 'N', default: '50', help: 'requests per second to each worker cluster; 0: no limit' },
  'worker-api-burst': { value: 'N', default: '100', help: 'requests to each worker cluster at once' },
  'concurrent-dispatches': { value: 'N', default: '16', help: 'writes under way at once to each worker cluster' },
  'log-level': { value: 'LEVEL', default: 'info', help: LOG_LEVELS.join(', ') },
  help: { help: 'print this' },
} as const satisfies Record<string, Flag>;
type FlagName = keyof typeof FLAGS;

const environmentName = (flag: FlagName): string => `SWITCHYARD_${flag.toUpperCase().replaceAll('-', '_')}`;

/** The text of --help. */
export function managerUsage(): string {
  const lines = Object.entries<Flag>(FLAGS).map(([name, flag]) => {
    const usage = `--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
    return `  ${usage.padEnd(34)}${flag.help}${flag.default === undefined ? '' : ` (default ${flag.default})`}`;
  });
  return [
    'Usage: npm run manager -- [flags]',
    '',
    'Admits Jobs against quota, picks a worker cluster for each, mirrors it there and brings its status home.',
    'Every flag can also be given as an environment variable: --redis-url is SWITCHYARD_REDIS_URL.',
    '',
    ...lines,
    '',
  ].join('\n');
}

/** Reads the configuration. Throws {@link ConfigError} for what cannot be used; `help` asks for {@link managerUsage} instead. */
export function readManagerConfig(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { readonly kind: 'Help' } | { readonly kind: 'Run'; readonly config: ManagerConfig } {
  const flags = parse(argv);
  const text = (flag: FlagName): string | undefined => {
    const value = flags[flag] ?? environment[environmentName(flag)];
    const fallback: Flag = FLAGS[flag];
    return value === undefined || value === '' ? fallback.default : String(value);
  };
  if (flags.help === true) return { kind: 'Help' };
  const given = (flag: FlagName): string => text(flag) ?? '';
  const config: ManagerConfig = {
    kubeconfig: text('kubeconfig'),
    redisUrl: redisUrl(text('redis-url')),
    redisPrefix: given('redis-prefix'),
    submissionQueue: given('submission-queue'),
    concurrentSubmissions: count('concurrent-submissions', given('concurrent-submissions'), 1),
    managerId: managerId(text('manager-id')),
    leaderElection: truth('leader-elect', text('leader-elect'))
      ? { namespace: given('leader-elect-namespace'), name: given('leader-elect-name') }
      : undefined,
    metricsAddress: address('metrics-bind-address', given('metrics-bind-address')),
    webhook: webhook(text('webhook-bind-address'), text('webhook-tls-cert-file'), text('webhook-tls-key-file')),
    home: { qps: count('kube-api-qps', given('kube-api-qps'), 0), burst: count('kube-api-burst', given('kube-api-burst'), 1) },
    worker: { qps: count('worker-api-qps', given('worker-api-qps'), 0), burst: count('worker-api-burst', given('worker-api-burst'), 1) },
    concurrentDispatches: count('concurrent-dispatches', given('concurrent-dispatches'), 1),
    logLevel: logLevel(given('log-level')),
  };
  if (config.submissionQueue.includes(':'))
    throw new ConfigError('--submission-queue must not contain a colon; BullMQ uses it in its keys');
  return { kind: 'Run', config };
}

type Parsed = { readonly [Name in FlagName]?: string | boolean };

function parse(argv: readonly string[]): Parsed {
  const options = Object.fromEntries(
    Object.entries<Flag>(FLAGS).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: false }).values;
  } catch (error) {
    // Its first sentence names the flag; what follows is advice for programmers.
    const message = error instanceof Error ? (error.message.split('. ')[0] ?? error.message) : String(error);
    throw new ConfigError(`${message.replaceAll('\n', ' ')}; --help lists the flags`);
  }
}

function count(flag: FlagName, text: string, minimum: number): number {
  const value = Number(text);
  if (!(minimum === 0 ? /^\d+(\.\d+)?$/ : /^\d+$/).test(text) || value < minimum) {
    throw new ConfigError(
      `--${flag} ${JSON.stringify(text)} is not a number of at least ${minimum}, such as ${(FLAGS[flag] as Flag).default}`,
    );
  }
  return value;
}

function truth(flag: FlagName, text: string | undefined): boolean {
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1') return true;
  throw new ConfigError(`${environmentName(flag)} ${JSON.stringify(text)} is neither true nor false`);
}

function address(flag: FlagName, text: string): string {
  try {
    parseAddress(text);
    return text;
  } catch (error) {
    throw new ConfigError(`--${flag}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function webhook(bind: string | undefined, certFile: string | undefined, keyFile: string | undefined): ManagerConfig['webhook'] {
  if (bind === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new ConfigError(
      '--webhook-bind-address needs --webhook-tls-cert-file and --webhook-tls-key-file: API servers speak TLS to webhooks',
    );
  }
  return { address: address('webhook-bind-address', bind), certFile, keyFile };
}

function redisUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (protocol === 'redis:' || protocol === 'rediss:') return text;
  throw new ConfigError('--redis-url is no redis:// or rediss:// URL; write one such as redis://localhost:6379');
}

/** It becomes the value of a label. */
function managerId(text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  throw new ConfigError(`--manager-id ${JSON.stringify(text)} is no label value: at most 63 letters, digits, "-", "_" and "."`);
}

function logLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((each) => each === text);
  if (level === undefined) throw new ConfigError(`--log-level ${JSON.stringify(text)} is none of ${LOG_LEVELS.join(', ')}`);
  return level;
}
