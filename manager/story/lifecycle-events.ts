import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { RecordReader } from '../api/records.ts';
import { storyEvents, submittedEvent, type SeenJob } from './story-events.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** Writes Events about the life of each Job while this manager leads. */
export interface LifecycleEvents {
  readonly handler: EventHandler<WorkObject>;
  /** Writes until `signal` aborts. */
  lead(signal: AbortSignal): void;
}

/** `events` has a budget of its own, and drops Events beyond it. */
export function createLifecycleEvents({
  kind,
  events,
  readRecord,
}: {
  readonly kind: WorkKind;
  readonly events: EventRecorder;
  readonly readRecord: RecordReader;
}): LifecycleEvents {
  let leading: AbortSignal | undefined;
  const seen = (job: DeepReadonly<WorkObject>): SeenJob => {
    const read = readRecord(job);
    return { kind, job, record: read.kind === 'Record' ? read.record : undefined };
  };
  const isTold = (job: DeepReadonly<WorkObject>): boolean =>
    leading !== undefined && !leading.aborted && kind.controllerOf(job) === MANAGER_CONTROLLER_NAME;
  return {
    handler: {
      added(job, isInInitialList) {
        // The last leader wrote the Events of Jobs that existed at the start.
        const event = isInInitialList || !isTold(job) ? undefined : submittedEvent(job);
        if (event !== undefined) events.event(kind.resource, job, event.type, event.reason, event.message);
      },
      updated(next, previous) {
        if (!isTold(next)) return;
        for (const { type, reason, message } of storyEvents(seen(previous), seen(next)))
          events.event(kind.resource, next, type, reason, message);
      },
    },
    lead: (signal) => {
      leading = signal;
    },
  };
}
