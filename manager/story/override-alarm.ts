import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { OVERRIDE_FIELD_MANAGER } from '../../shared/api/names.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { actInWords, actsOn } from '../api/job-acts.ts';
import { JobEventReason } from '../api/reasons.ts';
import type { StoryMetrics } from './story-metrics.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** Reports, while this manager leads, each user who bypassed the policies of Jobs: in the log, in an Event on the Job, and in a metric. */
export interface OverrideAlarm {
  readonly handler: EventHandler<WorkObject>;
  /** Reports until `signal` aborts. */
  lead(signal: AbortSignal): void;
}

/**
 * The alarm goes by the annotation of the Job, which the API server has stored, and not by requests to the webhook: any caller of its port
 * can claim any name. Writes of one user within one second count once.
 */
export function createOverrideAlarm({
  kind,
  events,
  metrics,
  log,
}: {
  readonly kind: WorkKind;
  readonly events: EventRecorder;
  readonly metrics: Pick<StoryMetrics, 'overrides'>;
  readonly log: Logger;
}): OverrideAlarm {
  let leading: AbortSignal | undefined;
  const check = (job: DeepReadonly<WorkObject>, before: DeepReadonly<WorkObject> | undefined): void => {
    if (leading === undefined || leading.aborted) return;
    const known = before === undefined ? [] : actsOn(before);
    const overrides = actsOn(job).filter((act) => act.what === 'Override' && !known.some((each) => isDeepStrictEqual(each, act)));
    for (const act of overrides) {
      const { namespace, name } = job.metadata;
      metrics.overrides.inc();
      log.warn('a write of a Job passed by the rules', { namespace, name, user: act.user, at: act.at });
      const message = `${actInWords(act)}: as field manager ${OVERRIDE_FIELD_MANAGER}, past the rules of who may write what`;
      events.event(kind.resource, job, 'Warning', JobEventReason.Overridden, message);
    }
  };
  return {
    handler: {
      // The last leader wrote the Events of Jobs that existed at the start.
      added: (job, isInInitialList) => (isInInitialList ? undefined : check(job, undefined)),
      updated: check,
    },
    lead: (signal) => {
      leading = signal;
    },
  };
}
