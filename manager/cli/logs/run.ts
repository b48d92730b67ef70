import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { JOB_NAME_LABEL } from '../../../shared/api/names.ts';
import { JOBS, PODS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { given } from '../../../shared/runtime/given.ts';
import { readLastFailure, tellFailure } from '../../api/last-failure.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { copyName } from '../../dispatch/remote-job.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import { withHistory } from '../history-store.ts';
import type { NamedJob } from '../jobs/operands.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { troubleWith } from '../trouble.ts';
import { withCluster } from '../with-cluster.ts';
import { connectTo, createJobLogs, type WorkerChoice } from './job-logs.ts';
import { isChosenEnd, isChosenPod, lastLines, printed, type PodChoice } from './log-lines.ts';
import { jsonLines, logSink, type LogForm } from './log-sink.ts';
import { printPodLog } from './print-pod-log.ts';

export type LogsConfig = ClusterChoice &
  PodChoice &
  WorkerChoice & {
    readonly job: NamedJob;
    readonly namespace: string | undefined;
    readonly 'history-store': string | undefined;
    readonly output: LogForm;
    readonly follow: boolean;
    readonly tail: number | undefined;
  };

export const runLogs = (config: LogsConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client, ...context }) => {
    const key = { namespace: config.job.namespace ?? config.namespace ?? context.namespace, name: config.job.name };
    const job = await client.get(JOBS, key).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (job === undefined || isFinished(job.status)) return afterTheEnd(config, key, job, session);
    return config.follow ? followed(client, config, job, session) : live(config, job, session);
  });

/** From the worker cluster, of the pods that there are. */
async function live(config: LogsConfig, job: DeepReadonly<Job>, session: Session): Promise<number> {
  const { namespace, name } = job.metadata;
  const written = writtenRecordOf(job);
  if (written.kind !== 'Record')
    throw new CommandError(`${namespace}/${name} has not been admitted yet; switchyard explain ${name} says why, and -f waits for it`);
  const { cluster } = written.record;
  const connection = connectTo(cluster, config);
  try {
    const labelSelector = `${JOB_NAME_LABEL} in (${name},${copyName(job, true)})`;
    const { items } = await connection.client.list(PODS, { namespace, labelSelector });
    const pods = items.filter((pod) => isChosenPod(pod, config));
    if (pods.length === 0) {
      await session.errors.write(`${plain(`${namespace}/${name}`)} has no such pods now\n`);
      return ExitCode.Done;
    }
    const sink = logSink(config.output, session.output, session.errors, () => pods.length > 1);
    const { stream } = connection;
    const { tail } = config;
    const results = await Promise.all(pods.map((pod) => printPodLog({ stream, pod, follow: false, tail, sink, signal: session.signal })));
    return session.signal.aborted ? ExitCode.Interrupted : results.includes(false) ? ExitCode.Failed : ExitCode.Done;
  } catch (error) {
    throw troubleWith(`cluster ${cluster}`, connection.server, error);
  } finally {
    await connection.client.close();
  }
}

/** From whatever cluster it goes to, until it has ended. */
async function followed(client: KubeClient, config: LogsConfig, job: Job, session: Session): Promise<number> {
  const over = new AbortController();
  let failure: Error | undefined;
  const onTrouble = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    over.abort();
  };
  const logs = createJobLogs({ ...config, clusters: config, form: config.output, session, onTrouble });
  const { namespace, name, uid } = job.metadata;
  if (writtenRecordOf(job).kind !== 'Record')
    await session.errors.write(`${plain(`${namespace}/${name}`)} has not been admitted yet; switchyard explain ${plain(name)} says why\n`);
  await followObjects(
    client,
    { resource: JOBS, namespace, fieldSelector: `metadata.name=${name}`, seen: [job] },
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

/** From what is kept. */
async function afterTheEnd(
  config: LogsConfig,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  job: DeepReadonly<Job> | undefined,
  session: Session,
): Promise<number> {
  const store = config['history-store'];
  const key = `${namespace}/${name}`;
  if (store !== undefined) {
    const shown = await withHistory(store, session, async (history) => {
      const [record] = await history.query({ namespace, name, limit: 1, ...given({ uid: job?.metadata.uid }) });
      if (record === undefined) return undefined;
      const chosen = (await history.podsOf(record.uid)).flatMap((copy) =>
        copy.pods.filter((pod) => isChosenEnd(pod, config)).map((pod) => ({ copy, pod })),
      );
      const kept = chosen.filter(({ pod }) => pod.tail === true);
      for (const { copy, pod } of kept) {
        const text = lastLines((await history.tail(record.uid, copy.copyUid, pod.pod)) ?? '', config.tail);
        if (text === '') continue;
        const asText = (): string => printed(text, kept.length > 1 ? pod.pod : undefined);
        await session.output.write(config.output === 'json' ? jsonLines(text, pod.pod, pod.index) : asText());
      }
      for (const { copy, pod } of chosen)
        if (pod.phase === 'Failed') await session.errors.write(`${plain(tellFailure({ ...pod, cluster: copy.cluster }))}\n`);
      return kept.length;
    });
    if (shown !== undefined && shown > 0) return ExitCode.Done;
    if (shown === undefined && job === undefined) throw new CommandError(`there is no Job ${key}, and no history of one`);
  }
  const failure = job && readLastFailure(job);
  if (failure !== undefined) await session.errors.write(`${plain(tellFailure(failure))}\n`);
  if (job === undefined) throw new CommandError(`there is no Job ${key}; --history-store says where what is over is kept`);
  const remedy = store === undefined ? '; --history-store says where the manager keeps the ends of logs' : '';
  await session.errors.write(`no logs of ${plain(key)} are kept${remedy}\n`);
  return ExitCode.Failed;
}
