/**
 * The quick start: one manager cluster and two worker clusters in this process, Redis, the manager and the workers beside it.
 *
 *  1. three control planes, embedded or upstream's programs, and Redis
 *  2. what an installation would bring: CRDs, webhooks, queues, worker clusters, with --kinds JobSets and their operator
 *  3. the programs: manager, and a worker for each cluster
 *  4. the examples' Jobs, some through BullMQ and some through the API
 *  5. the live table, until every Job has ended
 *  6. the summary
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { NAMESPACES } from '../../../shared/api/resources.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { keepAdvice } from './advice.ts';
import { startClusters, type LocalClusters } from './clusters.ts';
import type { LocalConfig } from './config.ts';
import { buildPage, createVisitor, dashboardUrl } from './dashboard.ts';
import type { Display } from './display.ts';
import { EXAMPLES, JOB_SET_EXAMPLE } from './examples.ts';
import { watchJobs, type JobWatch } from './job-watch.ts';
import { JOB_SETS } from './job-set/definition.ts';
import { startJobSetOperators } from './job-set/operator.ts';
import { createManagerAccount, MANAGER_USERNAME } from './manager-account.ts';
import { watchPods, type PodWatch } from './pod-watch.ts';
import type { Ports } from './ports.ts';
import { startPrograms, type RunningPrograms } from './programs.ts';
import { startPrometheus } from './prometheus.ts';
import {
  createFromFile,
  describeJobSets,
  installJobSets,
  installKinds,
  installPolicies,
  installWebhooks,
  joinCluster,
  publishManager,
  SYSTEM_NAMESPACE,
} from './set-up.ts';
import type { PolicyKind } from '../../policy/admission-policies.ts';
import { submitExamples } from './submit-examples.ts';
import { summarize, type Summary, type SummaryInput } from './summary.ts';
import { asJson, asYaml } from '../rendering.ts';
import { formatDuration } from '../time-text.ts';
import { selfSignedCertificate, type Certificate } from './webhook-certificate.ts';

export type QuickStart = {
  readonly config: LocalConfig;
  /** Empty, and of this run alone. */
  readonly directory: string;
  readonly ports: Ports;
  /** undefined: no Prometheus is started. */
  readonly prometheusPort: number | undefined;
  /** undefined: the manager serves no dashboard. */
  readonly dashboardPort: number | undefined;
  /** Of the HTTP API; undefined: none is served. */
  readonly apiPort: number | undefined;
  readonly display: Display;
  readonly startMillis: number;
  /** What must be undone at the end, whatever happens; the last started is the first stopped. */
  readonly cleanUp: (() => Promise<void>)[];
};

const ROOT = path.join(import.meta.dirname, '..', '..', '..');
/** Manifests of the examples. */
const EXAMPLES_FOLDER = path.join(ROOT, 'examples');
const WORKER_CLUSTERS = ['east', 'west'] as const;

/** Resolves with the exit code once the examples have run, or never when everything is to stay up. */
export async function quickStart(start: QuickStart, signal: AbortSignal): Promise<number> {
  const { config, directory, dashboardPort, prometheusPort, display, startMillis } = start;

  // 1
  display.doing('starting the control planes of manager, east and west ...');
  const page = dashboardPort === undefined ? undefined : buildPage(ROOT);
  const clusters = await startPlanes(start);

  // 2, 3
  const { programs, visitorToken } = await startInstallation(start, clusters, page);
  display.note(`manager, workers and Redis are up after ${formatDuration(Date.now() - startMillis)}`);
  const dashboard = dashboardPort === undefined ? [] : [`dashboard ${dashboardUrl(dashboardPort, visitorToken)}`];
  for (const line of dashboard) display.note(line);
  if (prometheusPort !== undefined) await observe(start, prometheusPort, programs);

  // 4, 5
  const run = await runExamples(start, clusters, programs, signal);
  display.end();

  // 6
  const { problems } = await report(start, clusters, programs, run);
  if (!config.keep) return problems.length === 0 ? 0 : 1;

  if (config.output === 'text') {
    const isCheckout = import.meta.filename.endsWith('.ts');
    for (const line of [
      ...keepAdvice({ clusters, programs, directory, examples: EXAMPLES_FOLDER, kinds: config.kinds, isCheckout }),
      ...dashboard,
    ])
      console.log(line);
  }
  return new Promise<number>(() => undefined); // until a signal comes
}

async function startPlanes({ config, directory, ports, cleanUp }: QuickStart): Promise<LocalClusters> {
  const clusters = await startClusters({
    manager: 'manager',
    workers: WORKER_CLUSTERS,
    directory,
    ports,
    logLevel: config.logLevel,
    clock: systemClock,
    assets: config.assets,
    searched: process.env['PATH'],
  });
  cleanUp.push(() => clusters.close());
  return clusters;
}

