import type { DeepReadonly, Job, ObjectKey } from '../../../shared/api/kubernetes.ts';
import { PODS } from '../../../shared/api/resources.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { readLastFailure, failureMessage } from '../../api/last-failure.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { formatWork, parseQualifiedName, wordOfName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { ClusterChoice, ClusterConnection, JobClient } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import type { NamedJob } from '../jobs/operands.ts';
import { findJob, keyOf, noSuchKind, type FoundJob } from '../jobs/read-jobs.ts';
import { plain } from '../plain-text.ts';
import type { ServerChoice } from '../server/flags.ts';
import { askManager, isNamed } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { troubleWith } from '../trouble.ts';
import { withCluster } from '../with-cluster.ts';
import { connectTo, createJobLogs, type WorkerChoice } from './job-logs.ts';
import { printKeptLogs, printManagersLogs, type KeptJob } from './kept-logs.ts';
import { isChosenPod, type PodChoice } from './log-lines.ts';
import { logSink, type LogForm } from './log-sink.ts';
import { otherwiseByManager } from './managers-pods.ts';
import { podsOfCopies } from './pods-of-copies.ts';
import { printPodLog } from './print-pod-log.ts';

export type LogsConfig = ClusterChoice &
  PodChoice &
  WorkerChoice &
  ServerChoice & {
    readonly job: NamedJob;
    readonly namespace: string | undefined;
    readonly 'history-store': string | undefined;
    readonly output: LogForm;
    readonly follow: boolean;
    readonly tail: number | undefined;
  };

export const runLogs = (config: LogsConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const found = await findJob(connection, config.job, config.namespace ?? connection.namespace);
    const { job, by } = found;
    if (job === undefined || isFinished(job.status)) return afterTheEnd(config, connection, found, session);
    return config.follow ? followed(connection, config, by, job, session) : live(config, by, job, session);
  });

/** From the worker cluster, of the pods that there are. */
async function live(config: LogsConfig, { kind }: JobClient, job: DeepReadonly<Job>, session: Session): Promise<number> {
  const written = writtenRecordOf(job);
  if (written.kind !== 'Record') throw new CommandError(`${notAdmitted(kind, job)}, and -f waits for it`);
  const { pods, unread } = await printPods(config, written.record.cluster, kind, job, session);
  if (pods === 0) await session.errors.write(`${workKeyOf(kind, job.metadata)} has no such pods now\n`);
  return session.signal.aborted ? ExitCode.Interrupted : unread > 0 ? ExitCode.Failed : ExitCode.Done;
}

const workKeyOf = (kind: WorkKind<Job>, key: ObjectKey): string => keyOf({ metadata: key, kind: wordOfName(kind, key.name) });

function notAdmitted(kind: WorkKind<Job>, { metadata }: DeepReadonly<Job>): string {
  const { qualifier, name } = parseQualifiedName(metadata.name);
  const operand = qualifier === undefined ? name : `${wordOfName(kind, metadata.name).toLowerCase()}/${name}`;
  return `${workKeyOf(kind, metadata)} has not been admitted yet; switchyard explain ${plain(operand)} says why`;
}

