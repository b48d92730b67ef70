import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceView } from '../resources/strategy.ts';
import { asEvent } from './event.ts';

/** Names of the fields that differ: in events.k8s.io/v1, and in core/v1, which is how Events are stored. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toCore = new Map(RENAMED);
const fromCore = new Map(RENAMED.map(([view, core]) => [core, view]));

const renamed = (object: AnyObject, names: ReadonlyMap<string, string>): AnyObject => ({
  metadata: object.metadata,
  ...Object.fromEntries(Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value])),
});

/** events.k8s.io/v1 Events are core/v1 Events with other names for some fields, and other fields that are always shown. */
export const eventView: ResourceView = {
  storageGroup: '',
  worksOn: 'stored',
  toStored: (object) => {
    const event = asEvent(renamed(object, toCore));
    event.involvedObject ??= {};
    event.source ??= {};
    event.firstTimestamp ??= null;
    event.lastTimestamp ??= null;
    event.eventTime ??= null;
    event.reportingComponent ??= '';
    event.reportingInstance ??= '';
    return event;
  },
  fromStored: (object) => {
    const shown = renamed(object, fromCore);
    shown['regarding'] ??= {};
    shown['deprecatedSource'] ??= {};
    shown['deprecatedFirstTimestamp'] ??= null;
    shown['deprecatedLastTimestamp'] ??= null;
    shown['eventTime'] ??= null;
    for (const field of ['reportingController', 'reportingInstance']) if (shown[field] === '') delete shown[field];
    if ('kind' in object) shown.kind = 'Event';
    shown.apiVersion = 'events.k8s.io/v1';
    return shown;
  },
};
