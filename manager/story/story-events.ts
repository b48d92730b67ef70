import type { DeepReadonly, JobCondition, WorkObject } from '../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { findCondition, finishedCondition } from '../../shared/kube/conditions.ts';
import { submitterOf } from '../api/creator.ts';
import { actInWords, actsOn } from '../api/job-acts.ts';
import { readLastFailure, failedPodMessage, failureMessage, type LastFailure } from '../api/last-failure.ts';
import { JobEventReason, SwitchyardCondition } from '../api/reasons.ts';
import type { AdmissionRecord } from '../api/records.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** One Event in the life of a Job, as shown by `kubectl describe job`. */
export type StoryEvent = { readonly type: 'Normal' | 'Warning'; readonly reason: JobEventReason; readonly message: string };

/** An observed Job with the record of admission, if it has one. */
export type SeenJob = { readonly kind: WorkKind; readonly job: DeepReadonly<WorkObject>; readonly record: AdmissionRecord | undefined };

/**
 * The Events between two states of a Job, oldest first. An eviction is not among them: its controller writes an Event of its own, which
 * must not be dropped.
 */
export function storyEvents(before: SeenJob, after: SeenJob): readonly StoryEvent[] {
  return [
    queued(before, after),
    admitted(before, after),
    ...dispatchedAndStarted(before, after),
    podsFailed(before, after),
    actedOn(before, after),
    finished(before, after),
  ].filter((event) => event !== undefined);
}

/** The Event of a new Job that was submitted over HTTP; undefined for other Jobs. */
export function submittedEvent(job: DeepReadonly<WorkObject>): StoryEvent | undefined {
  const user = submitterOf(job);
  return user === undefined ? undefined : normal(JobEventReason.Submitted, `submitted over HTTP by ${user}`);
}

const normal = (reason: JobEventReason, message: string): StoryEvent => ({ type: 'Normal', reason, message });

const conditionOf = ({ job }: SeenJob, type: string): DeepReadonly<JobCondition> | undefined => findCondition(job.status?.conditions, type);

/** A Job that is admitted within a moment has no such Event. */
function queued(before: SeenJob, after: SeenJob): StoryEvent | undefined {
  const { QuotaReserved } = SwitchyardCondition;
  const told = conditionOf(after, QuotaReserved);
  if (told?.status !== 'False' || conditionOf(before, QuotaReserved)?.status === 'False') return undefined;
  return normal(JobEventReason.Queued, after.record === undefined ? 'waits to be admitted' : 'waits to be admitted again');
}

/**
 * Of several acts at one moment the latest is reported. A bypass of the policies has an Event of its own, which must not be dropped
 * (override-alarm.ts).
 */
function actedOn(before: SeenJob, after: SeenJob): StoryEvent | undefined {
  const last = actsOn(after.job).at(-1);
  if (
    last === undefined ||
    last.what === 'Override' ||
    before.job.metadata.annotations?.[ACTS_ANNOTATION] === after.job.metadata.annotations?.[ACTS_ANNOTATION]
  )
    return undefined;
  return normal(JobEventReason.ActedOn, actInWords(last));
}

export const isAdmitted = ({ kind, job, record }: SeenJob): boolean =>
  record !== undefined && record.evicted !== true && !kind.isSuspended(job);

function admitted(before: SeenJob, after: SeenJob): StoryEvent | undefined {
  const { record } = after;
  if (record === undefined || !isAdmitted(after) || (isAdmitted(before) && before.record?.since === record.since)) return undefined;
  const previous = before.record;
  const flavors = Object.entries(record.flavors).map(([resource, flavor]) => `${resource} from ${flavor}`);
  const terms = [`ClusterQueue "${record.clusterQueue}"`, ...flavors].join(', ');
  if (previous !== undefined && previous.cluster !== record.cluster) {
    const why = record.avoid?.[previous.cluster]?.reason;
    const because = why === undefined ? '' : `: ${why}`;
    return normal(
      JobEventReason.Moved,
      `from cluster "${previous.cluster}" to "${record.cluster}" (${terms}, placement ${record.epoch})${because}`,
    );
  }
  return normal(JobEventReason.Admitted, `to cluster "${record.cluster}" by ${terms}${waited(before, record)}`);
}

