import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Order } from './queue-view.ts';
import { rightsKey, type Rights } from './rights.ts';

/** Why a Job waits, as somebody may be told it. Throws nothing: where too much would have to be looked at, that is told. */
export interface Explanations {
  of(job: DeepReadonly<Job>, seen: Rights): Promise<object>;
  /** Who goes first in a ClusterQueue, whoever asks. */
  orderOf(clusterQueue: string): Promise<Order>;
}

export type ExplanationsDeps = {
  /** Rejects where that does not work just now. */
  readonly explain: (job: DeepReadonly<Job>, seen: Rights) => Promise<object>;
  readonly order: (clusterQueue: string) => Promise<Order>;
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

/** One answer after another, with a rest after each that fits what it cost. */
export function createExplanations({ explain, order, openJobs, clock, log }: ExplanationsDeps): Explanations {
  const kept = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;

  const inTurn = async <T>(make: () => Promise<T>, failed: (error: unknown) => T): Promise<T> => {
    const before = last;
    const mine = Promise.withResolvers<void>();
    last = mine.promise;
    waiting++;
    await before;
    waiting--;
    const sinceMs = clock.monotonic();
    try {
      return await make();
    } catch (error) {
      return failed(error);
    } finally {
      const tookMs = clock.monotonic() - sinceMs;
      void sleep(clock, tookMs * REST_FACTOR).then(mine.resolve);
    }
  };

  /** What was answered a moment ago is told again. `refused` says why it is not even tried. */
  const answered = <T>(key: string, make: () => Promise<T>, refused: (why: string) => T): Promise<T> => {
    if (openJobs() > OPEN_JOBS_MAX) return Promise.resolve(refused(TOO_MANY_JOBS));
    const nowMs = clock.now();
    for (const [each, { atMs }] of kept) if (nowMs - atMs >= KEPT_MS) kept.delete(each);
    const known = kept.get(key);
    // Made for the same key, and so of the same kind.
    if (known !== undefined) return known.answer as Promise<T>;
    if (waiting >= WAITING_MAX) return Promise.resolve(refused(TOO_MANY_QUESTIONS));
    const answer = inTurn(make, (error) => {
      log.warn('the dashboard could not be told what it asked of all Jobs', { key, error });
      return refused(FAILED);
    });
    kept.set(key, { atMs: nowMs, answer });
    return answer;
  };

  return {
    of(job, seen) {
      const name = keyOfObject(job);
      const key = `job ${name} ${job.metadata.resourceVersion} ${rightsKey(seen)}`;
      return answered<object>(
        key,
        () => explain(job, seen),
        (message) => ({ kind: 'Unexplained', job: name, message }),
      );
    },
    orderOf: (clusterQueue) =>
      answered<Order>(
        `queue ${clusterQueue}`,
        () => order(clusterQueue),
        (problem) => ({ kind: 'NoOrder', problem }),
      ),
  };
}

const TOO_MANY_JOBS = `with more than ${OPEN_JOBS_MAX} Jobs that are not over, the manager looks at them for nobody here; the command switchyard explain does`;
const TOO_MANY_QUESTIONS = 'many others ask just now; try again';
const FAILED = 'that did not work just now; the manager’s log says why';
