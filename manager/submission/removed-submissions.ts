import { QueueEvents, type Queue } from 'bullmq';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createWakeUp } from '../../shared/runtime/wake-up.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { isCancelled } from './outcome.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { ParkedRecord, SubmissionMarks } from './submission-marks.ts';

export type RemovedSubmissions = {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly submissions: Queue;
  readonly marks: SubmissionMarks;
  /** Deletes the Job. */
  readonly withdraw: (parked: ParkedRecord) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
};

const SWEEP_INTERVAL_MS = 300_000;
const SWEEP_RETRY_MS = 5_000;
/** Between two sweeps: many submissions may be removed one by one. */
const GATHER_MS = 1_000;

/** Withdraws the Jobs of submissions that somebody has removed from the queue while they ran, until `signal` aborts. */
export async function withdrawRemoved(options: RemovedSubmissions, signal: AbortSignal): Promise<void> {
  const { redis, prefix, submissions, marks, clock, log } = options;
  const sweeps = createWakeUp(clock, GATHER_MS);
  const events = new QueueEvents(submissions.name, { connection: redis, prefix });
  events.on('error', (error) => log.debug('trouble with the events of a BullMQ queue', { queue: submissions.name, error }));
  events.on('removed', ({ jobId }) => {
    // The key of an id that BullMQ counted has a time that went with it.
    if (/^\d+$/.test(jobId)) return sweeps.wake();
    const looked = marks.parkedFor(jobId).then((parked) => parked && withdrawIfGone(options, [parked]));
    // The next sweep finds it.
    looked.catch((error: unknown) => log.warn('a removed submission could not be withdrawn yet', { submission: jobId, error }));
  });
  const sweep = async (): Promise<void> => {
    const swept = await sweepAll(options).then(
      () => true,
      (error: unknown) => {
        if (!signal.aborted) log.warn('it could not be checked which submissions were removed', { error });
        return false;
      },
    );
    if (!swept) void sleep(clock, SWEEP_RETRY_MS, signal).then(sweeps.wake);
  };
  const ticking = (async () => {
    while (!signal.aborted) {
      await sleep(clock, SWEEP_INTERVAL_MS, signal);
      sweeps.wake();
    }
  })();
  await Promise.all([sweeps.run(sweep, signal), ticking, aborted(signal).then(() => events.close())]);
}

async function sweepAll(options: RemovedSubmissions): Promise<void> {
  // The nodes of a Redis cluster may lose one thing and not the other: what is missing there may have been forgotten, not removed.
  if (options.redis.isCluster) return;
  for await (const page of options.marks.parked()) await withdrawIfGone(options, page);
}

/** Only what the queue knows nothing of any more, and whose Job has not ended. */
async function withdrawIfGone(
  { redis, submissions, marks, withdraw, log }: RemovedSubmissions,
  page: readonly ParkedRecord[],
): Promise<void> {
  const there = await Promise.all(page.map(({ ref }) => redis.exists(submissions.toKey(ref.id))));
  for (const [index, parked] of page.entries()) {
    if (there[index] === 1 || (await submissions.getJobState(parked.ref.id)) !== 'unknown') continue;
    const outcome = await marks.outcomeOf(parked.uid);
    // One that was cancelled may have been cut short before its Job was withdrawn.
    if (outcome === undefined || isCancelled(outcome)) {
      log.info('a submission was removed from its queue; its Job is deleted', { submission: parked.ref.key, job: parked.job });
      await withdraw(parked);
    }
    await marks.forget(parked);
  }
}