/** The time since the creation or the last suspension. */
function waited(before: SeenJob, record: AdmissionRecord): string {
  const told = conditionOf(before, SwitchyardCondition.QuotaReserved);
  const sinceEviction = before.record !== undefined && told?.status === 'False' ? told.lastTransitionTime : undefined;
  const waitedMs = span(sinceEviction ?? before.job.metadata.creationTimestamp, record.since);
  return waitedMs === undefined ? '' : `, after ${inSeconds(waitedMs)}`;
}

/** Dispatch reports both in conditions, whose messages name the placement. */
function dispatchedAndStarted(before: SeenJob, after: SeenJob): readonly (StoryEvent | undefined)[] {
  const { Dispatched, Started } = SwitchyardCondition;
  const news = (type: typeof Dispatched | typeof Started): string | undefined => {
    const [was, is] = [conditionOf(before, type), conditionOf(after, type)];
    const [placement = ''] = is?.message?.split('; ') ?? [];
    return is?.status === 'True' && !(was?.status === 'True' && was.message?.split('; ')[0] === placement) ? placement : undefined;
  };
  const [dispatched, started] = [news(Dispatched), news(Started)];
  return [
    dispatched === undefined ? undefined : normal(JobEventReason.Dispatched, dispatched),
    started === undefined ? undefined : normal(JobEventReason.Started, started),
  ];
}

/** The ending of the last failed pod may be known later than the number of failed pods: it is then reported later. */
function podsFailed(before: SeenJob, after: SeenJob): StoryEvent | undefined {
  const all = after.kind.progress(after.job).failed;
  const more = all - before.kind.progress(before.job).failed;
  const failure = latestFailure(before, after);
  const told = (message: string): StoryEvent => ({ type: 'Warning', reason: JobEventReason.PodFailed, message });
  if (more <= 0) return failure === undefined ? undefined : told(failureMessage(failure));
  const where = after.record === undefined ? '' : ` on cluster "${after.record.cluster}"`;
  const inAll = all === more ? '' : `, ${all} in all`;
  const last = failure === undefined ? '' : `; ${more === 1 ? '' : 'the last: '}${failedPodMessage(failure)}`;
  return told(`${more} ${more === 1 ? 'pod' : 'pods'} failed${where}${inAll}${last}`);
}

/** Dispatch writes the annotation together with the number of failed pods. An unchanged annotation is about an earlier pod. */
function latestFailure(before: SeenJob, after: SeenJob): LastFailure | undefined {
  const [was, is] = [before, after].map(({ job }) => job.metadata.annotations?.[LAST_FAILURE_ANNOTATION]);
  return was === is ? undefined : readLastFailure(after.job);
}

function finished(before: SeenJob, after: SeenJob): StoryEvent | undefined {
  const end = finishedCondition(after.job.status);
  if (end === undefined || finishedCondition(before.job.status) !== undefined) return undefined;
  const { kind, job } = after;
  const { startTime, completionTime, succeeded, failed } = kind.progress(job);
  const where = after.record === undefined ? '' : ` on cluster "${after.record.cluster}"`;
  const ended = completionTime ?? end.lastTransitionTime;
  const parts: readonly (readonly [string, number | undefined])[] = [
    ['in', span(job.metadata.creationTimestamp, ended)],
    ['of which it ran', span(startTime, ended)],
  ];
  const times = parts.flatMap(([what, ms]) => (ms === undefined ? [] : [`${what} ${inSeconds(ms)}`])).join(', ');
  const pods = `${succeeded} succeeded, ${failed} failed`;
  const story = `${where}${times === '' ? '' : ` ${times}`}; pods: ${pods}`;
  if (end.type !== 'Failed') return normal(JobEventReason.Finished, `complete${story}`);
  return { type: 'Warning', reason: JobEventReason.Finished, message: `failed${story}; ${end.reason ?? 'Failed'}: ${end.message ?? ''}` };
}

/** Milliseconds from one time on the wire to another. */
function span(from: string | undefined, to: string | undefined): number | undefined {
  const [fromMs, toMs] = [parseWireTime(from), parseWireTime(to)];
  return fromMs === undefined || toMs === undefined ? undefined : Math.max(0, toMs - fromMs);
}

/** Times of Kubernetes have whole seconds. */
const inSeconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
