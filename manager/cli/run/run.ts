import type { Job } from '../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { formatProblems } from '../../api/field-problem.ts';
import { prepareJob } from '../../prepare-job.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { exitCodeOf } from '../../api/job-story.ts';
import { keyOf } from '../jobs/read-jobs.ts';
import { onlyQueue } from '../only-queue.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { waitForJobs } from '../wait-for-jobs.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';
import { oneJob, type OneJob } from './one-job.ts';

export type RunConfig = ClusterChoice &
  Omit<OneJob, 'namespace' | 'queue'> & {
    readonly namespace: string | undefined;
    readonly queue: string | undefined;
    /** 0: none. */
    readonly timeout: number;
    readonly rm: boolean;
  };

export const runRun = (config: RunConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client, ...context }) => {
    const namespace = config.namespace ?? context.namespace;
    const queue = config.queue ?? (await onlyQueue(client, namespace));
    const preparation = prepareJob(oneJob({ ...config, namespace, queue }));
    if (preparation.kind === 'Refused') throw new CommandError(formatProblems(preparation.problems));
    const submittedMs = session.now();
    const job = await client.create(JOBS, preparation.job, { fieldValidation: 'Strict', fieldManager: 'switchyard-cli' });
    await session.errors.write(`${keyOf(job)} submitted to queue ${plain(queue)}\n`);
    try {
      const code = await waitingFor({ session, timeoutMs: config.timeout, what: `${keyOf(job)} has not ended` }, async (signal, done) => {
        const [ended] = await waitForJobs(client, [job], submittedMs, session, signal);
        if (ended !== undefined) done(exitCodeOf(ended.story) ?? ExitCode.Failed);
      });
      if (code === ExitCode.Interrupted && !config.rm)
        await session.errors.write(`${keyOf(job)} goes on; switchyard cancel ${keyOf(job)} ends it\n`);
      return code;
    } finally {
      if (config.rm) await remove(client, job);
    }
  });

async function remove(client: KubeClient, job: Job): Promise<void> {
  try {
    await client.delete(JOBS, objectKey(job), { propagationPolicy: 'Background', uid: job.metadata.uid });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
