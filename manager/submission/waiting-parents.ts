import { Queue } from 'bullmq';
import { submissionKey } from '../../shared/api/submission-key.ts';
import type { SubmissionMarks } from './submission-marks.ts';
import type { Outcome, ParkedSubmission } from './submission-queue.ts';
import type { RedisConnection } from './redis-connection.ts';

export type WaitingParents = {
  readonly redis: RedisConnection;
  readonly prefix: string;
  /** Of the queue of submissions. */
  readonly name: string;
  readonly marks: SubmissionMarks;
  readonly onError: (error: Error) => void;
};

const PAGE = 500;

/**
 * Takes over what the version before parked: as parents of gates, which were delayed jobs of a queue that nobody consumed. Their Jobs are
 * written down and the gates removed, which wakes those that waited for them. BullMQ divides the ids of parents at colons, so that some were
 * woken under a wrong name: parents that wait for nobody are woken here, whoever made them. Does little where there are none.
 */
export async function takeOverWaitingParents({ redis, prefix, name, marks, onError }: WaitingParents): Promise<void> {
  if ((await redis.exists(`${prefix}:${name}-gates:meta`)) === 1) {
    const gates = new Queue(`${name}-gates`, { connection: redis, prefix, skipMetasUpdate: true });
    gates.on('error', onError);
    try {
      await openGates(gates, { redis, name, marks });
    } finally {
      await gates.close();
    }
  }
  await wakeIdleParents(redis, `${prefix}:${name}`);
}

async function openGates(gates: Queue, { redis, name, marks }: Pick<WaitingParents, 'redis' | 'name' | 'marks'>): Promise<void> {
  for (;;) {
    const page = await gates.getDelayed(0, PAGE - 1);
    for (const gate of page) {
      const parked = parkedIn(gate.data);
      if (parked !== undefined) {
        const { id, submittedAt } = parked.ref;
        const key = submissionKey(parked.ref);
        await marks.parkUnlessParked({ ...parked, ref: { key, id, submittedAt }, attempt: 1 });
        const outcome = await redis.get(`switchyard:outcome:${name}:${submittedAt}:${id}`);
        if (outcome !== null) await marks.settle(key, parked.uid, JSON.parse(outcome) as Outcome);
      }
      await gate.remove();
    }
    if (page.length < PAGE) break;
  }
  // Not while a replica of the version before still parks.
  if ((await gates.getDelayedCount()) === 0) await gates.obliterate({ force: true });
}

function parkedIn(data: unknown): ParkedSubmission | undefined {
  const parked = data as Partial<ParkedSubmission> | undefined;
  return parked?.ref === undefined || parked.job === undefined || parked.uid === undefined
    ? undefined
    : { ref: parked.ref, job: parked.job, uid: parked.uid };
}

/** BullMQ has no call for it. As its own script would, and only when nobody else has: a parent is in one place at a time. */
const WAKE_IDLE_PARENT = `
if redis.call('SCARD', KEYS[1]) == 0 and redis.call('ZREM', KEYS[2], ARGV[1]) == 1 then
  redis.call('RPUSH', KEYS[3], ARGV[1])
  redis.call('ZADD', KEYS[4], 0, '0')
end`;

async function wakeIdleParents(redis: RedisConnection, queue: string): Promise<void> {
  const waitingChildren = `${queue}:waiting-children`;
  let cursor = '0';
  do {
    const [next, entries] = await redis.zscan(waitingChildren, cursor, 'COUNT', PAGE);
    for (const [index, id] of entries.entries()) {
      if (index % 2 === 1) continue;
      await redis.eval(WAKE_IDLE_PARENT, 4, `${queue}:${id}:dependencies`, waitingChildren, `${queue}:wait`, `${queue}:marker`, id);
    }
    cursor = next;
  } while (cursor !== '0');
}
