import { isJsonObject } from '../api/json-value.ts';
import { isParked } from './parked-record.ts';
import type { DeliveredMark, Outcome, ParkedSubmission } from './submission-queue.ts';
import type { RedisConnection } from './redis-connection.ts';

/** A parked submission, as it was handed out. */
export type ParkedRecord = ParkedSubmission & { readonly attemptsMade: number };

/** What is known of a submission before it is handed out. */
export type Marks = {
  readonly parked: ParkedRecord | undefined;
  /** How the Job ended for which it is parked. */
  readonly outcome: Outcome | undefined;
  readonly delivered: DeliveredMark | undefined;
  /** When the submission was put on the queue that somebody has cancelled. */
  readonly cancelledOf: number | undefined;
  /** What stood beside the request to cancel it, as its sender wrote it. */
  readonly cancelSignature: unknown;
};

/**
 * What the manager keeps of submissions in Redis, beside BullMQ: which are parked for which Job, how those Jobs ended, and which outcomes
 * BullMQ has taken. All under a prefix of the manager's, where no tenant may write. An outcome belongs to the Job of a UID, so that it is
 * not taken for that of another attempt, or of a later submission under the same key.
 */
export interface SubmissionMarks {
  look(key: string): Promise<Marks>;
  outcomeOf(uid: string): Promise<Outcome | undefined>;
  parkedFor(key: string): Promise<ParkedRecord | undefined>;
  /** Before it is parked: whoever writes the outcome afterwards finds it. */
  park(parked: ParkedRecord): Promise<void>;
  /** Keeps the first outcome there is; the Job for which the submission is parked now. */
  settle(key: string, uid: string, outcome: Outcome): Promise<ParkedRecord | undefined>;
  /** Somebody wants the submission of this key and time to end; `signature` says who, and is kept where there is one. */
  cancel(key: string, submittedAt: number, signature: unknown): Promise<void>;
  /** BullMQ has taken the outcome of an attempt, or the refusal of a submission that became no Job. */
  deliver(key: string, mark: DeliveredMark | undefined, parked: ParkedRecord | undefined): Promise<void>;
  /** What was told of the Job's progress last, as text. */
  toldOf(key: string): Promise<string | undefined>;
  tell(key: string, progress: string): Promise<void>;
  /** True for the first who asks. */
  isFirst(what: string): Promise<boolean>;
  /** It waits for nothing any more, unless it has been parked anew. */
  forget(parked: ParkedRecord): Promise<void>;
  /** All that are parked, some at a time; one may come twice. */
  parked(): AsyncIterable<readonly ParkedRecord[]>;
}

/** At least as long as a submitter may still come to ask. */
const KEPT_SECONDS = 7 * 24 * 3600;
const PAGE = 1000;
const FORGET = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
end`;

/** Those of one queue of one tenant: one that is moved to another queue has not removed what it left on the first. */
export function createSubmissionMarks(redis: RedisConnection, tenant: string, queue: string): SubmissionMarks {
  // In braces, so that a Redis cluster keeps them together.
  const prefix = `switchyard:{${tenant}}:`;
  const parkedKey = `${prefix}${queue}:parked`;
  const toldKey = `${prefix}${queue}:told`;
  const outcomeKey = (uid: string): string => `${prefix}outcome:${uid}`;
  const deliveredKey = (key: string): string => `${prefix}${queue}:delivered:${key}`;
  const cancelledKey = (key: string): string => `${prefix}${queue}:cancelled:${key}`;
  const cancelSignatureKey = (key: string): string => `${prefix}${queue}:cancel-signature:${key}`;
  const outcomeOf = async (uid: string): Promise<Outcome | undefined> => parsed(await redis.get(outcomeKey(uid)));
  const forget = async (parked: ParkedRecord): Promise<void> => {
    await redis.eval(FORGET, 2, parkedKey, toldKey, parked.ref.key, JSON.stringify(parked));
  };
  return {
    async look(key) {
      const [parkedText, [deliveredText = null, cancelledText = null, signatureText = null]] = await Promise.all([
        redis.hget(parkedKey, key),
        redis.mget(deliveredKey(key), cancelledKey(key), cancelSignatureKey(key)),
      ]);
      const parked = parkedIn(parkedText);
      const outcome = parked && (await outcomeOf(parked.uid));
      const cancelled = { cancelledOf: parsed<number>(cancelledText), cancelSignature: parsed<unknown>(signatureText) };
      return { parked, outcome, delivered: parsed(deliveredText), ...cancelled };
    },
    outcomeOf,
    parkedFor: async (key) => parkedIn(await redis.hget(parkedKey, key)),
    async park(parked) {
      await redis.hset(parkedKey, parked.ref.key, JSON.stringify(parked));
    },
    async settle(key, uid, outcome) {
      // In this order on one connection: who parks writes first what we read last.
      const kept = redis.set(outcomeKey(uid), JSON.stringify(outcome), 'EX', KEPT_SECONDS, 'NX');
      const [, text] = await Promise.all([kept, redis.hget(parkedKey, key)]);
      return parkedIn(text);
    },
    async cancel(key, submittedAt, signature) {
      // Before the mark that acts: whoever finds that one finds who it was.
      if (signature !== undefined) await redis.set(cancelSignatureKey(key), JSON.stringify(signature), 'EX', KEPT_SECONDS);
      await redis.set(cancelledKey(key), String(submittedAt), 'EX', KEPT_SECONDS);
    },
    async deliver(key, mark, parked) {
      await Promise.all([
        mark && redis.set(deliveredKey(key), JSON.stringify(mark), 'EX', KEPT_SECONDS),
        parked && forget(parked),
        redis.del(cancelledKey(key), cancelSignatureKey(key)),
      ]);
    },
    toldOf: async (key) => (await redis.hget(toldKey, key)) ?? undefined,
    async tell(key, progress) {
      await redis.hset(toldKey, key, progress);
    },
    isFirst: async (what) => (await redis.set(`${prefix}${queue}:once:${what}`, '1', 'EX', KEPT_SECONDS, 'NX')) === 'OK',
    forget,
    async *parked() {
      let cursor = '0';
      do {
        const [next, entries] = await redis.hscan(parkedKey, cursor, 'COUNT', PAGE);
        yield entries.flatMap((text, index) => (index % 2 === 1 ? (parkedIn(text) ?? []) : []));
        cursor = next;
      } while (cursor !== '0');
    },
  };
}

/** Written by this file only. */
const parsed = <T>(text: string | null): T | undefined => (text === null ? undefined : (JSON.parse(text) as T));

/** Undefined for a record of another shape, which only somebody with the manager's rights in Redis may have written. */
function parkedIn(text: string | null): ParkedRecord | undefined {
  if (text === null) return undefined;
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    // Text that is no JSON names nothing.
    return undefined;
  }
  const isOurs = isJsonObject(record) && isParked(record) && Number.isSafeInteger(record['attemptsMade']);
  return isOurs ? (record as unknown as ParkedRecord) : undefined;
}
