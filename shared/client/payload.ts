import type { Attachment } from '../api/attachment.ts';
import type { CallerSignature, SubmissionSignature } from '../api/submission-signature.ts';

/** What lies on the queue: the data of a BullMQ job. A manifest alone is taken, too. */
export type SubmissionPayload = {
  /** Of a `batch/v1` Job, or of an object of another kind that the manager takes. */
  readonly manifest: object;
  /** ConfigMaps that the manifest refers to. They are created for its Job, travel with it, and go with it. */
  readonly attachments?: readonly Attachment[];
  readonly options?: {
    /** BullMQ's `attempts` and back-off apply to a Job that fails: each attempt is a Job of its own. */
    readonly retry?: true;
    /** The ends of the logs of its pods become lines of its own log. */
    readonly logs?: true;
  };
  /**
   * W3C: the trace of which the submission is part. Without weight for what is asked: the same key with another trace is the same
   * submission.
   */
  readonly traceparent?: string;
  /** For queues that take signed submissions alone. */
  readonly signature?: SubmissionSignature;
};

export type SubmitOptions = {
  /** By which the submission is known for good: the same key again is the same submission. Default: one of chance. */
  readonly key?: string;
  /** What people and metrics call it; the name of a Job that has none begins with it. Default: the name in the manifest, or `job`. */
  readonly name?: string;
  /** ConfigMaps that the manifest refers to by these names: they travel with the Job, and go with it. */
  readonly attachments?: readonly Attachment[];
  /** Tries a failed Job again: `true` is three attempts, from ten seconds on each twice as long after the one before. */
  readonly retry?: true | { readonly attempts: number; readonly backoffMs?: number };
  /** The ends of logs that the worker cluster keeps, by default those of pods that failed, become lines of the submission's log. */
  readonly logs?: true;
  /** 1 is the most urgent; the SubmissionQueue says what it means. Default: none. */
  readonly priority?: number;
  /** How long it stays on the queue before it is looked at. */
  readonly delayMs?: number;
  /** W3C `traceparent` of the request that submits: the Job's trace goes on with it. */
  readonly traceparent?: string;
  /** Made beforehand; the client then signs nothing itself. */
  readonly signature?: SubmissionSignature | CallerSignature;
};

const ATTEMPTS = 3;
const BACKOFF_MS = 10_000;
const KEY_LENGTH_MAX = 1024;

/** What BullMQ adds to the queue. */
export function bullmqJobOf(manifest: object, key: string, options: SubmitOptions) {
  const { name = nameOf(manifest), attachments = [], priority, delayMs, retry, logs, traceparent } = options;
  const asked = { ...(retry === undefined ? {} : { retry: true as const }), ...(logs === true ? { logs } : {}) };
  const payload: SubmissionPayload = {
    manifest,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(Object.keys(asked).length === 0 ? {} : { options: asked }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  const { attempts = ATTEMPTS, backoffMs = BACKOFF_MS } = retry === true || retry === undefined ? {} : retry;
  const retries = retry === undefined ? {} : { attempts, backoff: { type: 'exponential', delay: backoffMs } };
  return {
    name,
    data: payload,
    opts: { jobId: key, ...(priority === undefined ? {} : { priority }), ...(delayMs === undefined ? {} : { delay: delayMs }), ...retries },
  };
}

function nameOf(manifest: object): string {
  const { metadata } = manifest as { readonly metadata?: { readonly name?: unknown; readonly generateName?: unknown } };
  const name = metadata?.name ?? metadata?.generateName;
  return typeof name === 'string' && name !== '' ? name.replace(/-+$/, '') : 'job';
}

/** Why BullMQ would not take the key as the id of a job, or mistake it for something of its own; undefined when it may be used. */
export function keyProblem(key: string): string | undefined {
  if (key === '' || key.length > KEY_LENGTH_MAX) return `a key has 1 to ${KEY_LENGTH_MAX} characters`;
  if (/^\d+$/.test(key)) return 'a key of digits alone is kept for ids that BullMQ counts; put a letter before it';
  const parts = key.split(':').length;
  if (parts !== 1 && parts !== 3) return 'BullMQ takes keys without a colon, or with exactly two; use a slash instead';
  if (key.startsWith('0:')) return 'what begins with 0: is BullMQ’s own; begin with something else';
  if (BULLMQ_KEYS.has(key)) return `${key} is a name of BullMQ’s own; choose another`;
  return undefined;
}

/** A job of this id would lie where BullMQ keeps the state of the queue. */
const BULLMQ_KEYS: ReadonlySet<string> = new Set(
  'active wait waiting waiting-children paused id delayed prioritized stalled-check completed failed stalled repeat limiter meta events pc marker de'.split(
    ' ',
  ),
);

/** The id of a BullMQ job by the key of a submission: the key itself, or what BullMQ counted, with the time before which it was not. */
export function idOf(key: string): { readonly id: string; readonly submittedAt?: number } {
  const [, id, time] = /^(\d+)@(\d+)$/.exec(key) ?? [];
  return id === undefined ? { id: key } : { id, submittedAt: Number(time) };
}
