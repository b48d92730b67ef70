import { createHash } from 'node:crypto';
import { TRACE_ID_ANNOTATION, TRACEPARENT_ANNOTATION } from './names.ts';
import { parseTraceparent, type TraceContext } from './trace-context.ts';

/** The trace of one Job. Everything in it follows from the Job itself: whoever looks at the Job, and whenever, comes to the same. */
export type JobTrace = {
  readonly traceId: string;
  /** The span of the Job, in which all others lie. */
  readonly spanId: string;
  /** That of whoever submitted it. */
  readonly parentSpanId?: string;
};

type Traced = {
  readonly metadata: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> | undefined };
};

/** The trace that its submitter has begun, where the annotation names one; otherwise one of its own, by its UID. */
export function jobTrace({ metadata: { uid, annotations } }: Traced): JobTrace {
  const given = parseTraceparent(annotations?.[TRACEPARENT_ANNOTATION]);
  const traceId = given?.traceId ?? digits(32, 'trace', uid);
  return { traceId, spanId: spanIdOf(traceId, uid, 'job'), ...(given && { parentSpanId: given.spanId }) };
}

/**
 * The id of a part of a Job's way. Trace and UID are in it: whoever names another's trace in his annotation adds spans to it, and never
 * takes the place of one.
 */
export const spanIdOf = (traceId: string, uid: string, part: string): string => digits(16, 'span', traceId, uid, part);

/**
 * Whether the spans of a Job are recorded: as whoever began its trace says, and otherwise so many of all, told by the trace's id, so that
 * each program that is given the same ratio decides alike.
 */
export function isSampled(job: Traced, ratio: number): boolean {
  const given = parseTraceparent(job.metadata.annotations?.[TRACEPARENT_ANNOTATION]);
  if (given !== undefined) return given.sampled;
  return Number.parseInt(jobTrace(job).traceId.slice(-RATIO_DIGITS), 16) < ratio * 16 ** RATIO_DIGITS;
}

/**
 * What the pods of a Job are told: their spans lie in that of the Job. Without a `ratio` no span of the Job is made, and what its submitter
 * said goes on to them as it is.
 */
export function contextForPods(job: Traced, ratio: number | undefined): TraceContext | undefined {
  if (ratio === undefined) return parseTraceparent(job.metadata.annotations?.[TRACEPARENT_ANNOTATION]);
  const { traceId, spanId } = jobTrace(job);
  return { traceId, spanId, sampled: isSampled(job, ratio) };
}

/** The trace of a Job that the manager exports, as it has said when it admitted the Job; undefined where it exports none. */
export function exportedTraceId({ metadata: { annotations } }: Traced): string | undefined {
  const said = annotations?.[TRACE_ID_ANNOTATION];
  return said !== undefined && /^[0-9a-f]{32}$/.test(said) ? said : undefined;
}

/** 52 bits, which a number holds exactly. */
const RATIO_DIGITS = 13;

/** Never all zero, by any chance that matters. */
const digits = (count: number, ...of: readonly string[]): string =>
  createHash('sha256')
    .update(['switchyard.dev', ...of].join('\n'))
    .digest('hex')
    .slice(0, count);
