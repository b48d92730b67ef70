import { type FieldRequirements, matchesFieldSelector, parseFieldSelector } from '../../kube/field-selectors.ts';
import { type LabelRequirements, matchesLabelSelector, parseLabelSelector, SelectorSyntaxError } from '../../kube/selectors.ts';
import { forbidden, notSupported, type FieldError } from '../apimachinery/field-error.ts';
import type { Query } from '../request/request.ts';
import { readInteger } from './request-options.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { badRequest, invalid } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceDefinition } from '../resources/strategy.ts';

/** Query options of list, watch and deletecollection. */
export type ListOptions = {
  readonly selector: ObjectSelector;
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
};

/** Label and field selector of one request. */
export type ObjectSelector = {
  readonly labels: LabelRequirements;
  readonly fields: FieldRequirements;
  readonly matchesEverything: boolean;
  /** The only name that can match; '' when there is no such condition. */
  readonly name: string;
  matches(object: AnyObject): boolean;
};

/**
 * Reads and validates ListOptions, with apimachinery's refusals. `watch`: the request says so; the deprecated paths below
 * /watch/ do not.
 */
export function readListOptions(resource: ServedResource, query: Query, watch: boolean): ListOptions {
  const given = {
    allowWatchBookmarks: query.flag('allowWatchBookmarks'),
    resourceVersion: query.get('resourceVersion'),
    resourceVersionMatch: query.get('resourceVersionMatch'),
    timeoutSeconds: readInteger(query, 'timeoutSeconds'),
    limit: Math.max(0, readInteger(query, 'limit') ?? 0),
    continueToken: query.get('continue'),
    sendInitialEvents: query.has('sendInitialEvents') ? query.flag('sendInitialEvents') : undefined,
  };
  const terms = readTerms(query.get('labelSelector'), query.get('fieldSelector'));
  const options = watch ? withWatchDefaults(given) : given;
  const errors = watch ? watchOptionErrors(options) : listOptionErrors(options);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return { ...options, selector: selectorOf(resource.definition, terms) };
}

type Scope = Omit<ListOptions, 'selector'>;

/** A watch from nowhere is a list that goes on: it streams what there is (SetListOptionsDefaults). */
function withWatchDefaults(options: Scope): Scope {
  const { sendInitialEvents, resourceVersionMatch, resourceVersion } = options;
  const isDefault = sendInitialEvents === undefined && resourceVersionMatch === '' && (resourceVersion === '' || resourceVersion === '0');
  return isDefault ? { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : options;
}

const MATCH = 'resourceVersionMatch';

const listOptionErrors = (options: Scope): FieldError[] => {
  const { resourceVersionMatch: match, resourceVersion } = options;
  const errors: FieldError[] = [];
  if (match !== '') {
    if (resourceVersion === '') errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (options.continueToken !== '') errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
};

const watchOptionErrors = (options: Scope): FieldError[] => {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['NotOlderThan']));
    if (options.continueToken !== '') errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return errors;
};

type Terms = { readonly labels: LabelRequirements; readonly fields: FieldRequirements };

const readTerms = (labelText: string, fieldText: string): Terms => ({
  labels: parsed(() => parseLabelSelector(labelText)),
  fields: parsed(() => parseFieldSelector(fieldText)),
});

/** Throws 400 for a field that is not selectable. */
function selectorOf(definition: ResourceDefinition, { labels, fields }: Terms): ObjectSelector {
  if (fields.length > 0) refuseUnknownFields(definition, fields);
  const { strategy, view } = definition;
  const matchesFields = (object: AnyObject): boolean => {
    const selectable = strategy.selectableFields?.(view?.worksOn === 'shown' ? view.fromStored(object) : object);
    return matchesFieldSelector(fields, (field) => {
      if (field === 'metadata.name') return object.metadata.name;
      if (field === 'metadata.namespace') return object.metadata.namespace;
      return selectable?.[field];
    });
  };
  return {
    labels,
    fields,
    matchesEverything: labels.length === 0 && fields.length === 0,
    name: fields.find(({ field, equals }) => field === 'metadata.name' && equals)?.value ?? '',
    matches: (object) => matchesLabelSelector(labels, object.metadata.labels) && (fields.length === 0 || matchesFields(object)),
  };
}

const parsed = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorSyntaxError) throw badRequest(error.message);
    throw error;
  }
};

/**
 * Kinds without conversion of field labels know name and namespace, even where there are none; the others know their
 * own fields, and the namespace only if they have one.
 */
const refuseUnknownFields = ({ strategy, namespaced }: ResourceDefinition, fields: FieldRequirements): void => {
  const skeleton: AnyObject = { metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '' }, spec: {}, status: {} };
  const selectable = Object.keys(strategy.selectableFields?.(skeleton) ?? {});
  const isPlain = selectable.length === 0 && strategy.unsupportedField === undefined;
  const known = ['metadata.name', ...(namespaced || isPlain ? ['metadata.namespace'] : []), ...selectable];
  for (const { field } of fields) {
    if (known.includes(field)) continue;
    if (isPlain) throw badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
    throw badRequest(strategy.unsupportedField?.(field) ?? `field label not supported: ${field}`);
  }
};
