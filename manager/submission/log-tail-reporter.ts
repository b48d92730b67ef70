import type { ConfigMap, DeepReadonly, Job, ObjectKey, WorkObject } from '../../shared/api/kubernetes.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { endsWithin, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { sanitizedEndedPods } from '../api/last-failure.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { submissionOf } from './outcome.ts';
import type { SubmissionQueue } from './submission-queue.ts';
import { isSealedSubmission } from './submission-seal.ts';
import { logTailLines, reportedTails } from './log-tail-lines.ts';

export type LogTailReporterDeps = {
  /** By tenant id, those that are served now. */
  readonly queues: () => ReadonlyMap<string, SubmissionQueue>;
  readonly jobs: Lister<Job>;
  /** Tell which Jobs the manager made of submissions. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A copy that is about to go, with the ends of its logs. */
export type TailedCopy = {
  /** The Job that it is a copy of. */
  readonly job: ObjectKey;
  readonly originUid: string;
  readonly cluster: string;
  readonly copy: DeepReadonly<WorkObject>;
  readonly tails: () => Promise<ConfigMap | undefined>;
};

/** Gives submitters who asked for them the ends of the logs of their pods. */
export interface LogTailReporter {
  /** Resolves when they are told, or after two seconds; never rejects. The outcome does not wait for it. */
  keep(copy: TailedCopy): Promise<void>;
}

/** Longest that a copy stays for the sake of Redis. */
const PATIENCE_MS = 2_000;
/** While Redis does not answer so many are waited for; what is beyond goes untold. */
const UNTOLD_MAX = 100;
const KNOWN_MAX = 10_000;

export function createLogTailReporter({ queues, jobs, keys, clock, log }: LogTailReporterDeps): LogTailReporter {
  /** Copies by UID: one that cannot be deleted at once comes again. */
  const known = new Set<string>();
  let inFlight = 0;
  /** The last was not told in time: no copy waits for the next. */
  let inTrouble = false;

  async function tell({ job: key, originUid, cluster, copy, tails }: TailedCopy): Promise<void> {
    const pods = reportedTails(sanitizedEndedPods(copy));
    const job = pods.length === 0 ? undefined : jobs.get(key);
    const ref = job && submissionOf(job);
    if (job?.metadata.uid !== originUid || ref === undefined || !isSealedSubmission(keys, job, ref)) return;
    const queue = queues().get(ref.tenant);
    await queue?.tellTails?.(ref, copy.metadata.uid, async () => logTailLines(pods, cluster, await tails()));
    inTrouble = false;
  }

  return {
    async keep(ending) {
      const { uid } = ending.copy.metadata;
      if (known.has(uid) || inFlight >= UNTOLD_MAX) return;
      if (known.size >= KNOWN_MAX) known.delete(known.values().next().value ?? '');
      known.add(uid);
      inFlight++;
      const told = tell(ending)
        .catch((error: unknown) =>
          log.info('the ends of logs could not be told to a submitter', { copy: ending.copy.metadata.name, error }),
        )
        .finally(() => inFlight--);
      if (!inTrouble && !(await endsWithin(clock, PATIENCE_MS, told))) inTrouble = true;
    },
  };
}
