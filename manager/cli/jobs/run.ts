import type { WorkObject } from '../../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION } from '../../../shared/api/names.ts';
import { ApiError, isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { holdOf } from '../../api/job-annotations.ts';
import type { ClusterChoice, JobClient } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { confirmed } from '../confirmation.ts';
import { ExitCode } from '../exit-codes.ts';
import { plain } from '../plain-text.ts';
import { createProgressLine } from '../progress-line.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { withCluster } from '../with-cluster.ts';
import { eachJob } from './each-job.ts';
import type { NamedJob } from './operands.ts';
import { keyOf, readJobs } from './read-jobs.ts';

export type JobsConfig = ClusterChoice & {
  readonly jobs: readonly NamedJob[];
  readonly namespace: string | undefined;
  readonly 'all-namespaces': boolean;
  readonly selector: string | undefined;
  readonly output: Form;
  readonly yes: boolean;
};

/** What becomes of one Job: `undefined` where there is nothing to do, and why. */
type Step = {
  readonly verb: string;
  readonly done: string;
  readonly idle: (job: WorkObject) => string | undefined;
  act(client: JobClient, job: WorkObject): Promise<void>;
};

export const runCancel = (config: JobsConfig, session: Session): Promise<number> =>
  onJobs(config, session, {
    verb: 'Cancel',
    done: 'cancelled',
    idle: (job) => (isFinished(job.status) ? 'has finished' : undefined),
    async act({ client, kind }, job) {
      try {
        // The UID spares a Job that was created under the name meanwhile.
        await client.delete(kind.resource, objectKey(job), { propagationPolicy: 'Background', uid: job.metadata.uid });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
  });

export const runHold = (config: JobsConfig, session: Session): Promise<number> =>
  onJobs(config, session, {
    verb: 'Hold',
    done: 'held',
    idle: (job) => (isFinished(job.status) ? 'has finished' : held(job) ? 'is held already' : undefined),
    act: (client, job) => annotate(client, job, 'true'),
  });

export const runRelease = (config: JobsConfig, session: Session): Promise<number> =>
  onJobs(config, session, {
    verb: 'Release',
    done: 'released',
    idle: (job) => (isFinished(job.status) ? 'has finished' : held(job) ? undefined : 'is not held'),
    act: (client, job) => annotate(client, job, null),
  });

function held(job: WorkObject): boolean {
  const hold = holdOf(job);
  return hold.kind === 'Hold' && hold.held === true;
}

async function annotate({ client, kind }: JobClient, job: WorkObject, value: string | null): Promise<void> {
  await client.patch(kind.resource, objectKey(job), {
    type: 'merge',
    body: { metadata: { uid: job.metadata.uid, annotations: { [HOLD_ANNOTATION]: value } } },
  });
}

/** Names that a confirmation lists. */
const LISTED_MAX = 5;

async function onJobs(config: JobsConfig, session: Session, step: Step): Promise<number> {
  return withCluster(config, async (connection) => {
    const { jobs, selector, output, yes } = config;
    const { found, missing, unread, by } = await readJobs(connection, {
      jobs,
      namespace: config.namespace ?? connection.namespace,
      everywhere: config['all-namespaces'],
      selector,
    });
    for (const line of unread) await session.errors.write(`${line}\n`);
    const meant = found.filter((job) => step.idle(job) === undefined);
    const results = found.flatMap((job) => {
      const idle = step.idle(job);
      return idle === undefined ? [] : [{ job: keyOf(job), result: idle }];
    });
    if (!yes && (meant.length > 1 || (meant.length > 0 && selector !== undefined))) {
      const names = meant.slice(0, LISTED_MAX).map(keyOf).join(', ');
      const more = meant.length > LISTED_MAX ? `, and ${meant.length - LISTED_MAX} more` : '';
      if (!(await confirmed(session, `${step.verb} ${meant.length === 1 ? '1 Job' : `${meant.length} Jobs`} (${names}${more})?`))) {
        await session.errors.write('Nothing was done.\n');
        return ExitCode.Failed;
      }
    }
    const progress = createProgressLine(session.errors, meant.length, session.now);
    let done = 0;
    const acted = await eachJob(meant, (job) => step.act(by, job), {
      isFatal: (error) => !(error instanceof ApiError),
      onResult: async ({ error }) => {
        if (error === undefined) done++;
        await progress.show(() => ({ done, total: meant.length, words: step.done }));
      },
    }).finally(() => progress.end());
    for (const { job, error } of acted) if (error === undefined) results.push({ job: keyOf(job), result: step.done });
    const failures = acted.filter(({ error }) => error !== undefined);
    const left = meant.length - acted.length;
    const lines = results.map(({ job, result }) => `${job} ${result}`);
    await report(session, output, {
      lines: lines.length === 0 && failures.length === 0 && missing.length === 0 ? ['there is no such Job: nothing was done'] : lines,
      value: {
        jobs: [
          ...results,
          ...failures.map(({ job, error }) => ({ job: keyOf(job), error: messageOf(error) })),
          ...missing.map(({ job, why }) => ({ job, error: why })),
        ],
      },
    });
    for (const { job, error } of failures) await session.errors.write(`${keyOf(job)}: not ${step.done}: ${messageOf(error)}\n`);
    for (const { job, why } of missing) await session.errors.write(`${job}: not ${step.done}: ${why}\n`);
    // An API server that cannot be reached has its own message, with the remedy.
    const fatal = failures.find(({ error }) => !(error instanceof ApiError));
    if (left > 0) await session.errors.write(`${left === 1 ? '1 Job is' : `${left} Jobs are`} left as before\n`);
    if (fatal !== undefined) throw fatal.error;
    return failures.length + missing.length + unread.length > 0 ? ExitCode.Failed : ExitCode.Done;
  });
}

const messageOf = (error: unknown): string => {
  if (isConflict(error)) return 'another Job has its name by now';
  return plain(error instanceof Error ? error.message : String(error));
};