/** A cluster may keep copies of Jobs that are over for a while (`retainFinished`). Whoever cannot look there sees what else there is. */
async function hasPrintedRetained(config: LogsConfig, kind: WorkKind<Job>, job: DeepReadonly<Job>, session: Session): Promise<boolean> {
  const written = writtenRecordOf(job);
  if (written.kind !== 'Record') return false;
  try {
    const { pods, unread } = await printPods(config, written.record.cluster, kind, job, session);
    return pods > unread;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** So many logs are read at once. */
const ABREAST = 64;

async function printPods(
  config: LogsConfig,
  cluster: string,
  kind: WorkKind<Job>,
  job: DeepReadonly<Job>,
  { output, errors, signal }: Session,
): Promise<{ readonly pods: number; readonly unread: number }> {
  const { namespace } = job.metadata;
  const labelSelector = podsOfCopies(kind, job);
  if (labelSelector === undefined) return { pods: 0, unread: 0 };
  const connection = connectTo(cluster, config, ', or have the manager follow them by -f');
  try {
    const { items } = await connection.client.list(PODS, { namespace, labelSelector });
    const pods = items.filter((pod) => isChosenPod(pod, config));
    const sink = logSink(config.output, output, errors, () => pods.length > 1);
    const rest = [...pods];
    let unread = 0;
    const work = async (): Promise<void> => {
      for (let pod = rest.shift(); pod !== undefined && !signal.aborted; pod = rest.shift())
        if (!(await printPodLog({ client: connection.client, pod, follow: false, tail: config.tail, sink, signal }))) unread++;
    };
    await Promise.all(Array.from({ length: Math.min(ABREAST, pods.length) }, work));
    return { pods: pods.length, unread };
  } catch (error) {
    throw troubleWith(`cluster ${cluster}`, connection.server, error);
  } finally {
    await connection.client.close();
  }
}

/** From whatever cluster it goes to, until it has ended. */
async function followed(
  connection: ClusterConnection,
  config: LogsConfig,
  { client, kind }: JobClient,
  job: Job,
  session: Session,
): Promise<number> {
  const over = new AbortController();
  let failure: Error | undefined;
  const onTrouble = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    over.abort();
  };
  const logs = createJobLogs({
    ...config,
    kind,
    clusters: config,
    form: config.output,
    session,
    onTrouble,
    otherwise: otherwiseByManager(config, connection),
  });
  const { namespace, name, uid } = job.metadata;
  if (writtenRecordOf(job).kind !== 'Record') await session.errors.write(`${notAdmitted(kind, job)}\n`);
  const fieldSelector = `metadata.name=${parseQualifiedName(name).name}`;
  await followObjects(
    client,
    { resource: kind.of(name).resource, namespace, fieldSelector, seen: [job] },
    async (now, isGone) => {
      if (now.metadata.uid !== uid) return;
      logs.saw(now);
      if (isGone || isFinished(now.status)) over.abort();
    },
    AbortSignal.any([session.signal, over.signal]),
  );
  await (failure === undefined && !session.signal.aborted ? logs.end() : logs.stop());
  if (failure !== undefined) throw failure;
  return session.signal.aborted ? ExitCode.Interrupted : ExitCode.Done;
}

/** From what is kept, in the store or by the manager. */
async function afterTheEnd(
  config: LogsConfig,
  connection: ClusterConnection,
  { job, key, by: { kind }, ...rest }: FoundJob,
  session: Session,
): Promise<number> {
  const { shown, remedy } = await printWhatIsKept(config, connection, { ...key, uid: job?.metadata.uid }, session);
  if (shown !== undefined && shown > 0) return ExitCode.Done;
  const work = workKeyOf(kind, key);
  if (job === undefined) {
    const unknown = remedy === undefined ? ', and no history of one' : `; ${remedy}`;
    throw new CommandError(
      shown === undefined
        ? `there is no ${plain(formatWork(kind, key))}${noSuchKind({ key, ...rest })}${unknown}`
        : `no logs of ${work} are kept, and the ${plain(kind.of(key.name).resource.kind)} is gone`,
    );
  }
  if (await hasPrintedRetained(config, kind, job, session)) return ExitCode.Done;
  const failure = readLastFailure(job);
  if (failure !== undefined) await session.errors.write(`${plain(failureMessage(failure))}\n`);
  await session.errors.write(`no logs of ${work} are kept${remedy === undefined ? '' : `; ${remedy}`}\n`);
  return ExitCode.Failed;
}

/** How many logs were printed; `remedy`: where to find out what nobody was asked for. */
async function printWhatIsKept(
  config: LogsConfig,
  connection: ClusterConnection,
  key: KeptJob,
  session: Session,
): Promise<{ readonly shown: number | undefined; readonly remedy?: string }> {
  const store = config['history-store'];
  const choice = { ...config, form: config.output, tellsFailures: true };
  if (store !== undefined && !isNamed(config)) return { shown: await printKeptLogs(store, key, choice, session) };
  const answer = await askManager(config, connection, (manager) => printManagersLogs(manager, key, choice, session));
  return answer.kind === 'Answer'
    ? { shown: answer.value }
    : { shown: undefined, remedy: `--history-store says where the manager keeps the ends of logs (${answer.why})` };
}
