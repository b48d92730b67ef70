import type { ParkedRecord } from './submission-marks.ts';
import type { DeliveredMark } from './submission-queue.ts';

/** The fields of a BullMQ job that are judged here. */
type BullmqJob = {
  readonly timestamp: number;
  readonly attemptsMade: number;
  readonly parentKey?: string | undefined;
  readonly parent?: { readonly id?: string; readonly queueKey: string } | undefined;
  readonly opts: { readonly priority?: number | undefined };
};

/**
 * Why the submission of a BullMQ job is refused for what is not its own: anyone who can reach Redis may have written anything there.
 * undefined: for nothing.
 */
export const deliveryProblem = (
  job: Pick<BullmqJob, 'timestamp' | 'attemptsMade' | 'parentKey' | 'parent'>,
  prefix: string,
): string | undefined => countProblem(job) ?? parentProblem(job, prefix);

/** Why the submission is refused for numbers by which it is remembered: the ledger could not read again what it wrote of it. */
function countProblem({ timestamp, attemptsMade }: Pick<BullmqJob, 'timestamp' | 'attemptsMade'>): string | undefined {
  const [wrong] = Object.entries({ timestamp, attemptsMade }).filter(([, count]) => !Number.isSafeInteger(count) || count < 0);
  if (wrong === undefined) return undefined;
  return `${wrong[0]}: is ${wrong[1]}, and must be a whole number as BullMQ writes it; put the submission on the queue with BullMQ, or leave the field out`;
}

/**
 * Why the submission is refused for the sake of its parent in a flow of BullMQ's; the scripts would not reach that parent, which would wait
 * for ever.
 */
function parentProblem({ parentKey, parent }: Pick<BullmqJob, 'parentKey' | 'parent'>, prefix: string): string | undefined {
  const named = [parentKey, parent && `${parent.queueKey}:${parent.id}`].map((key) => (key === undefined ? undefined : String(key)));
  const foreign = named.find((key) => key !== undefined && !key.startsWith(`${prefix}:`));
  if (foreign === undefined) return undefined;
  return `the parent of the submission is ${foreign.slice(0, 256)}, which is not under the prefix ${prefix}: give the parent that prefix, or the submission no parent`;
}

/** The priority of a BullMQ job; 0 for what is none. */
export const priorityOf = ({ opts: { priority = 0 } }: Pick<BullmqJob, 'opts'>): number =>
  Number.isSafeInteger(priority) && priority > 0 ? priority : 0;

/** Whether its data has `{options: {retry: true}}`, or logs. */
export function hasOption(data: unknown, what: 'retry' | 'logs'): boolean {
  const options = (data as { readonly options?: Readonly<Record<string, unknown>> } | null)?.options;
  return options?.[what] === true;
}

/** The attempt that BullMQ has ended although nobody could write that down. */
export function endedAttempt(
  parked: ParkedRecord | undefined,
  { submittedAt, attemptsMade }: Pick<DeliveredMark, 'submittedAt' | 'attemptsMade'>,
): DeliveredMark | undefined {
  if (parked?.ref.submittedAt !== submittedAt || parked.attemptsMade >= attemptsMade) return undefined;
  return { attempt: parked.attempt, submittedAt, attemptsMade: parked.attemptsMade };
}

/** A parked submission looks again by itself after hours, no two at the same time. */
const PARKED_MS = 6 * 3600 * 1000;
const PARKED_JITTER_MS = 2 * 3600 * 1000;

/** Milliseconds for which a submission is parked, spread by its key: those that were parked together do not wake together. */
export function parkedMs(key: string): number {
  let spread = 0;
  for (let index = 0; index < key.length; index++) spread = (spread * 31 + key.charCodeAt(index)) % PARKED_JITTER_MS;
  return PARKED_MS + spread;
}

/** BullMQ's code for a job that is not delayed, or is not there. */
export const NOT_DELAYED = -3;
export const NOT_THERE = -1;

/** A Job failed whose submitter wants BullMQ's attempts and back-off: an error as any other to BullMQ. */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
}

/** False where BullMQ does not have the job any more. */
export async function unlessGone(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if ((error as { readonly code?: number }).code === NOT_THERE) return false;
    throw error;
  }
}
