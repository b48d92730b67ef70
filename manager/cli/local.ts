#!/usr/bin/env node
/**
 * The quick start: one manager cluster and two worker clusters in this process, Redis, the manager and the workers beside it.
 *
 *  1. the directory of the run
 *  2. three embedded control planes, and Redis
 *  3. what an installation would bring: CRDs, webhooks, queues, worker clusters
 *  4. the programs: manager, and a worker for each cluster
 *  5. the examples' Jobs, some through BullMQ and some through the API
 *  6. the live table, until every Job has ended
 *  7. the summary
 */
import path from 'node:path';
import { systemClock } from '../../shared/runtime/clock.ts';
import { lineDisplay, terminalDisplay } from './local/display.ts';
import { EXAMPLES } from './local/examples.ts';
import { HELP, parseOptions, UsageError, type LocalOptions } from './local/options.ts';
import { prepareDirectory } from './local/run-directory.ts';
import { startClusters } from './local/clusters.ts';
import { startPrograms } from './local/programs.ts';
import { createFromFile, installKinds, installWebhooks, joinCluster } from './local/set-up.ts';
import { createPorts } from './local/ports.ts';
import { watchJobs } from './local/job-watch.ts';
import { collectResults } from './local/results.ts';
import { submitExamples } from './local/submit-examples.ts';
import { summarize } from './local/summary.ts';
import { keepAdvice } from './local/advice.ts';
import { selfSignedCertificate } from './local/webhook-certificate.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const WORKER_CLUSTERS = ['east', 'west'] as const;

/** What must be undone at the end, whatever happens; the last started is the first stopped. */
type CleanUp = (() => Promise<void>)[];

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    console.log(HELP);
    return 0;
  }
  const cleanUp: CleanUp = [];
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort(new Interrupted(signal)));
  const aborted = new Promise<never>((_, reject) =>
    stopped.signal.addEventListener('abort', () => reject(stopped.signal.reason), { once: true }),
  );
  try {
    return await Promise.race([quickStart(options, cleanUp, stopped.signal), aborted]);
  } finally {
    for (const undo of cleanUp.toReversed()) await undo();
  }
}

async function quickStart(options: LocalOptions, cleanUp: CleanUp, signal: AbortSignal): Promise<number> {
  const startMillis = Date.now();
  const display = process.stdout.isTTY ? terminalDisplay(process.stdout, Date.now) : lineDisplay(process.stdout, Date.now);

  // 1, 2
  const directory = prepareDirectory(options.directory);
  const nextPort = createPorts(options.portBase);
  const clusters = await startClusters({ manager: 'manager', workers: WORKER_CLUSTERS, directory, nextPort, clock: systemClock });
  cleanUp.push(() => clusters.close());
  const manager = clusters.manager;

  // 3, 4
  const certificate = await selfSignedCertificate(Date.now());
  const webhookPort = await nextPort();
  const programs = await startPrograms({
    directory,
    root: ROOT,
    nextPort,
    manager,
    workers: clusters.workers,
    webhook: { port: webhookPort, certificate },
    prepare: async () => {
      await installKinds(manager.client, ROOT);
      await installWebhooks(manager.client, { port: webhookPort, certificate });
      for (const { name, kubeconfig } of clusters.workers) await joinCluster(manager.client, name, kubeconfig);
      await createFromFile(manager.client, path.join(ROOT, 'examples', 'queues.yaml'));
    },
    onRestart: (name, how) => display.note(`${name} ended with ${how} and was started again`),
    cleanUp,
  });
  display.note(`manager, workers and Redis are up after ${((Date.now() - startMillis) / 1000).toFixed(1)} s`);

  // 5, 6
  const results = collectResults(clusters.workers, signal);
  const watch = watchJobs(
    manager.client,
    EXAMPLES.map(({ name }) => name),
    signal,
  );
  const submissions = await submitExamples({
    client: manager.client,
    redisUrl: programs.redisUrl,
    examples: path.join(ROOT, 'examples'),
    cleanUp,
  });
  const ended = await watch.untilFinished(display, options.timeoutMs);
  const outcomes = await submissions.outcomes(ended ? options.timeoutMs : 0);
  display.end();

  // 7
  const summary = summarize({
    rows: watch.rows(),
    outcomes,
    results: results.all(),
    externalJobs: await programs.externalJobsOnManager(),
    tookMs: Date.now() - startMillis,
  });
  for (const line of summary.lines) console.log(line);
  if (!options.keep) return summary.problems.length === 0 ? 0 : 1;

  for (const line of keepAdvice({ manager, workers: clusters.workers, programs, directory })) console.log(line);
  return new Promise<number>(() => undefined); // until a signal comes
}

class Interrupted extends Error {
  readonly signal: NodeJS.Signals;
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof Interrupted) process.exitCode = error.signal === 'SIGINT' ? 130 : 143;
  else {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
// Everything that was started is stopped; nothing that is left may keep the terminal waiting.
process.exit();
