import { jobTrace } from '../../../shared/api/job-trace.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import { explain } from '../../admission/explain.ts';
import { pastOf } from '../../admission/past.ts';
import { connect } from '../cluster-connection.ts';
import { explanationText } from './explanation-text.ts';
import { EXPLAIN_PROGRAM, type ExplainConfig } from './program.ts';
import { readWorld, UnreadableWorldError } from './world-reader.ts';

/** Explains one Job on standard output, and resolves with the exit code. Without a namespace it is that of the kubeconfig's context. */
export async function runExplain(config: Omit<ExplainConfig, 'namespace'> & { readonly namespace: string | undefined }): Promise<number> {
  const { name, output, flags } = config;
  const { client, ...context } = connect(config);
  const namespace = config.namespace ?? context.namespace;
  try {
    const { world, jobs } = await readWorld(client, Date.now(), { flags });
    const job = jobs.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (job === undefined) return refused(`there is no Job ${name} in namespace ${namespace}`);
    const workload = world.workloads.find(({ uid }) => uid === job.metadata.uid);
    if (workload === undefined)
      return refused(`Job ${namespace}/${name} is not Switchyard’s: its spec.managedBy names ${job.spec.managedBy ?? 'nobody'}`);
    const explanation = explain(world, job, workload, pastOf(jobs));
    const { traceId } = jobTrace(job);
    const told = `${explanationText(explanation)}Its trace, where the manager exports any: ${traceId}\n`;
    await written(output === 'json' ? `${JSON.stringify({ ...explanation, traceId }, undefined, 2)}\n` : told);
    return 0;
  } catch (error) {
    if (error instanceof UnreadableWorldError) return refused(error.message);
    if (error instanceof ApiError) return refused(`the manager cluster refused: ${error.message}`);
    throw error;
  } finally {
    await client.close();
  }
}

function refused(problem: string): number {
  process.stderr.write(`${EXPLAIN_PROGRAM.name}: ${problem}\n`);
  return 1;
}

/** The process ends right after, and a pipe takes only so much at once. */
function written(text: string): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())));
}
