import type { CoreEvent, DeepReadonly } from '../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { sanitizeText } from '../api/sanitize-text.ts';
import type { EventsView } from './views.ts';

const EVENTS_SHOWN = 100;
const WORD_MAX = 128;

/** Events about the object of that UID, the latest first. Any user who may create Events in its namespace can have written them. */
export function eventsView(events: readonly DeepReadonly<CoreEvent>[], uid: string): EventsView {
  return {
    events: events
      .filter(({ involvedObject }) => involvedObject.uid === uid)
      .map(({ type, reason = '', message = '', count = 1, series, source, reportingComponent, ...event }) => ({
        isWarning: type === 'Warning',
        reason: sanitizeText(reason, WORD_MAX),
        message: sanitizeText(message),
        from: sanitizeText(reportingComponent || source?.component || '', WORD_MAX),
        count: series?.count ?? count,
        ...omitUndefined({
          atMs: parseWireTime(
            series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? event.metadata.creationTimestamp,
          ),
        }),
      }))
      .toSorted((a, b) => (b.atMs ?? 0) - (a.atMs ?? 0))
      .slice(0, EVENTS_SHOWN),
  };
}
