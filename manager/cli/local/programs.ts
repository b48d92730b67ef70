import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import type { LogLevel } from '../../../shared/runtime/logger.ts';
import type { ClusterName, LocalCluster } from './clusters.ts';
import type { PortName, Ports } from './ports.ts';
import { startProgram, type Program } from './program.ts';
import { SYSTEM_NAMESPACE } from './set-up.ts';
import type { Certificate } from './webhook-certificate.ts';

export type RunningPrograms = {
  /** With the password. */
  readonly redisUrl: string;
  /** Where the manager keeps history, as its flag has it. */
  readonly historyStore: string;
  /** By name: what each serves on its metrics address. */
  readonly metricsUrls: ReadonlyMap<string, string>;
  /** Samples of job_controller_jobs_by_external_controller_total on the manager cluster, as the worker program there exposes them. */
  externalJobsOnManager(): Promise<readonly string[]>;
};

export type ProgramsOptions = {
  readonly directory: string;
  readonly root: string;
  readonly ports: Ports;
  readonly logLevel: LogLevel;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly manager: LocalCluster;
  /** With the manager's own identity on that cluster; made while Redis starts. */
  readonly managerKubeconfigFile: string;
  readonly workers: readonly LocalCluster[];
  /** Where canaries queue; absent: none are sent. */
  readonly canaryQueue?: string;
  readonly webhook: { readonly port: number; readonly certificate: Certificate };
  /** undefined: the manager serves no dashboard. */
  readonly dashboardPort?: number | undefined;
  /** undefined: the manager serves no HTTP API. */
  readonly apiPort?: number | undefined;
  /** Runs while Redis starts; the manager needs its result. */
  readonly prepare: () => Promise<void>;
  readonly onRestart: (name: string, how: string) => void;
  /** Told about those that are not ready yet, whenever one became so. */
  readonly onWaiting: (names: readonly string[]) => void;
  readonly cleanUp: (() => Promise<void>)[];
};

const READY_WITHIN_MS = 60_000;
const EXTERNAL_JOBS_METRIC = 'job_controller_jobs_by_external_controller_total';

/**
 * Redis, the manager, a worker per worker cluster, and one on the manager cluster, which leaves the manager's Jobs alone and counts them.
 */
export async function startPrograms(options: ProgramsOptions): Promise<RunningPrograms> {
  const { directory, root, ports, logLevel, manager, workers, webhook, cleanUp } = options;
  const env = programEnvironment(options.env);
  const programs: Program[] = [];
  const metricsUrls = new Map<string, string>();
  cleanUp.push(async () => void (await Promise.all(programs.map((program) => program.stop()))));

  const launch = (
    name: string,
    command: readonly [string, ...string[]],
    isReady: () => Promise<boolean>,
    secrets: Readonly<Record<string, string>> = {},
  ): void => {
    const logFile = path.join(directory, `${name}.log`);
    // The process IDs change when one is started again.
    const onStart = (): void => queueMicrotask(() => writePids(directory, programs));
    programs.push(startProgram({ name, command, env: { ...env, ...secrets }, logFile, isReady, onStart, onRestart: options.onRestart }));
  };
  const launchOurs = (name: PortName, main: string, flags: readonly string[], secrets?: Readonly<Record<string, string>>): void => {
    const address = `127.0.0.1:${ports[name]}`;
    metricsUrls.set(name, `http://${address}/metrics`);
    const command = [
      process.execPath,
      path.join(root, main),
      ...flags,
      `--metrics-bind-address=${address}`,
      `--log-level=${logLevel}`,
    ] as const;
    launch(name, [...command], () => answers(`http://${address}/readyz`), secrets);
  };

  const historyStore = path.join(directory, 'history');
  // Other users of the machine reach the port, too, and may see the arguments of programs.
  const redisPassword = randomBytes(24).toString('base64url');
  const redisUrl = `redis://:${redisPassword}@127.0.0.1:${ports.redis}`;
  const redisFile = writeRedisConfiguration(directory, ports.redis, redisPassword);
  launch('redis', [env['REDIS_SERVER'] ?? 'redis-server', redisFile], () => accepts(ports.redis));
  await options.prepare();

  const flags = managerFlags(options, historyStore, writeWebhookCertificate(directory, webhook.certificate));
  launchOurs('switchyard-manager', 'manager/main.ts', flags, { SWITCHYARD_REDIS_URL: redisUrl });
  // Pods are gone with the end of their Job: whoever tries things out wants to see what they wrote all the same.
  for (const { name, kubeconfigFile } of workers)
    launchOurs(workerName(name), 'worker/main.ts', [`--kubeconfig=${kubeconfigFile}`, '--keep-logs=All']);
  launchOurs(workerName(manager.name), 'worker/main.ts', [
    `--kubeconfig=${manager.kubeconfigFile}`,
    `--controller-name=${BUILT_IN_JOB_CONTROLLER_NAME}`,
    // Who else would delete finished Jobs there: no kube-controller-manager runs beside an embedded control plane.
    '--controllers=job,ttl-after-finished',
  ]);
  const waiting = new Set(programs.map(({ name }) => name));
  const untilReady = async (program: Program): Promise<void> => {
    await program.waitUntilReady(READY_WITHIN_MS);
    waiting.delete(program.name);
    options.onWaiting([...waiting]);
  };
  options.onWaiting([...waiting]);
  await Promise.all(programs.map(untilReady));
  return {
    redisUrl,
    historyStore,
    metricsUrls,
    externalJobsOnManager: async () => {
      const text = await (await fetch(metricsUrls.get(workerName(manager.name)) ?? '')).text();
      return text.split('\n').filter((line) => line.startsWith(EXTERNAL_JOBS_METRIC));
    },
  };
}

