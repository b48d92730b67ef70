import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import type { JobResult } from '../../shared/api/submission-outcome.ts';
import type { Outcome, Submission } from './submission-queue.ts';

/** What is known of the latest attempt of a submission, for as long as its key is remembered. */
export type LedgerEntry = {
  /** Hash of what was submitted, see ledger-hash.ts. */
  readonly payload: string;
  /** Counted from 1. */
  readonly attempt: number;
  /** When it last changed, in epoch seconds. */
  readonly atSeconds: number;
  /** Of the delivery that began the attempt; epoch milliseconds. */
  readonly submittedAt: number;
  /** Likewise: how many attempts BullMQ had seen end by then. */
  readonly attemptsMade: number;
  /** Under which name its Job is made. */
  readonly job: ObjectKey;
} & LedgerState;

/** Intended: a Job is, or will be, made. Refused: none was, because the API server does not take it. */
export type LedgerState =
  | { readonly state: 'Intended' | 'Refused' }
  | { readonly state: 'Created'; readonly uid: string }
  | { readonly state: 'Ended'; readonly uid: string; readonly outcome: Outcome };

/** A submission as it was handed out. */
export type Delivery = Pick<Submission, 'submittedAt' | 'attemptsMade' | 'delivered' | 'parked'> & { readonly payload: string };

/** What to do with a submission that was handed out. */
export type Judgment =
  /** It gets a Job: the intent is written, then the Job is made. */
  | { readonly kind: 'New'; readonly attempt: number }
  /** Its Job may have been made or not: it is made under the same name. */
  | { readonly kind: 'Again'; readonly entry: LedgerEntry }
  /** It got its Job. Where that is gone it was deleted, and is never made anew. */
  | { readonly kind: 'Created'; readonly entry: LedgerEntry & { readonly state: 'Created' } }
  | { readonly kind: 'Ended'; readonly entry: LedgerEntry & { readonly state: 'Ended' } }
  /** Its key was used for another payload. */
  | { readonly kind: 'Conflict'; readonly entry: LedgerEntry };

/**
 * One key is one payload, and one Job for each attempt. An attempt that has failed is followed by another when BullMQ hands its submission
 * out although it has taken that outcome: somebody retried it, or its own `attempts` did. What was delivered is told by its mark, and where
 * that is lost by `attemptsMade`. A submission that was put on the queue anew is told the first outcome.
 */
export function judge(entry: LedgerEntry | undefined, delivery: Delivery): Judgment {
  if (entry === undefined) return { kind: 'New', attempt: isOfSameSubmission(delivery) ? delivery.delivered.attempt + 1 : 1 };
  if (entry.state === 'Refused') return { kind: 'New', attempt: entry.attempt };
  if (entry.payload !== delivery.payload) return { kind: 'Conflict', entry };
  switch (entry.state) {
    case 'Intended':
      return { kind: 'Again', entry };
    case 'Created':
      return { kind: 'Created', entry };
    case 'Ended':
      return entry.outcome.kind === 'Failed' && isRetried(entry, delivery)
        ? { kind: 'New', attempt: entry.attempt + 1 }
        : { kind: 'Ended', entry };
  }
}

const isOfSameSubmission = (delivery: Delivery): delivery is Delivery & { readonly delivered: NonNullable<Delivery['delivered']> } =>
  delivery.delivered?.submittedAt === delivery.submittedAt;

function isRetried(entry: LedgerEntry, delivery: Delivery): boolean {
  if (isOfSameSubmission(delivery) && delivery.delivered.attempt === entry.attempt) return true;
  return entry.submittedAt === delivery.submittedAt && delivery.attemptsMade > entry.attemptsMade;
}

/**
 * What is known of a submission that was parked before the ledger was lost, or when nobody could note any more that its Job was made.
 * Undefined where the ledger knows better.
 */
export function entryOfParked(entry: LedgerEntry | undefined, delivery: Delivery, nowMs: number): LedgerEntry | undefined {
  const { parked, payload, submittedAt, attemptsMade, delivered } = delivery;
  if (parked === undefined || parked.ref.submittedAt !== submittedAt) return undefined;
  const { job, uid, attempt } = parked;
  if (entry !== undefined) return entry.payload === payload ? created(attempt, job, uid, nowMs)(entry) : undefined;
  // BullMQ has taken the outcome of that one.
  if (delivered?.submittedAt === submittedAt && delivered.attempt >= attempt) return undefined;
  return { payload, attempt, atSeconds: seconds(nowMs), submittedAt, attemptsMade, job, state: 'Created', uid };
}

/** The intent to make a Job. */
export const intendedEntry = (
  { payload, submittedAt, attemptsMade }: Delivery,
  attempt: number,
  job: ObjectKey,
  nowMs: number,
): LedgerEntry => ({ payload, attempt, atSeconds: seconds(nowMs), submittedAt, attemptsMade, job, state: 'Intended' });

/** What an entry becomes; undefined: it stays as it is, because it is of another attempt or has come further. */
export type Transition = (entry: LedgerEntry) => LedgerEntry | undefined;

export const created =
  (attempt: number, job: ObjectKey, uid: string, nowMs: number): Transition =>
  (entry) =>
    entry.attempt === attempt && (entry.state === 'Intended' || entry.state === 'Refused')
      ? { ...entry, job, atSeconds: seconds(nowMs), state: 'Created', uid }
      : undefined;

export const refused =
  (attempt: number, nowMs: number): Transition =>
  (entry) =>
    entry.attempt === attempt && entry.state === 'Intended' ? { ...entry, atSeconds: seconds(nowMs), state: 'Refused' } : undefined;

/** The first outcome stands. */
export const ended =
  ({ attempt = 1, uid }: { readonly attempt?: number; readonly uid: string }, outcome: Outcome, nowMs: number): Transition =>
  (entry) => {
    const isOfIt = entry.state === 'Created' ? entry.uid === uid : entry.state === 'Intended' && entry.attempt === attempt;
    return isOfIt ? { ...entry, atSeconds: seconds(nowMs), state: 'Ended', uid, outcome: shortened(outcome) } : undefined;
  };

/** A queue of which an administrator makes the time wrong by a day is forgotten a day early, or late. */
const seconds = (ms: number): number => Math.floor(ms / 1000);

/** So that no entry takes the room of hundreds. */
const INDEXES_LENGTH_MAX = 512;
const MESSAGE_LENGTH_MAX = 512;

function shortened(outcome: Outcome): Outcome {
  if (outcome.kind === 'Failed') {
    const { reason, message } = outcome.failure;
    return { kind: 'Failed', failure: { reason: cut(reason), message: cut(message) } };
  }
  const { completedIndexes, failedIndexes, ...result } = outcome.result;
  return { kind: 'Completed', result: { ...result, ...ifShort({ completedIndexes, failedIndexes }) } };
}

const cut = (text: string): string => (text.length <= MESSAGE_LENGTH_MAX ? text : `${text.slice(0, MESSAGE_LENGTH_MAX - 3)}...`);
const ifShort = (indexes: Readonly<Record<string, string | undefined>>): Partial<JobResult> =>
  Object.fromEntries(Object.entries(indexes).filter(([, text]) => text !== undefined && text.length <= INDEXES_LENGTH_MAX));
