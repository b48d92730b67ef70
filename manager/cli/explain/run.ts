import { exportedTraceId } from '../../../shared/api/job-trace.ts';
import { explain } from '../../insight/explain/explain.ts';
import { withExpectedTimes } from '../../insight/estimate/expected-run-times.ts';
import { pastOf } from '../../insight/estimate/past.ts';
import { CommandError } from '../command-error.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { withCluster } from '../with-cluster.ts';
import { explanationText } from './explanation-text.ts';
import type { ExplainConfig } from './program.ts';
import { timelineLines, timelineOf } from './timeline.ts';
import { readWorld, UnreadableWorldError } from './world-reader.ts';

/** Explains one Job, and resolves with the exit code. Without a namespace it is that of the kubeconfig's context. Throws CommandError. */
export const runExplain = (
  config: Omit<ExplainConfig, 'namespace'> & { readonly namespace: string | undefined },
  session: Session,
): Promise<number> =>
  withCluster(config, async ({ client, kind, ...context }) => {
    const { name, output, flags } = config;
    const namespace = config.namespace ?? context.namespace;
    const { world: read, jobs } = await readWorld({ client, kind }, session.now(), { flags }).catch((error: unknown) => {
      throw error instanceof UnreadableWorldError ? new CommandError(error.message, undefined, { cause: error }) : error;
    });
    const past = pastOf(kind, jobs);
    const world = withExpectedTimes(read, past);
    const job = jobs.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (job === undefined)
      throw new CommandError(`there is no Job ${plain(name)} in namespace ${plain(namespace)}; switchyard get jobs -A lists them`);
    const workload = world.workloads.find(({ uid }) => uid === job.metadata.uid);
    if (workload === undefined)
      throw new CommandError(
        `Job ${namespace}/${name} is not Switchyard’s: its spec.managedBy names ${plain(kind.controllerOf(job) ?? 'nobody')}; kubectl describe tells of it`,
      );
    const explanation = explain(world, job, workload, past);
    const traceId = exportedTraceId(job);
    const timeline = explanation.kind === 'Admitted' || explanation.kind === 'Finished' ? timelineOf(job) : [];
    await report(session, output, {
      lines: [
        explanationText(explanation).trimEnd(),
        ...timelineLines(timeline),
        ...(traceId === undefined ? [] : [`Its trace: ${traceId}`]),
      ],
      value: { ...explanation, ...(timeline.length === 0 ? {} : { timeline }), ...(traceId === undefined ? {} : { traceId }) },
    });
    return 0;
  });
