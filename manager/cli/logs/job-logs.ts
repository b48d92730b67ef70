import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { FlagError } from '../../../shared/runtime/flags.ts';
import { writtenRecordOf } from '../../api/records.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { connect, type ClusterChoice, type ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { troubleWith } from '../trouble.ts';
import { followPods, type FollowedPods, type PodsOfJob } from './follow-pods.ts';
import { logSink, type LogForm } from './log-sink.ts';
import type { ManagersPods } from './managers-pods.ts';
import { podsOfCopies } from './pods-of-copies.ts';

/** Which kubeconfig is for the worker cluster of a Job. */
export type WorkerChoice = {
  readonly kubeconfig: string | undefined;
  readonly 'cluster-kubeconfig': string | undefined;
  readonly 'cluster-context': string | undefined;
};

export type JobLogsOptions = Pick<PodsOfJob, 'index' | 'failed' | 'tail'> & {
  readonly kind: WorkKind<Job>;
  readonly clusters: WorkerChoice;
  readonly form: LogForm;
  readonly session: Pick<Session, 'output' | 'errors' | 'signal'>;
  /** Hears, once for each cluster, why logs cannot be read there: a CommandError where there is a remedy. */
  readonly onTrouble: (error: unknown) => void;
  /** Reads the logs where no kubeconfig of the worker cluster is at hand; absent: that is trouble. */
  readonly otherwise?: (job: DeepReadonly<Job>, pods: ManagersPods, why: CommandError) => FollowedPods;
};

/** The logs of one Job while it runs, on whatever cluster, one after another. */
export interface JobLogs {
  /** How the Job is now. Its pods are followed on each cluster that it goes to. */
  saw(job: DeepReadonly<Job>): void;
  /**
   * It has ended. Resolves when all that its pods have written is printed, as far as they are still there, with the number of pods of which
   * something was.
   */
  end(): Promise<number>;
  /** Nobody reads them any more. Does nothing after {@link end}. */
  stop(): Promise<void>;
}

/** Beyond the end of the Job. Its pods have ended then: what is not read by now is about to go. */
const LINGER_MS = 2_000;

type Followed = { readonly pods: FollowedPods; readonly close: () => Promise<void> };

export function createJobLogs({ kind, clusters, form, session, onTrouble, otherwise, ...choice }: JobLogsOptions): JobLogs {
  const followed = new Map<string, Followed | undefined>();
  const names = new Set<string>();
  let mayBeMany = false;
  const sink = logSink(form, session.output, session.errors, () => mayBeMany || names.size > 1);

  function follow(cluster: string, job: DeepReadonly<Job>, labelSelector: string): Followed | undefined {
    const { namespace } = job.metadata;
    let isTold = false;
    const tell = (error: unknown): void => {
      if (isTold || session.signal.aborted) return;
      isTold = true;
      onTrouble(error);
    };
    const tellingNames = {
      ...sink,
      write: (text: string, pod: Parameters<typeof sink.write>[1]): Promise<void> => {
        names.add(pod.metadata.name);
        return sink.write(text, pod);
      },
    };
    try {
      const connection = connectTo(cluster, clusters);
      const trouble = (error: unknown): void => tell(troubleWith(`cluster ${cluster}`, connection.server, error));
      const pods = followPods(connection, { ...choice, namespace, labelSelector }, tellingNames, session.signal, trouble);
      return { pods, close: () => connection.client.close() };
    } catch (error) {
      if (otherwise !== undefined && error instanceof CommandError) {
        const reading = { ...choice, sink: tellingNames, signal: session.signal, onTrouble: tell };
        return { pods: otherwise(job, reading, error), close: async () => undefined };
      }
      tell(error);
      return undefined;
    }
  }

  async function end(withinMs: number): Promise<number> {
    const all = [...followed.values()];
    followed.clear();
    const counts = all.map(async (each) => {
      if (each === undefined) return 0;
      await each.pods.end(withinMs);
      await each.close();
      return each.pods.count;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  return {
    saw(job) {
      const isJob = kind.of(job.metadata.name) === kind.of(undefined);
      mayBeMany = isJob ? (job.spec.parallelism ?? 1) > 1 || (job.spec.completions ?? 1) > 1 : kind.podsAtOnce(job) > 1;
      const written = writtenRecordOf(job);
      if (written.kind !== 'Record' || followed.has(written.record.cluster)) return;
      const selector = podsOfCopies(kind, job);
      // The labels of some kinds' pods are known once their operator has begun.
      if (selector !== undefined) followed.set(written.record.cluster, follow(written.record.cluster, job, selector));
    },
    end: () => end(LINGER_MS),
    stop: async () => void (await end(0)),
  };
}

/** Throws CommandError where no kubeconfig of that cluster is at hand; `otherwise` is what else there is to do about it. */
export function connectTo(cluster: string, choice: WorkerChoice, otherwise = ''): ClusterConnection {
  try {
    return connect(workerChoice(cluster, choice));
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new CommandError(
      `its pods are on cluster ${plain(cluster)}, of which no kubeconfig is at hand (${error.message}); name one with --cluster-kubeconfig or --cluster-context${otherwise}`,
      ExitCode.Unreachable,
      { cause: error },
    );
  }
}

/** By a context that is called as the cluster, unless flags say another. */
const workerChoice = (cluster: string, choice: WorkerChoice): ClusterChoice => ({
  kubeconfig: choice['cluster-kubeconfig'] ?? choice.kubeconfig,
  context: choice['cluster-context'] ?? (choice['cluster-kubeconfig'] === undefined ? cluster : undefined),
});
