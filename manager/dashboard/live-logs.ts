import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { LivePods } from './views.ts';

/** Pods that run on worker clusters, and their logs. Whoever asks has been judged before. */
export type LiveLogs = {
  /** Those of the copy of this Job. Never rejects. */
  pods(job: DeepReadonly<Job>): Promise<Answered<LivePods>>;
  /**
   * The log of one of them from its end on, or from what was read before, until the pod ends or `signal` aborts: events `lines` with `text`, and at last `end` with a `reason` or
   * `problem` with a `message`. Never rejects before it begins.
   */
  log(job: DeepReadonly<Job>, pod: string, reader: LogReading): Promise<Answered<AsyncIterable<LogEvent>>>;
};

export type LogReading = {
  /** Whose reading limits count (shared/kube/user-identity.ts). */
  readonly owner: string;
  /** The id of the last event that he has seen. */
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
};

export type LogEvent = { readonly id: string } & (
  | { readonly event: 'lines'; readonly data: { readonly text: string } }
  | { readonly event: 'end'; readonly data: { readonly reason: string } }
  | { readonly event: 'problem'; readonly data: { readonly message: string } }
);

export type Answered<T> =
  | { readonly kind: 'Found'; readonly value: T }
  | { readonly kind: 'Missing'; readonly what: string }
  /** 403: the manager has not the right there. 503: it does not answer. */
  | { readonly kind: 'Refused'; readonly status: 403 | 503; readonly why: string };
