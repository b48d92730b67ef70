import type { CoreEvent, DeepReadonly, Job, JobCondition } from '../../../shared/api/kubernetes.ts';
import { finishedCondition } from '../../../shared/kube/conditions.ts';
import { JobEventReason, SwitchyardCondition } from '../../api/reasons.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { formatDuration } from '../time-text.ts';
import { plain } from '../plain-text.ts';

/** One step of the way of a Job, by what the Job shows: times on the wire have whole seconds. */
export type Step = { readonly at: string; readonly what: string };

/**
 * The way of a Job since it was made, in order: the last placement by the Job itself, and those before it by its Events, as far as these
 * are still there.
 */
export function timelineOf(job: DeepReadonly<Job>, events: readonly DeepReadonly<CoreEvent>[] = []): Step[] {
  const { metadata, status = {} } = job;
  const written = writtenRecordOf(job);
  const record = written.kind === 'Record' ? written.record : undefined;
  const condition = (type: string): DeepReadonly<JobCondition> | undefined =>
    status.conditions?.find((each) => each.type === type && each.status === 'True');
  const ended = finishedCondition(status);
  const why = [ended?.reason, ended?.message].filter((each) => each !== undefined && each !== '').join(', ');
  const isOver = record?.evicted === true;
  const told = earlierPlacements(events, isOver ? undefined : record?.since);
  const last = [
    { at: record?.since, what: `admitted to cluster ${record?.cluster ?? ''} by cluster queue ${record?.clusterQueue ?? ''}` },
    { at: condition(SwitchyardCondition.Preempted)?.lastTransitionTime, what: 'suspended for the sake of another Job' },
    { at: condition(SwitchyardCondition.Dispatched)?.lastTransitionTime, what: 'its copy was made there' },
    { at: condition(SwitchyardCondition.Started)?.lastTransitionTime, what: 'started: a pod was ready, or had ended' },
  ];
  const steps = [
    { at: metadata.creationTimestamp, what: 'made' },
    ...told,
    // Of a placement that is over the Events tell all.
    ...(isOver && told.length > 0 ? [] : last),
    { at: ended?.lastTransitionTime, what: ended?.type === 'Failed' ? `failed${why === '' ? '' : `: ${why}`}` : 'complete' },
  ];
  // Of one second they stay in the order of the way.
  return steps
    .flatMap(({ at, what }) => (at === undefined || Number.isNaN(Date.parse(at)) ? [] : [{ at, what }]))
    .toSorted((a, b) => seconds(a.at) - seconds(b.at));
}

/** Events that tell of a placement, from its admission to its end. */
const PLACEMENT_EVENTS: readonly string[] = [
  JobEventReason.Admitted,
  JobEventReason.Moved,
  JobEventReason.Dispatched,
  JobEventReason.Started,
  JobEventReason.Evicted,
  JobEventReason.Preempted,
  JobEventReason.MaximumExecutionTimeExceeded,
];

/** The steps before the last admission; all where the Job is not admitted now. */
const earlierPlacements = (events: readonly DeepReadonly<CoreEvent>[], since: string | undefined): Step[] =>
  events.flatMap(({ reason = '', message = '', ...event }) => {
    const at = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
    if (!PLACEMENT_EVENTS.includes(reason) || (since !== undefined && seconds(at) >= seconds(since) && !ENDS.includes(reason))) return [];
    return [{ at, what: `${reason}: ${message}` }];
  });
/** An eviction and the next admission may fall into one second. */
const ENDS: readonly string[] = [JobEventReason.Evicted, JobEventReason.Preempted];

const seconds = (at: string): number => Math.floor(Date.parse(at) / 1000);

/** Each with how long after the one before. */
export const timelineLines = (steps: readonly Step[]): string[] =>
  steps.length === 0
    ? []
    : [
        'Its way:',
        ...steps.map(({ at, what }, index) => {
          const before = steps[index - 1];
          const after = before === undefined ? '' : ` (after ${formatDuration((seconds(at) - seconds(before.at)) * 1000)})`;
          return plain(`  ${at.replace(/\.\d+Z$/, 'Z')}  ${what}${after}`);
        }),
      ];
