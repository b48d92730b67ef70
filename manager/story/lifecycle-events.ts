import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { RecordReader } from '../api/records.ts';
import { storyEvents, submittedEvent, type SeenJob } from './story-events.ts';

/** Writes Events about the life of each Job while this manager leads. */
export interface LifecycleEvents {
  readonly handler: EventHandler<Job>;
  /** Writes until `signal` aborts. */
  lead(signal: AbortSignal): void;
}

/** `events` has a budget of its own, and drops Events beyond it. */
export function createLifecycleEvents({
  events,
  readRecord,
}: {
  readonly events: EventRecorder;
  readonly readRecord: RecordReader;
}): LifecycleEvents {
  let leading: AbortSignal | undefined;
  const seen = (job: DeepReadonly<Job>): SeenJob => {
    const read = readRecord(job);
    return { job, record: read.kind === 'Record' ? read.record : undefined };
  };
  const isTold = (job: DeepReadonly<Job>): boolean =>
    leading !== undefined && !leading.aborted && job.spec.managedBy === MANAGER_CONTROLLER_NAME;
  return {
    handler: {
      added(job, isInInitialList) {
        // The last leader wrote the Events of Jobs that existed at the start.
        const event = isInInitialList || !isTold(job) ? undefined : submittedEvent(job);
        if (event !== undefined) events.event(JOBS, job, event.type, event.reason, event.message);
      },
      updated(next, previous) {
        if (!isTold(next)) return;
        for (const { type, reason, message } of storyEvents(seen(previous), seen(next))) events.event(JOBS, next, type, reason, message);
      },
    },
    lead: (signal) => {
      leading = signal;
    },
  };
}
