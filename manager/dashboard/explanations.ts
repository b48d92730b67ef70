import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { digestOf } from '../../shared/kube/user-identity.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import type { ObjectEdit } from '../insight/questions/simulation-queries.ts';
import { workKey } from '../work-kind/qualified-name.ts';
import { createFairScheduler } from './fair-scheduler.ts';
import type { Order } from './queue-view.ts';
import { rightsKey, type Rights } from './rights.ts';
import type { WhatIfView } from './views.ts';

/**
 * Why a Job waits, redacted for a viewer. Never throws: where too many Jobs are open, the answer says so. `owner`: the user whose turn the
 * work takes.
 */
export interface Explanations {
  of(job: DeepReadonly<Job>, seen: Rights, owner: string): Promise<object>;
  /** The order of a ClusterQueue, the same for all viewers. */
  orderOf(clusterQueue: string, owner: string): Promise<Order>;
  /** The effects of changes on Jobs, redacted for a viewer. */
  whatIf(question: WhatIfQuestion, seen: Rights, owner: string): Promise<WhatIfAnswer>;
}

export type WhatIfQuestion = {
  readonly edits: readonly ObjectEdit[];
  /** Jobs that do not exist. */
  readonly submitted: readonly DeepReadonly<Job>[];
  /** The ClusterQueue in question; the answer has the commands that edit it. */
  readonly queue?: DeepReadonly<ClusterQueue>;
};

export type WhatIfAnswer =
  | { readonly kind: 'WhatIf'; readonly view: WhatIfView }
  /** A change cannot be made. */
  | { readonly kind: 'Refused'; readonly problem: string }
  /** The question cannot be answered now. */
  | { readonly kind: 'NoWhatIf'; readonly problem: string };

export type ExplanationsDeps = {
  /** Rejects when the simulation fails. */
  readonly explain: (job: DeepReadonly<Job>, seen: Rights) => Promise<object>;
  readonly order: (clusterQueue: string) => Promise<Order>;
  readonly whatIf: (question: WhatIfQuestion, seen: Rights) => Promise<WhatIfAnswer>;
  /** The number of unfinished Jobs. */
  readonly openJobs: () => number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** An answer this recent is reused. */
const CACHE_TTL_MS = 3_000;
/**
 * All open Jobs are simulated. With 20,000 an answer takes 200 MiB for half a minute, with 100,000 it would take 700 MiB: more than a
 * manager has beside its caches.
 */
const OPEN_JOBS_MAX = 20_000;
/** Questions of one owner. */
const WAITING_MAX = 16;

type Question = { readonly answer: Promise<unknown>; answeredMs: number | undefined };

export function createExplanations({ explain, order, whatIf, openJobs, clock, log }: ExplanationsDeps): Explanations {
  const kept = new Map<string, Question>();
  const turns = createFairScheduler({ clock, waitingMax: WAITING_MAX });

  /** Reuses recent and running answers. `refused` makes the answer to a question that is not even tried. */
  const answered = <T>(key: string, owner: string, make: () => Promise<T>, refused: (why: string) => T): Promise<T> => {
    if (openJobs() > OPEN_JOBS_MAX) return Promise.resolve(refused(TOO_MANY_JOBS));
    const nowMs = clock.now();
    for (const [each, { answeredMs = nowMs }] of kept) if (nowMs - answeredMs >= CACHE_TTL_MS) kept.delete(each);
    const known = kept.get(key);
    // The answer belongs to the same key, and so has the same type.
    if (known !== undefined) return known.answer as Promise<T>;
    const answer = turns.take(owner, async () => {
      try {
        return await make();
      } catch (error) {
        log.warn('the dashboard could not be told what it asked of all Jobs', { key, error });
        return refused(FAILED);
      } finally {
        question.answeredMs = clock.now();
      }
    });
    if (answer === undefined) return Promise.resolve(refused(TOO_MANY_QUESTIONS));
    const question: Question = { answer, answeredMs: undefined };
    kept.set(key, question);
    return answer;
  };

  return {
    of(job, seen, owner) {
      const name = keyOfObject(job);
      return answered<object>(
        `job ${name} ${job.metadata.resourceVersion} ${rightsKey(seen)}`,
        owner,
        () => explain(job, seen),
        (message) => ({ kind: 'Unexplained', job: workKey(job.metadata), message }),
      );
    },
    orderOf: (clusterQueue, owner) =>
      answered<Order>(
        `queue ${clusterQueue}`,
        owner,
        () => order(clusterQueue),
        (problem) => ({ kind: 'NoOrder', problem }),
      ),
    whatIf(question, seen, owner) {
      const { queue, edits, submitted } = question;
      const asked = digestOf([queue?.metadata.name, queue?.metadata.resourceVersion, edits, submitted]);
      return answered<WhatIfAnswer>(
        `what if ${asked} ${rightsKey(seen)}`,
        owner,
        () => whatIf(question, seen),
        (problem) => ({ kind: 'NoWhatIf', problem }),
      );
    },
  };
}

const TOO_MANY_JOBS = `with more than ${OPEN_JOBS_MAX} Jobs that are not over, the manager does not go through them here: the commands switchyard explain and switchyard what-if do, on your machine`;
const TOO_MANY_QUESTIONS = 'too much is asked at once; try again';
const FAILED = 'that did not work just now; the manager’s log says why';
