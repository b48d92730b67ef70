import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy, TablePrinter } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import { column } from './table-columns.ts';

type Reference = {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiVersion?: string;
  resourceVersion?: string;
  fieldPath?: string;
};
/** An Event as it is stored, in the shape of core/v1. */
export type DecodedEvent = AnyObject & {
  involvedObject?: Reference;
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  count?: number;
  type?: string;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string | null };
  action?: string;
  related?: Reference;
  reportingComponent?: string;
  reportingInstance?: string;
};
/** The registry hands these strategies decoded Events only. */
export const asEvent = (object: AnyObject): DecodedEvent => object as DecodedEvent;

const NAME_MAX = 128;
const NOTE_MAX = 1024;

/** core/v1 Event: hardly checked, since everybody writes them. */
export const eventStrategy: ResourceStrategy = {
  validateCreate: (object) => validateLegacy(asEvent(object), 'reportingComponent'),
  validateUpdate: (object) => validateLegacy(asEvent(object), 'reportingComponent'),
  allowCreateOnUpdate: true,
  selectableFields: (object) => selectable(asEvent(object), 'involvedObject', 'reportingComponent'),
  table: eventTable(),
};

/** events.k8s.io/v1 Event. */
export const newEventStrategy: ResourceStrategy = {
  validateCreate: (object) => {
    const event = asEvent(object);
    return [
      ...validateLegacy(event, 'reportingController'),
      ...validateObjectMeta(event.metadata, true, subdomainName),
      ...validateSeries(event),
      ...(isUnset(event.eventTime) ? [required('eventTime')] : []),
      ...(event.type === 'Normal' || event.type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${event.type ?? ''}`)]),
      ...validateDeprecatedUnset(event),
    ];
  },
  validateUpdate: (object, stored) => {
    const next = asEvent(object);
    const previous = asEvent(stored);
    return [
      ...validateLegacy(next, 'reportingController'),
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...(semanticEqual(next.series, previous.series) ? [] : validateSeries(next)),
      ...validateFixed(next, previous),
    ];
  },
  allowCreateOnUpdate: true,
  selectableFields: (object) => selectable(asEvent(object), 'regarding', 'reportingController'),
  table: eventTable(),
};

const isUnset = (time: string | null | undefined): boolean => time === undefined || time === null;

/** legacyValidateEvent: events without eventTime are old ones, of which little is asked. */
const validateLegacy = (event: DecodedEvent, reporter: 'reportingComponent' | 'reportingController'): FieldError[] => {
  const { metadata, involvedObject = {} } = event;
  const namespace = metadata.namespace ?? '';
  const regarding = involvedObject.namespace ?? '';
  const elsewhere = invalid('involvedObject.namespace', regarding, 'does not match event.namespace');
  const errors: FieldError[] = [];
  if (isUnset(event.eventTime)) {
    // Events about cluster-scoped objects belong to the default namespace.
    const expected = regarding === '' ? ['', 'default'] : [regarding];
    if (!expected.includes(namespace)) errors.push(elsewhere);
  } else {
    if (regarding === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(elsewhere);
    errors.push(...validateReport(event, reporter));
  }
  return [...errors, ...validateFormat(namespace, 'namespace', dns1123SubdomainProblems)];
};

const validateReport = (event: DecodedEvent, reporter: string): FieldError[] => {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  return [
    ...(reportingComponent === '' ? [required(reporter)] : []),
    ...validateFormat(reportingComponent, reporter, qualifiedNameProblems),
    ...validateShortText(reportingInstance, 'reportingInstance'),
    ...validateShortText(action, 'action'),
    ...validateShortText(reason, 'reason'),
    ...(Buffer.byteLength(message) > NOTE_MAX ? [invalid('message', '', `can have at most ${NOTE_MAX} characters`)] : []),
  ];
};

const validateShortText = (text: string, path: string): FieldError[] => {
  if (text === '') return [required(path)];
  return Buffer.byteLength(text) > NAME_MAX ? [invalid(path, '', `can have at most ${NAME_MAX} characters`)] : [];
};

const validateSeries = ({ series }: DecodedEvent): FieldError[] => {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isUnset(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
};

const validateDeprecatedUnset = (event: DecodedEvent): FieldError[] => {
  const unset = (given: boolean, path: string): FieldError[] => (given ? [invalid(path, '', 'needs to be unset')] : []);
  return [
    ...unset(!isUnset(event.firstTimestamp), 'firstTimestamp'),
    ...unset(!isUnset(event.lastTimestamp), 'lastTimestamp'),
    ...unset((event.count ?? 0) !== 0, 'count'),
    ...unset((event.source?.component ?? '') !== '' || (event.source?.host ?? '') !== '', 'source'),
  ];
};

/** Of a new event only its series and its metadata change. */
const validateFixed = (next: DecodedEvent, previous: DecodedEvent): FieldError[] => {
  return FIXED_FIELDS.filter(([field]) => !semanticEqual(next[field], previous[field])).map(([field, path]) =>
    invalid(path ?? field, next[field], 'field is immutable'),
  );
};

/** In upstream's order, which looks at the reason twice. */
const FIXED_FIELDS: readonly (readonly [field: string, path?: string])[] = [
  ['involvedObject'],
  ['reason'],
  ['message'],
  ['source'],
  ['firstTimestamp'],
  ['lastTimestamp'],
  ['count'],
  ['reason'],
  ['type'],
  ['eventTime'],
  ['action'],
  ['related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance'],
];

const selectable = (event: DecodedEvent, reference: string, reporter: string): Record<string, string> => {
  const { involvedObject = {}, source = {} } = event;
  return {
    [`${reference}.kind`]: involvedObject.kind ?? '',
    [`${reference}.namespace`]: involvedObject.namespace ?? '',
    [`${reference}.name`]: involvedObject.name ?? '',
    [`${reference}.uid`]: involvedObject.uid ?? '',
    [`${reference}.apiVersion`]: involvedObject.apiVersion ?? '',
    [`${reference}.resourceVersion`]: involvedObject.resourceVersion ?? '',
    [`${reference}.fieldPath`]: involvedObject.fieldPath ?? '',
    reason: event.reason ?? '',
    [reporter]: event.reportingComponent ?? '',
    source: source.component || event.reportingComponent || '',
    type: event.type ?? '',
  };
};

function eventTable(): TablePrinter {
  return {
    columns: [
      column('Last Seen', 'The time at which the most recent occurrence of this event was recorded.'),
      column('Type', 'Type of this event (Normal, Warning), new types could be added in the future'),
      column(
        'Reason',
        "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
      ),
      column('Object', 'The object that this event is about.'),
      column(
        'Subobject',
        'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement.',
        { wide: true },
      ),
      column('Source', 'The component reporting this event. Should be a short machine understandable string.', { wide: true }),
      column('Message', 'A human-readable description of the status of this operation.'),
      column('First Seen', 'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)', { wide: true }),
      column('Count', 'The number of times this event has occurred.', { wide: true }),
      column('Name', 'Name must be unique within a namespace.', { wide: true, format: 'name' }),
    ],
    cells: (object, now) => {
      const event = asEvent(object);
      const { involvedObject = {}, source = {}, series } = event;
      const first = isUnset(event.firstTimestamp) ? ageOf(event.eventTime, now) : ageOf(event.firstTimestamp, now);
      const last = isUnset(event.lastTimestamp) ? first : ageOf(event.lastTimestamp, now);
      const kind = (involvedObject.kind ?? '').toLowerCase();
      const reporter = source.component || event.reportingComponent || '';
      const instance = source.host || event.reportingInstance || '';
      return [
        series === undefined ? last : ageOf(series.lastObservedTime, now),
        event.type ?? '',
        event.reason ?? '',
        involvedObject.name ? `${kind}/${involvedObject.name}` : kind,
        involvedObject.fieldPath ?? '',
        instance === '' ? reporter : `${reporter}, ${instance}`,
        (event.message ?? '').trim(),
        first,
        series === undefined ? event.count || 1 : (series.count ?? 0),
        event.metadata.name,
      ];
    },
  };
}
