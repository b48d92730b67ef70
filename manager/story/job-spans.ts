import { isSampled, jobTrace, spanIdOf } from '../../shared/api/job-trace.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL, SUBMITTED_AT_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { findCondition, finishedCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Span } from '../../shared/runtime/span.ts';
import { SwitchyardCondition } from '../api/reasons.ts';
import { isAdmitted, type SeenJob } from './story-events.ts';

/**
 * Times on the wire have whole seconds; an observer knows more precise ones. `ended` takes an event that is observed now, `began` returns
 * an earlier one; both return the time on the wire where no better one is known.
 */
export type Instants = {
  readonly ended: (what: string, wireMs: number) => number;
  readonly began: (what: string, wireMs: number) => number;
};

/**
 * The spans of a Job that ended between two of its states, oldest first. Ids are derived from the Job, so that any replica may export them,
 * once or again.
 */
export function jobSpans(before: SeenJob, after: SeenJob, ratio: number, instants: Instants): readonly Span[] {
  const { kind, job } = after;
  if (kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME || !isSampled(job, ratio)) return [];
  const begin = beginner(after);
  return [
    ...untilAdmitted(before, after, begin, instants),
    ...untilDispatched(before, after, begin, instants),
    ...untilStarted(before, after, begin, instants),
    ...untilEnded(before, after, begin, instants),
  ];
}

/** The span of a Job that is deleted before its end. */
export function deletedSpans(seen: SeenJob, ratio: number, instants: Instants, nowMs: number): readonly Span[] {
  const { kind, job } = seen;
  if (kind.controllerOf(job) !== MANAGER_CONTROLLER_NAME || !isSampled(job, ratio)) return [];
  if (finishedCondition(job.status) !== undefined) return [];
  const begin = beginner(seen);
  return [begin('job', 'job', submittedMs(seen, instants), nowMs, { error: 'deleted before it had ended' })];
}

type More = { readonly error?: string; readonly attributes?: Span['attributes'] };
type Begin = (name: string, part: string, startMs: number, endMs: number, more?: More) => Span;

function beginner(seen: SeenJob): Begin {
  const { metadata } = seen.job;
  const { traceId, spanId, parentSpanId } = jobTrace(seen.job);
  const attributes = attributesOf(seen);
  return (name, part, startMs, endMs, more = {}) => ({
    traceId,
    ...(part === 'job'
      ? { spanId, ...omitUndefined({ parentSpanId }) }
      : { spanId: spanIdOf(traceId, metadata.uid, part), parentSpanId: spanId }),
    name,
    startMs: Math.min(startMs, endMs),
    endMs,
    attributes: { ...attributes, ...more.attributes },
    ...omitUndefined({ error: more.error }),
  });
}

/** Attributes by OpenTelemetry's conventions, where these exist. */
const attributesOf = ({ job: { metadata }, record }: SeenJob): Span['attributes'] => ({
  'k8s.namespace.name': metadata.namespace ?? '',
  'k8s.job.name': metadata.name,
  'k8s.job.uid': metadata.uid,
  ...omitUndefined({ 'switchyard.local_queue': metadata.labels?.[QUEUE_NAME_LABEL] }),
  ...(record && {
    'switchyard.cluster_queue': record.clusterQueue,
    'switchyard.cluster': record.cluster,
    'switchyard.epoch': record.epoch,
  }),
});

const createdMs = ({ job }: SeenJob, { began }: Instants): number => began('created', parseWireTime(job.metadata.creationTimestamp) ?? 0);

/** A time of submission earlier than this before the creation is not believed. */
const SUBMITTED_BEFORE_MAX_MS = 7 * 24 * 3_600_000;

/** The time of the submission, or of the creation where there was none. The annotation is believed as far as it is plausible. */
function submittedMs(seen: SeenJob, instants: Instants): number {
  const madeMs = createdMs(seen, instants);
  const text = seen.job.metadata.annotations?.[SUBMITTED_AT_ANNOTATION];
  const saidMs = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return saidMs <= madeMs && saidMs >= madeMs - SUBMITTED_BEFORE_MAX_MS ? saidMs : madeMs;
}

/** Submit: until the creation of the Job. Queued: until each admission. */
function untilAdmitted(before: SeenJob, after: SeenJob, begin: Begin, instants: Instants): readonly Span[] {
  const { record } = after;
  if (record === undefined || !isAdmitted(after) || (isAdmitted(before) && before.record?.since === record.since)) return [];
  const admittedMs = instants.ended(`admitted/${record.since}`, parseWireTime(record.since) ?? 0);
  const evicted = before.record === undefined ? undefined : conditionMs(before, SwitchyardCondition.QuotaReserved, 'False');
  const startMs = evicted === undefined ? createdMs(after, instants) : instants.began(`evicted/${evicted}`, evicted);
  const queued = begin('queued', `queued/${record.since}`, startMs, admittedMs);
  if (before.record !== undefined) return [queued];
  return [begin('submit', 'submit', submittedMs(after, instants), createdMs(after, instants)), queued];
}

