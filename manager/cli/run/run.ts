import type { Job } from '../../../shared/api/kubernetes.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { formatProblems } from '../../api/field-problem.ts';
import { prepareJob } from '../../policy/prepare-job.ts';
import type { ClusterChoice, ClusterConnection, JobClient } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { exitCodeOf } from '../../api/job-progress.ts';
import { keyOf } from '../jobs/read-jobs.ts';
import { checkQueue, onlyQueue } from '../only-queue.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { createJobLogs, type JobLogs, type WorkerChoice } from '../logs/job-logs.ts';
import { printKeptLogs, printManagersLogs } from '../logs/kept-logs.ts';
import { otherwiseByManager } from '../logs/managers-pods.ts';
import { report } from '../report.ts';
import type { ServerChoice } from '../server/flags.ts';
import type { ManagerHttp } from '../server/manager-http.ts';
import { askManager } from '../server/with-manager.ts';
import { waitForJobs, type Ended } from '../wait-for-jobs.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';
import { oneJob, type OneJob } from './one-job.ts';

export type RunConfig = ClusterChoice &
  WorkerChoice &
  ServerChoice &
  Omit<OneJob, 'namespace' | 'queue'> & {
    readonly namespace: string | undefined;
    readonly queue: string | undefined;
    /** 0: none. */
    readonly timeout: number;
    readonly rm: boolean;
    readonly quiet: boolean;
    readonly 'history-store': string | undefined;
    readonly output: Form;
  };

export const runRun = (config: RunConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const { client, kind } = connection;
    const namespace = config.namespace ?? connection.namespace;
    const queue = config.queue ?? (await onlyQueue(client, namespace));
    if (config.queue !== undefined) await checkQueue(client, namespace, queue);
    const preparation = prepareJob(kind, oneJob({ ...config, namespace, queue }));
    if (preparation.kind === 'Refused') throw new CommandError(formatProblems(preparation.problems));
    const submittedMs = session.now();
    const job = await client.create(kind.resource, preparation.job, { fieldValidation: 'Strict', fieldManager: 'switchyard-cli' });
    await session.errors.write(`${keyOf(job)} submitted to queue ${plain(queue)}\n`);
    const logs = config.quiet ? undefined : logsOf(config, connection, session);
    try {
      const code = await waitingFor({ session, timeoutMs: config.timeout, what: `${keyOf(job)} has not ended` }, async (signal, done) => {
        const [ended] = await waitForJobs({ client, kind }, [job], submittedMs, session, signal, async (now, hasEnded) => {
          logs?.saw(now);
          if (hasEnded) await logs?.end(now);
        });
        if (ended === undefined) return;
        const code = exitCodeOf(ended.story) ?? ExitCode.Failed;
        if (config.output !== 'text') await report(session, config.output, { lines: [], value: resultOf(ended, code) });
        done(code);
      });
      if (code === ExitCode.Interrupted && !config.rm)
        await session.errors.write(
          `${keyOf(job)} goes on; switchyard logs -f ${keyOf(job)} follows it, switchyard cancel ${keyOf(job)} ends it\n`,
        );
      return code;
    } finally {
      await logs?.stop();
      if (config.rm) await remove({ client, kind }, job);
    }
  });

/** What its pods write, where that can be read. That it cannot is said once, and changes nothing. */
function logsOf(
  config: RunConfig,
  connection: ClusterConnection,
  session: Session,
): Pick<JobLogs, 'saw' | 'stop'> & { end(job: Job): Promise<void> } {
  let isTold = false;
  const onTrouble = (error: unknown): void => {
    isTold = true;
    const why = error instanceof Error ? error.message : String(error);
    void session.errors.write(`no logs are shown: ${why}\n`);
  };
  const shown = config.output === 'text' ? session : { ...session, output: session.errors };
  const choice = { index: undefined, failed: false, tail: undefined };
  const logs = createJobLogs({
    ...choice,
    kind: connection.kind,
    clusters: config,
    form: 'text',
    session: shown,
    onTrouble,
    otherwise: otherwiseByManager(config, connection),
  });
  return {
    saw: (job) => logs.saw(job),
    stop: () => logs.stop(),
    async end(job) {
      if ((await logs.end()) > 0 || session.signal.aborted || (await hasPrintedKept(config, connection, job, shown)) || isTold) return;
      await session.errors.write(
        `its pods were gone before their logs could be read; switchyard logs ${keyOf(job)} shows what is kept of them\n`,
      );
    },
  };
}

/** The manager keeps what pods have left soon after the end of their Job. */
const KEPT_TRIES = 10;
const KEPT_EVERY_MS = 500;

/** What is kept, where nothing could be read. What its pods failed with is said with its end. */
async function hasPrintedKept(config: RunConfig, connection: ClusterConnection, { metadata }: Job, session: Session): Promise<boolean> {
  const store = config['history-store'];
  const choice = { index: undefined, failed: false, tail: undefined, form: 'text', tellsFailures: false } as const;
  for (let tries = 0; tries < KEPT_TRIES && !session.signal.aborted; tries++) {
    if (store === undefined) {
      const answer = await byManager(config, connection, (manager) => printManagersLogs(manager, metadata, choice, session));
      if (answer.kind === 'NoManager') return false;
      if ((answer.value ?? 0) > 0) return true;
    } else if (((await printKeptLogs(store, metadata, choice, session)) ?? 0) > 0) return true;
    await sleep(systemClock, KEPT_EVERY_MS, session.signal);
  }
  return false;
}

/** A manager that refuses changes nothing of what became of the Job. */
async function byManager<T>(config: RunConfig, connection: ClusterConnection, ask: (manager: ManagerHttp) => Promise<T>) {
  try {
    return await askManager(config, connection, ask);
  } catch (error) {
    if (error instanceof CommandError) return { kind: 'NoManager' as const, why: error.message };
    throw error;
  }
}

/** For programs. Times are epoch milliseconds, as they were seen. */
const resultOf = ({ job, story }: Ended, exitCode: number): object => ({
  job: keyOf(job),
  uid: job.metadata.uid,
  exitCode,
  ...story,
});

async function remove({ client, kind }: JobClient, job: Job): Promise<void> {
  try {
    await client.delete(kind.resource, objectKey(job), { propagationPolicy: 'Background', uid: job.metadata.uid });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