/** `tls`: the folder of the webhook's certificate. */
const managerFlags = (
  { managerKubeconfigFile, webhook, canaryQueue, apiPort, dashboardPort }: ProgramsOptions,
  historyStore: string,
  tls: string,
): readonly string[] => [
  `--kubeconfig=${managerKubeconfigFile}`,
  `--history-store=${historyStore}`,
  `--record-key-secret=${SYSTEM_NAMESPACE}/switchyard-manager-record-key`,
  `--webhook-bind-address=127.0.0.1:${webhook.port}`,
  // Nothing else would serve it.
  '--webhook-shutdown-delay=0',
  '--carry-namespaces=default',
  `--webhook-tls-cert-file=${path.join(tls, 'tls.crt')}`,
  `--webhook-tls-key-file=${path.join(tls, 'tls.key')}`,
  ...(canaryQueue === undefined ? [] : ['--canary-interval=1m', `--canary-queue=${canaryQueue}`]),
  ...(apiPort === undefined ? [] : [`--api-bind-address=127.0.0.1:${apiPort}`]),
  ...(dashboardPort === undefined ? [] : [`--dashboard-bind-address=127.0.0.1:${dashboardPort}`, '--dashboard-live-logs']),
];

/** Returns the folder that it is in. */
function writeWebhookCertificate(directory: string, { certPem, keyPem }: Certificate): string {
  const tls = path.join(directory, 'webhook-tls');
  mkdirSync(tls);
  writeFileSync(path.join(tls, 'tls.crt'), certPem);
  writeFileSync(path.join(tls, 'tls.key'), keyPem, { mode: 0o600 });
  return tls;
}

const workerName = (cluster: ClusterName): PortName => `switchyard-worker-${cluster}`;

/** Programs of a run do as the run says: variables that stand for flags are the user's for other programs. */
const programEnvironment = (env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SWITCHYARD_')));

/** What Redis has acknowledged survives its crash; the defaults of a server that others share are not ours to guess. */
function writeRedisConfiguration(directory: string, port: number, password: string): string {
  const home = path.join(directory, 'redis');
  mkdirSync(home);
  const file = path.join(home, 'redis.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${JSON.stringify(home)}`,
    'save ""',
    'appendonly yes',
    'appendfsync always',
    'maxmemory-policy noeviction',
    `requirepass ${password}`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}

/** For whoever wants to kill one of them: process IDs, by name. Whoever reads sees all of it or what was there before. */
function writePids(directory: string, programs: readonly Program[]): void {
  const file = path.join(directory, 'pids.json');
  const pids = Object.fromEntries(programs.map((program) => [program.name, program.pid()]));
  writeFileSync(`${file}.draft`, `${JSON.stringify(pids, null, 2)}\n`);
  renameSync(`${file}.draft`, file);
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false; // nobody listens there yet
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.end());
  });
}