/** The placement that a condition names, which distinguishes it from the next. */
const placementOf = ({ job }: SeenJob, type: SwitchyardCondition): string | undefined => {
  const condition = findCondition(job.status?.conditions, type);
  return condition?.status === 'True' ? (condition.message?.split('; ')[0] ?? '') : undefined;
};

const hasChanged = (before: SeenJob, after: SeenJob, type: SwitchyardCondition): boolean => {
  const placement = placementOf(after, type);
  return placement !== undefined && placement !== placementOf(before, type);
};

function conditionMs({ job }: SeenJob, type: SwitchyardCondition, status: 'True' | 'False' = 'True'): number | undefined {
  const condition = findCondition(job.status?.conditions, type);
  return condition?.status === status ? parseWireTime(condition.lastTransitionTime) : undefined;
}

/** Admitted: until the copy exists. */
function untilDispatched(before: SeenJob, after: SeenJob, begin: Begin, instants: Instants): readonly Span[] {
  const { Dispatched } = SwitchyardCondition;
  const { record } = after;
  const atMs = conditionMs(after, Dispatched);
  if (record === undefined || atMs === undefined || !hasChanged(before, after, Dispatched)) return [];
  const startMs = instants.began(`admitted/${record.since}`, parseWireTime(record.since) ?? atMs);
  const endMs = instants.ended(`dispatched/${record.since}`, atMs);
  return [begin('admitted', `admitted/${record.since}`, startMs, endMs)];
}

/** Dispatched: until a pod is ready, or has ended. */
function untilStarted(before: SeenJob, after: SeenJob, begin: Begin, instants: Instants): readonly Span[] {
  const { Dispatched, Started } = SwitchyardCondition;
  const { record } = after;
  const atMs = conditionMs(after, Started);
  if (record === undefined || atMs === undefined || !hasChanged(before, after, Started)) return [];
  const dispatchedMs = instants.began(`dispatched/${record.since}`, conditionMs(after, Dispatched) ?? atMs);
  const endMs = instants.ended(`started/${record.since}`, atMs);
  return [begin('dispatched', `dispatched/${record.since}`, dispatchedMs, endMs)];
}

/** Pods: until the last pod has ended, or the Job is evicted. Home: until the end is known at home. Job: all of it. */
function untilEnded(before: SeenJob, after: SeenJob, begin: Begin, instants: Instants): readonly Span[] {
  const { kind, job } = after;
  const end = finishedCondition(job.status);
  if (end === undefined) return evictedSpans(before, after, begin, instants);
  if (finishedCondition(before.job.status) !== undefined) return [];
  // The clock is that of the worker cluster, and may be wrong.
  const { completionTime, succeeded, failed } = kind.progress(job);
  const thereMs = parseWireTime(completionTime ?? end.lastTransitionTime) ?? 0;
  const homeMs = instants.ended('home', thereMs);
  const error = end.type === 'Failed' ? `${end.reason ?? 'Failed'}: ${end.message ?? ''}` : undefined;
  const pods = { 'switchyard.pods.succeeded': succeeded, 'switchyard.pods.failed': failed };
  const more = { attributes: pods, ...omitUndefined({ error }) };
  const whole = begin('job', 'job', submittedMs(after, instants), homeMs, more);
  const { record } = after;
  const startedMs = conditionMs(after, SwitchyardCondition.Started) ?? conditionMs(before, SwitchyardCondition.Started);
  if (record === undefined || startedMs === undefined) return [whole];
  const beganMs = instants.began(`started/${record.since}`, startedMs);
  const endedMs = Math.max(beganMs, Math.min(thereMs, homeMs));
  return [begin('pods', `pods/${record.since}`, beganMs, endedMs, more), begin('home', 'home', endedMs, Math.max(endedMs, homeMs)), whole];
}

function evictedSpans(before: SeenJob, after: SeenJob, begin: Begin, instants: Instants): readonly Span[] {
  const { record } = before;
  const atMs = conditionMs(after, SwitchyardCondition.QuotaReserved, 'False');
  if (record === undefined || record.evicted === true || after.record?.evicted !== true || atMs === undefined) return [];
  const evictedMs = instants.ended(`evicted/${atMs}`, atMs);
  const startedMs = conditionMs(before, SwitchyardCondition.Started);
  if (startedMs === undefined) return [];
  const why = findCondition(after.job.status?.conditions, SwitchyardCondition.QuotaReserved);
  return [
    begin('pods', `pods/${record.since}`, instants.began(`started/${record.since}`, startedMs), evictedMs, {
      error: `${why?.reason ?? 'Evicted'}: ${why?.message ?? ''}`,
    }),
  ];
}
