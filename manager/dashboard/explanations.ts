import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import { rightsKey, type Rights } from './rights.ts';

/** Why a Job waits, as somebody may be told it. Throws nothing: where too much would have to be looked at, that is told. */
export interface Explanations {
  of(job: DeepReadonly<Job>, seen: Rights): Promise<object>;
}

export type ExplanationsDeps = {
  readonly explain: (job: DeepReadonly<Job>, seen: Rights) => object;
  /** Of Jobs that are not over. */
  readonly openJobs: () => number;
  readonly clock: Clock;
};

/** An answer of so long ago is told again. */
const KEPT_MS = 3_000;
/** All that waits and all that has ended plays a part: with more of them others would wait for an explanation. */
const OPEN_JOBS_MAX = 20_000;
/** What has been asked for is as long not asked for again as it took, times this: explanations have a tenth of a core at most. */
const REST_FACTOR = 9;
const WAITING_MAX = 32;

/** One explanation after another, with a rest after each that fits what it cost. */
export function createExplanations({ explain, openJobs, clock }: ExplanationsDeps): Explanations {
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
      return explain(job, seen);
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
