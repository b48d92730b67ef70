/** The views of submission queues that the page receives, as those of views.ts. */
import type { ConditionView, Health } from './views.ts';

/** One SubmissionQueue. */
export type SubmissionView = {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly health: Health;
  readonly problem?: string;
  /** Absent where its leader has not reported it. */
  readonly backlog?: number;
  readonly parked?: number;
  readonly accepted?: number;
  readonly refused?: number;
  readonly account?: string;
  readonly weight: number;
  readonly conditions: readonly ConditionView[];
};

/** The shared queue, which the flags of the manager describe. */
export type SharedQueueView = {
  readonly health: Health;
  /** BullMQ's name of the queue, and its prefix. They and the figures are absent where no leader has reported the queue. */
  readonly queue?: string;
  readonly prefix?: string;
  readonly backlog?: number;
  /** When the oldest submission of the backlog was put on the queue. */
  readonly oldestMs?: number;
  readonly parked?: number;
  readonly accepted?: number;
  readonly refused?: number;
  /** The last problem of Redis; without an end while it lasts. */
  readonly redis?: { readonly reason: string; readonly message: string; readonly sinceMs: number; readonly untilMs?: number };
  /** The submissions that were refused last, the latest first, for namespaces that the viewer may see. */
  readonly refusals: readonly {
    readonly id: string;
    readonly atMs: number;
    readonly namespace?: string;
    readonly name?: string;
    readonly reason: string;
    readonly message: string;
  }[];
  /** The number of others among the last ones. */
  readonly hidden: number;
};

/** `shared`: absent where there is no shared queue, or the viewer may not see it. */
export type SubmissionsView = { readonly queues: readonly SubmissionView[]; readonly shared?: SharedQueueView };
