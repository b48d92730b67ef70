import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { ApiError } from '../../shared/kube/api-error.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig, defaultKubeconfigSource } from '../../shared/kube/kubeconfig.ts';
import { KubeconfigError } from '../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { FlagError } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { explain } from '../admission/explain.ts';
import { explanationText } from './explain/explanation-text.ts';
import { EXPLAIN_PROGRAM, type ExplainConfig } from './explain/program.ts';
import { readWorld, UnreadableWorldError } from './explain/world-reader.ts';

await runCommandLine(EXPLAIN_PROGRAM, async (config: ExplainConfig): Promise<number> => {
  const { namespace, name, output } = config;
  const access = accessTo(config);
  const client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-explain', clock: systemClock });
  try {
    const { world, jobs } = await readWorld(client, systemClock.now());
    const job = jobs.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (job === undefined) return refused(`there is no Job ${name} in namespace ${namespace}`);
    const workload = world.workloads.find(({ uid }) => uid === job.metadata.uid);
    if (workload === undefined)
      return refused(`Job ${namespace}/${name} is not Switchyard’s: its spec.managedBy names ${job.spec.managedBy ?? 'nobody'}`);
    const explanation = explain(world, job, workload);
    await written(output === 'json' ? `${JSON.stringify(explanation, undefined, 2)}\n` : explanationText(explanation));
    return 0;
  } catch (error) {
    if (error instanceof UnreadableWorldError) return refused(error.message);
    if (error instanceof ApiError) return refused(`the manager cluster refused: ${error.message}`);
    throw error;
  } finally {
    await client.close();
  }
});

function accessTo({ kubeconfig }: ExplainConfig) {
  try {
    const source = kubeconfig === undefined ? defaultKubeconfigSource(process.env) : { kind: 'file' as const, path: kubeconfig };
    return accessFromKubeconfig(source, systemClock);
  } catch (error) {
    throw error instanceof KubeconfigError ? new FlagError(`--kubeconfig: ${error.message}`, { cause: error }) : error;
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
