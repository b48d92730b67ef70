import type { Clock } from '../../shared/runtime/clock.ts';
import type { TenantGate } from './tenant-gate.ts';
import { signatureProblem } from './signature.ts';
import { SubmissionRefused, type Acceptance, type Submission, type SubmissionQueue } from './submission-queue.ts';
import type { Tenant } from './tenant.ts';

export type GatedQueueDeps = {
  readonly gate: TenantGate;
  readonly tenant: Tenant;
  readonly queue: SubmissionQueue;
  readonly clock: Clock;
  /** Told what became of each submission, and why it was refused. One that was refused unread has no data. */
  readonly onResult: (
    result: 'accepted' | 'refused' | 'failed',
    submission: Pick<Submission, 'id' | 'data'>,
    refusal?: SubmissionRefused,
  ) => void;
};

/** A submission at which the code that judges it breaks is not handed out for ever. */
const BREAKS_MAX = 5;

/**
 * The queue of a tenant behind the gate: a submission that is handed out waits for its turn, and must be signed where the tenant wants it.
 */
export function gatedQueue({ gate, tenant, queue, clock, onResult }: GatedQueueDeps): Pick<SubmissionQueue, 'consume'> {
  const breaks = new Map<string, number>();
  return {
    consume: (accept, signal, withdraw) =>
      queue.consume(
        async (submission) => {
          try {
            const work = (): Promise<Acceptance> => {
              const problem = signatureProblem(tenant, submission, clock.now());
              return problem === undefined ? accept(submission) : Promise.reject(new SubmissionRefused('Forbidden', problem));
            };
            const acceptance = await gate.turn(tenant, submission.parked !== undefined, work, signal);
            breaks.delete(submission.key);
            onResult('accepted', submission);
            return acceptance;
          } catch (error) {
            const judged = judgedOnce(error, submission, breaks);
            if (judged instanceof SubmissionRefused) onResult('refused', submission, judged);
            else onResult('failed', submission);
            throw judged;
          }
        },
        signal,
        withdraw,
        (id, refusal) => onResult('refused', { id, data: undefined }, refusal),
      ),
  };
}

/**
 * The world's trouble passes; an error of our own while reading a submission comes again each time, so it becomes a refusal after a few
 * times.
 */
function judgedOnce(error: unknown, { key }: Submission, breaks: Map<string, number>): unknown {
  if (!(error instanceof TypeError || error instanceof RangeError)) {
    if (error instanceof SubmissionRefused) breaks.delete(key);
    return error;
  }
  const times = (breaks.get(key) ?? 0) + 1;
  breaks.set(key, times);
  if (times < BREAKS_MAX) return error;
  breaks.delete(key);
  return new SubmissionRefused('Invalid', `the submission could not be read, ${times} times; simplify it, or tell the administrator`, {
    cause: error,
  });
}
