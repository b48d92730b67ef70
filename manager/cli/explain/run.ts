import { exportedTraceId } from '../../../shared/api/job-trace.ts';
import type { CoreEvent, DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { EVENTS } from '../../../shared/api/resources.ts';
import { isForbidden } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { explain, type Explanation } from '../../insight/explain/explain.ts';
import { withExpectedTimes } from '../../insight/estimate/expected-run-times.ts';
import { pastOf } from '../../insight/estimate/past.ts';
import { formatWork, withPlainNames, withWorkKeys, workPath } from '../../work-kind/qualified-name.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';
import type { ClusterConnection, JobClient } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { findJob, keyOf, noSuchJob } from '../jobs/read-jobs.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { ManagerHttp } from '../server/manager-http.ts';
import type { ServerChoice } from '../server/flags.ts';
import { askManager, isClosed, isNamed } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { withCluster } from '../with-cluster.ts';
import { explanationText } from './explanation-text.ts';
import { conditionLines, unmanagedProblem, wasPlaced } from './own-conditions.ts';
import type { ExplainConfig } from './program.ts';
import { timelineLines, timelineOf } from './timeline.ts';
import { readWorld } from './world-reader.ts';

export type RunExplainConfig = Omit<ExplainConfig, 'namespace'> &
  ServerChoice & { readonly namespace: string | undefined /** Before the slash: a namespace, or a kind. */; readonly of?: string };

/** The explanation of a Job; `Conditions`: what the Job says itself, because nobody else may be asked. */
type Answer = { readonly kind: 'Explanation'; readonly explanation: Explanation } | { readonly kind: 'Conditions'; readonly why: string };

/**
 * Explains one Job, and resolves with the exit code. Without a namespace it is that of the kubeconfig's context. Users who may not read all
 * that the answer depends on get the manager's explanation, and without a manager what the Job's conditions say. Throws CommandError.
 */
export const runExplain = (config: RunExplainConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const { job, by } = await jobOf(connection, config);
    const { client } = connection;
    const problem = unmanagedProblem(job, by.kind);
    if (problem !== undefined) throw new CommandError(problem);
    const answer = await answerOf(config, connection, job, session.now());
    const traceId = exportedTraceId(job);
    const others = await othersOf(connection);
    const readable = (line: string): string => withPlainNames(others, line);
    const timeline = isOnItsWay(answer, job) ? timelineOf(job, await eventsOf(client, job)) : [];
    if (answer.kind === 'Conditions') await session.errors.write(`${plain(answer.why)}; this is what the Job’s own conditions say\n`);
    await report(session, config.output, {
      lines: [
        ...(answer.kind === 'Explanation'
          ? [explanationText(answer.explanation, others).trimEnd()]
          : conditionLines(job, by.kind).map(readable)),
        ...timelineLines(timeline).map(readable),
        ...(traceId === undefined ? [] : [`Its trace: ${traceId}`]),
      ],
      value: withWorkKeys(others, {
        ...(answer.kind === 'Explanation'
          ? answer.explanation
          : { kind: 'Conditions', job: keyOf(job), conditions: job.status?.conditions ?? [] }),
        ...(timeline.length === 0 ? {} : { timeline }),
        ...(traceId === undefined ? {} : { traceId }),
      }),
    });
    return 0;
  });

/** The kinds beside Jobs; none for users who may not list WorkKinds. */
const othersOf = (connection: ClusterConnection): Promise<readonly SingleKind[]> =>
  connection.kinds().then(
    ({ kind }) => kind.others,
    (error: unknown) => {
      if (isClosed(error)) return [];
      throw error;
    },
  );

/** A Job that waits has a way only where it was placed before. */
const isOnItsWay = (answer: Answer, job: DeepReadonly<Job>): boolean =>
  wasPlaced(job) || (answer.kind === 'Explanation' && ['Admitted', 'Finished'].includes(answer.explanation.kind));

async function jobOf(
  connection: ClusterConnection,
  { name, namespace, of }: Pick<RunExplainConfig, 'name' | 'namespace' | 'of'>,
): Promise<{ readonly job: Job; readonly by: JobClient }> {
  const found = await findJob(connection, { namespace: of, name }, namespace ?? connection.namespace);
  const { job, by } = found;
  if (job !== undefined) return { job, by };
  const { resource } = by.kind.of(found.key.name);
  throw new CommandError(
    `${noSuchJob(found)}; switchyard get ${resource.plural} -n ${plain(found.key.namespace)} lists those that there are (-A: in all namespaces), switchyard history those that have ended`,
  );
}

async function answerOf(config: RunExplainConfig, connection: ClusterConnection, job: DeepReadonly<Job>, nowMs: number): Promise<Answer> {
  let closed: Error | undefined;
  if (!isNamed(config)) {
    try {
      return { kind: 'Explanation', explanation: await ownExplanation(config, connection, job, nowMs) };
    } catch (error) {
      if (!isClosed(error)) throw error;
      closed = error;
    }
  }
  const asked = await askManager(config, connection, (manager) => explanationBy(manager, job));
  if (asked.kind === 'NoManager') return { kind: 'Conditions', why: `${closed?.message ?? ''}; ${asked.why}` };
  const explanation = asked.value;
  return explanation.kind === 'Unexplained'
    ? { kind: 'Conditions', why: `the manager does not explain it now: ${explanation.message}` }
    : { kind: 'Explanation', explanation };
}

async function ownExplanation(
  { flags }: RunExplainConfig,
  connection: ClusterConnection,
  { metadata }: DeepReadonly<Job>,
  nowMs: number,
): Promise<Explanation> {
  const by = await connection.kinds();
  const { world: read, jobs } = await readWorld(by, nowMs, { flags });
  const past = pastOf(by.kind, jobs);
  const world = withExpectedTimes(read, past);
  const job = jobs.find(({ metadata: { uid } }) => uid === metadata.uid);
  const workload = world.workloads.find(({ uid }) => uid === metadata.uid);
  if (job === undefined || workload === undefined) throw new CommandError(`${plain(formatWork(by.kind, metadata))} was deleted just now`);
  return explain(world, job, workload, past);
}

/** As the dashboard shows it: without names that the user may not see. */
async function explanationBy(
  manager: ManagerHttp,
  { metadata }: DeepReadonly<Job>,
): Promise<Explanation | { readonly kind: 'Unexplained'; readonly message: string }> {
  const { body } = await manager.answerTo('GET', `/api/v1/${workPath(metadata)}/explanation`);
  return body as Explanation | { readonly kind: 'Unexplained'; readonly message: string };
}

/** Events of the Job, of which each placement has some; none where they may not be listed. */
async function eventsOf(client: Pick<ReadClient, 'list'>, { metadata }: DeepReadonly<Job>): Promise<readonly CoreEvent[]> {
  try {
    const { namespace, uid } = metadata;
    return (await client.list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}` })).items;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}
