import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { LivePods } from './views.ts';

/** Running pods on worker clusters, and their logs. Rights are checked before. */
export type LiveLogs = {
  /** The pods of the copy of this Job. Never rejects. */
  pods(job: DeepReadonly<Job>): Promise<Answered<LivePods>>;
  /**
   * The log of one pod, from its present end or after the last event read, until the pod ends or `signal` aborts. Events are `lines` with
   * `text`, and at last `end` with a `reason` or `problem` with a `message`. Never rejects before the first event.
   */
  log(job: DeepReadonly<Job>, pod: string, reader: LogReading): Promise<Answered<AsyncIterable<LogEvent>>>;
};

export type LogReading = {
  /** The owner to whom the limits of reading apply (shared/kube/user-identity.ts). */
  readonly owner: string;
  /** The id of the last event that the reader has received. */
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
  /** 403: the manager lacks the right there. 503: the worker cluster does not answer. */
  | { readonly kind: 'Refused'; readonly status: 403 | 503; readonly why: string };
