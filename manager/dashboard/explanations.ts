import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { rightsKey, type Rights } from './rights.ts';

/** Why a Job waits, as somebody may be told it. Throws nothing: where too much would have to be looked at, that is told. */
export interface Explanations {
  of(job: DeepReadonly<Job>, seen: Rights): Promise<object>;
}

export type ExplanationsDeps = {
  /** Rejects where that does not work just now. */
  readonly explain: (job: DeepReadonly<Job>, seen: Rights) => Promise<object>;
  /** Of Jobs that are not over. */
  readonly openJobs: () => number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** An answer of so long ago is told again. */
const KEPT_MS = 3_000;
/** All that waits and all that has ended plays a part: with more of them others would wait for an explanation. */
const OPEN_JOBS_MAX = 20_000;
/** After one the next has to wait for as long as it took, times this: explanations have half a core at most. */
const REST_FACTOR = 1;
const WAITING_MAX = 32;

/** One explanation after another, with a rest after each that fits what it cost. */
export function createExplanations({ explain, openJobs, clock, log }: ExplanationsDeps): Explanations {
  const kept = new Map<string, { readonly atMs: number; readonly answer: Promise<object> }>();
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;

  const inTurn = async (job: DeepReadonly<Job>, seen: Rights): Promise<object> => {
    const before = last;
    const mine = Promise.withResolvers<void>();
    last = mine.promise;
    waiting++;
    await before;
    waiting--;
    const sinceMs = clock.monotonic();
    try {
      return await explain(job, seen);
    } catch (error) {
      log.warn('a Job could not be explained', { job: keyOfObject(job), error });
      return { kind: 'Unexplained', job: keyOfObject(job), message: 'that did not work just now; the manager’s log says why' };
    } finally {
      const tookMs = clock.monotonic() - sinceMs;
      void sleep(clock, tookMs * REST_FACTOR).then(mine.resolve);
    }
  };

  return {
    async of(job, seen) {
      const name = keyOfObject(job);
      if (openJobs() > OPEN_JOBS_MAX)
        return {
          kind: 'Unexplained',
          job: name,
          message: `with more than ${OPEN_JOBS_MAX} Jobs that are not over, the manager does not explain them here; the command does`,
        };
      const key = `${name}\n${job.metadata.resourceVersion}\n${rightsKey(seen)}`;
      const nowMs = clock.now();
      for (const [each, { atMs }] of kept) if (nowMs - atMs >= KEPT_MS) kept.delete(each);
      const known = kept.get(key);
      if (known !== undefined) return known.answer;
      if (waiting >= WAITING_MAX) return { kind: 'Unexplained', job: name, message: 'many others want an explanation just now; try again' };
      const answer = inTurn(job, seen);
      kept.set(key, { atMs: nowMs, answer });
      return answer;
    },
  };
}
