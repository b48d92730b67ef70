import type { DeepReadonly, Job, Pod } from '../../../shared/api/kubernetes.ts';
import { CONTROLLER_UID_LABEL, JOB_NAME_LABEL } from '../../../shared/api/names.ts';
import { JOBS, PODS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { pathTo, queryString } from '../../../shared/kube/request-path.ts';
import { given } from '../../../shared/runtime/given.ts';
import { FlagError } from '../../../shared/runtime/flags.ts';
import { readLastFailure, tellFailure } from '../../api/last-failure.ts';
import { writtenRecordOf } from '../../api/records.ts';
import type { ClusterChoice, ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { withHistory } from '../history-store.ts';
import type { NamedJob } from '../jobs/operands.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { withCluster } from '../with-cluster.ts';
import { isChosenEnd, isChosenPod, lastLines, lineCutter, printed, type PodChoice } from './log-lines.ts';

export type LogsConfig = ClusterChoice &
  PodChoice & {
    readonly job: NamedJob;
    readonly namespace: string | undefined;
    readonly 'history-store': string | undefined;
    readonly 'cluster-kubeconfig': string | undefined;
    readonly 'cluster-context': string | undefined;
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
    if (job !== undefined && !isFinished(job.status)) return live(config, job, session);
    return afterTheEnd(config, key, job, session);
  });

/** From the worker cluster, of the pods that there are. */
async function live(config: LogsConfig, job: DeepReadonly<Job>, session: Session): Promise<number> {
  const { namespace, name } = job.metadata;
  const written = writtenRecordOf(job);
  if (written.kind !== 'Record')
    throw new CommandError(`${namespace}/${name} has not been admitted yet; switchyard explain ${name} says why`);
  const { cluster } = written.record;
  const choice = {
    kubeconfig: config['cluster-kubeconfig'] ?? config.kubeconfig,
    context: config['cluster-context'] ?? (config['cluster-kubeconfig'] === undefined ? cluster : undefined),
  };
  try {
    return await withCluster(choice, (connection) => podsOf(connection, config, { namespace, name }, session), `cluster ${cluster}`);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new CommandError(
      `it runs on cluster ${plain(cluster)}, of which no kubeconfig is at hand (${error.message}); name one with --cluster-kubeconfig or --cluster-context`,
      ExitCode.Unreachable,
      { cause: error },
    );
  }
}

async function podsOf(
  connection: ClusterConnection,
  config: LogsConfig,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  session: Session,
): Promise<number> {
  const { items } = await connection.client.list(PODS, { namespace, labelSelector: `${JOB_NAME_LABEL}=${name},${CONTROLLER_UID_LABEL}` });
  const pods = items.filter((pod) => isChosenPod(pod, config));
  if (pods.length === 0) {
    await session.errors.write(`${plain(`${namespace}/${name}`)} has no such pods now\n`);
    return ExitCode.Done;
  }
  const results = await Promise.all(pods.map((pod) => print(connection, config, pod, pods.length > 1, session)));
  return session.signal.aborted ? ExitCode.Interrupted : results.includes(false) ? ExitCode.Failed : ExitCode.Done;
}

/** Whether there was a log. */
async function print(
  connection: ClusterConnection,
  config: LogsConfig,
  pod: Pod,
  isOneOfMany: boolean,
  session: Session,
): Promise<boolean> {
  const { namespace, name } = pod.metadata;
  const container = pod.spec.containers[0]?.name;
  const path = `${pathTo(PODS, namespace, name)}/log${queryString({
    ...given({ container }),
    follow: config.follow ? 'true' : undefined,
    tailLines: config.tail,
  })}`;
  const prefix = isOneOfMany ? name : undefined;
  const stream = await connection.stream(path, session.signal);
  if (stream.status !== 200) {
    await session.errors.write(`${plain(name)}: ${plain(await firstOf(stream.chunks))}\n`);
    return false;
  }
  const cutter = lineCutter();
  try {
    for await (const piece of stream.chunks) await session.output.write(printed(cutter.take(piece), prefix));
  } catch (error) {
    if (!session.signal.aborted) throw error;
  }
  await session.output.write(printed(cutter.rest(), prefix));
  return true;
}

/** The message of a refusal. */
async function firstOf(chunks: AsyncIterable<string>): Promise<string> {
  for await (const chunk of chunks) return /"message":"((?:[^"\\]|\\.)*)"/.exec(chunk)?.[1] ?? chunk.slice(0, 200);
  return 'no answer';
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
        const text = await history.tail(record.uid, copy.copyUid, pod.pod);
        await session.output.write(printed(lastLines(text ?? '', config.tail), kept.length > 1 ? pod.pod : undefined));
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