/** Starts the programs, and installs what they need meanwhile. `page`: resolves with why the page of the dashboard could not be built. */
async function startInstallation(
  start: QuickStart,
  clusters: LocalClusters,
  page: Promise<string | undefined> | undefined,
): Promise<{ readonly programs: RunningPrograms; readonly visitorToken: string }> {
  const { config, directory, ports, dashboardPort, apiPort, display, cleanUp } = start;
  const managerKubeconfigFile = path.join(directory, 'switchyard-manager.kubeconfig');
  const certificate = await selfSignedCertificate(Date.now());
  let visitorToken = '';
  const programs = await startPrograms({
    directory,
    root: ROOT,
    ports,
    logLevel: config.logLevel,
    env: process.env,
    manager: clusters.manager,
    managerKubeconfigFile,
    workers: clusters.workers,
    ...(config.keep ? { canaryQueue: 'default/batch' } : {}),
    webhook: { port: ports.webhook, certificate },
    dashboardPort,
    apiPort,
    prepare: async () => {
      await install(start, clusters, { managerKubeconfigFile, certificate });
      if (dashboardPort !== undefined) visitorToken = await createVisitor(clusters.manager.client);
      const problem = await page;
      if (problem !== undefined) display.note(`the page of the dashboard could not be built: ${problem}`);
    },
    onRestart: restartNote(display),
    onWaiting: (names) => display.doing(names.length === 0 ? '' : `waiting for ${names.join(', ')} ...`),
    cleanUp,
  });
  return { programs, visitorToken };
}

const restartNote =
  (display: Display) =>
  (name: string, how: string): void =>
    display.note(`${name} ended with ${how} and was started again`);

async function install(
  { config, directory, ports, apiPort, display, cleanUp }: QuickStart,
  { manager, workers }: LocalClusters,
  { managerKubeconfigFile, certificate }: { readonly managerKubeconfigFile: string; readonly certificate: Certificate },
): Promise<void> {
  display.doing('installing kinds, webhooks and queues, joining the worker clusters ...');
  await installKinds(manager.client, ROOT);
  let kinds: readonly PolicyKind[] = [];
  if (config.kinds) {
    await Promise.all([manager, ...workers].map(({ client }) => installJobSets(client)));
    kinds = [await describeJobSets(manager.client, ROOT)];
    cleanUp.push(startJobSetOperators(workers, { directory, logLevel: config.logLevel }));
  }
  const described = config.kinds ? [JOB_SETS] : [];
  const kubeconfig = await createManagerAccount(manager.client, ROOT, manager.kubeconfig, described);
  writeFileSync(managerKubeconfigFile, kubeconfig, { mode: 0o600 });
  const identities = { managers: [MANAGER_USERNAME], localWorkers: [] };
  await installWebhooks(manager.client, { port: ports.webhook, certificate, identities, described });
  await installPolicies(manager.client, identities, kinds);
  for (const { name, kubeconfig, client } of workers) {
    // Of the Leases, as `helm install switchyard-worker` makes it.
    await client.create(NAMESPACES, { metadata: { name: SYSTEM_NAMESPACE } });
    await joinCluster(manager.client, name, kubeconfig);
  }
  await createFromFile(manager.client, path.join(EXAMPLES_FOLDER, 'queues.yaml'));
  if (apiPort !== undefined) await publishManager(manager.client, `http://127.0.0.1:${apiPort}`);
}

async function observe({ directory, display, cleanUp }: QuickStart, port: number, { metricsUrls }: RunningPrograms): Promise<void> {
  display.doing('starting Prometheus ...');
  const url = await startPrometheus({ directory, port, metricsUrls, env: process.env, onRestart: restartNote(display), cleanUp });
  display.note(`prometheus ${url} scrapes them every second and judges the alerts: ${url}/alerts`);
}

/** The outcomes of the examples' Jobs. */
type ExamplesRun = Pick<SummaryInput, 'examples' | 'outcomes'> & { readonly pods: PodWatch; readonly watch: JobWatch };

async function runExamples(
  { config, display, cleanUp }: QuickStart,
  { manager: { client }, workers }: LocalClusters,
  { redisUrl }: RunningPrograms,
  signal: AbortSignal,
): Promise<ExamplesRun> {
  const pods = watchPods(workers, signal);
  const examples = config.kinds ? [...EXAMPLES, JOB_SET_EXAMPLE] : EXAMPLES;
  const names = examples.map(({ name }) => name);
  const watch = watchJobs({ client, names, jobSets: config.kinds, nextTryMillis: (name) => pods.nextTryMillis(name) }, signal);
  const onConnection = (line: string): void => display.note(line);
  const submissions = await submitExamples({ client, redisUrl, examples, folder: EXAMPLES_FOLDER, onConnection, cleanUp });
  const ended = await watch.untilFinished(display, config.timeoutMs);
  const outcomes = await submissions.outcomes(ended ? config.timeoutMs : 0);
  return { examples, outcomes, pods, watch };
}

async function report(
  { config, directory, display, startMillis }: QuickStart,
  clusters: LocalClusters,
  programs: RunningPrograms,
  { examples, outcomes, pods, watch }: ExamplesRun,
): Promise<Summary> {
  const tookMs = Date.now() - startMillis;
  const rows = watch.rows();
  const externalJobs = await programs.externalJobsOnManager();
  const summary = summarize({ examples, rows, outcomes, results: pods.outputs(), externalJobs, tookMs, width: display.width() });
  if (config.output !== 'text') {
    const places = {
      directory,
      kubeconfig: clusters.kubeconfigFile,
      history: programs.historyStore,
      redis: programs.redisUrl,
      metrics: Object.fromEntries(programs.metricsUrls),
      clusters: placesOf(clusters),
    };
    const value = { jobs: rows, submissions: outcomes, problems: summary.problems, tookMs, ...(config.keep ? { places } : {}) };
    process.stdout.write(config.output === 'json' ? asJson(value) : asYaml(value));
  } else for (const line of summary.lines) console.log(line);
  return summary;
}

const placesOf = ({ manager, workers }: LocalClusters): object =>
  Object.fromEntries([manager, ...workers].map(({ name, url, kubeconfigFile }) => [name, { url, kubeconfig: kubeconfigFile }]));
