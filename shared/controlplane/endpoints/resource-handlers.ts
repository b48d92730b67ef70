import type { Clock } from '../../runtime/clock.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import { type Answer, jsonAnswer } from '../request/answer.ts';
import { type Call, fieldManagerOf } from '../request/call.ts';
import { type DeleteOptions, readDeleteOptions } from '../registry/delete-options.ts';
import { trackFields } from './field-tracking.ts';
import { listPage, waitForRevision } from '../registry/list.ts';
import { readListOptions } from '../registry/list-options.ts';
import { negotiate, type Representation } from '../request/negotiation.ts';
import { decodeBody } from './object-decoding.ts';
import { createPresenter, includeObject, type Presenter } from './presentation.ts';
import { placeInNamespace, type Registry } from '../registry/registry.ts';
import type { WriteRequest } from '../registry/write-request.ts';
import { dropDuplicateOwners } from '../apimachinery/owner-references.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import { headerOf } from '../request/request.ts';
import { isUnsigned, readWriteOptions, resourceVersionSyntax, type WriteOptions } from '../registry/request-options.ts';
import type { ServedResource, ServedResources } from '../resources/served-resources.ts';
import { badRequest, forbidden, StatusError, unknownError, unsupportedMediaType } from '../apimachinery/status-error.ts';
import type { Store } from '../storage/store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { prepareWatch, type WatchDeps } from './watch.ts';

export type HandlerDeps = WatchDeps & {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly resources: ServedResources;
};

const BODY_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

export async function getObject(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const { info } = call;
  const presentation = presentationOf(deps, call, resource);
  const version = info.query.get('resourceVersion');
  if (version !== '' && !isUnsigned(version)) throw unknownError(resourceVersionSyntax(version));
  if (Number(version) > deps.store.revision()) await waitForRevision(deps, Number(version));
  return shown(200, presentation, presentation.presenter.object(deps.registry.get(resource, namespaceOf(call, resource), info.name)));
}

export async function listObjects(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const options = readListOptions(resource, call.info.query, false);
  const page = await listPage(deps, resource, namespaceOf(call, resource), options);
  return shown(200, presentation, presentation.presenter.list(page));
}

export async function watchObjects(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const { info } = call;
  const { presenter, representation } = presentationOf(deps, call, resource);
  const read = readListOptions(resource, info.query, info.query.flag('watch'));
  // The deprecated path /watch/…/name asks for one object.
  const options = info.nameInPath ? { ...read, selector: onlyNamed(read.selector, info.name) } : read;
  if (representation.as === 'table') includeObject(info.query);
  const start = await prepareWatch(deps, resource, namespaceOf(call, resource), options, presenter);
  return { kind: 'stream', status: 200, headers: { 'content-type': 'application/json' }, start };
}

const onlyNamed = (selector: ReturnType<typeof readListOptions>['selector'], name: string): typeof selector => ({
  ...selector,
  matchesEverything: false,
  name,
  matches: (object) => object.metadata.name === name && selector.matches(object),
});

export async function createObject(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const options = readWriteOptions(call.info.query, 'CreateOptions');
  const body = withoutDuplicateOwners(call, readBody(call, resource, options));
  const object = trackFields(deps, call, resource, options, undefined, body);
  const write = writeRequest(call, resource, options, 'CreateOptions');
  const { stored } = await deps.registry.create({ ...write, name: '' }, object);
  return shown(201, presentation, presentation.presenter.object(stored));
}

export async function updateObject(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const options = readWriteOptions(call.info.query, 'UpdateOptions');
  const write = writeRequest(call, resource, options, 'UpdateOptions');
  const object = readBody(call, resource, options);
  placeInNamespace(write, object);
  checkName(call, object);
  // Every attempt changes its object, so another one reads the body again.
  let decoded: AnyObject | undefined = object;
  const nextState = (current: StoredObject | undefined): AnyObject => {
    const next = withoutDuplicateOwners(call, decoded ?? readBody(call, resource, options));
    decoded = undefined;
    return trackFields(deps, call, resource, options, current, next);
  };
  const { stored, created } = await deps.registry.update(write, nextState, {
    expectedUid: object.metadata.uid ?? '',
    createsWhenAbsent: false,
    authorizeCreate: () => authorizeCreate(deps, call),
  });
  return shown(created ? 201 : 200, presentation, presentation.presenter.object(stored));
}

export async function deleteObject(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const options = readDeleteOptions(call.request.body, headerOf(call.request, 'content-type'), call.info.query, resource.apiVersion);
  warnOfOrphans(call, resource, options);
  const write = deleteRequest(call, resource, options);
  const { stored, removed } = await deps.registry.delete(write, options);
  if (!removed || resource.definition.strategy.returnsDeletedObject === true) {
    return shown(200, presentation, presentation.presenter.object(stored));
  }
  const { group, resource: plural } = resource.groupResource;
  const details = { name: stored.name, ...(group === '' ? {} : { group }), kind: plural, uid: stored.object.metadata.uid };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  return shown(200, presentation, JSON.stringify(status));
}

export async function deleteCollection(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const { request, info } = call;
  const selection = readListOptions(resource, info.query, false);
  const options = readDeleteOptions(request.body, headerOf(request, 'content-type'), info.query, resource.apiVersion);
  warnOfOrphans(call, resource, options);
  const page = await listPage(deps, resource, namespaceOf(call, resource), selection);
  const write = deleteRequest(call, resource, options);
  for (const { namespace, name } of page.items) {
    try {
      await deps.registry.delete({ ...write, namespace, name }, options);
    } catch (error) {
      // Somebody else has deleted it meanwhile.
      if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
    }
  }
  return shown(200, presentation, presentation.presenter.list(page));
}

/** Webhooks see the options as they were given. */
function deleteRequest(call: Call, resource: ServedResource, options: DeleteOptions): WriteRequest {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = options;
  const request = writeRequest(call, resource, undefined, 'DeleteOptions');
  return {
    ...request,
    dryRun,
    options: {
      ...request.options,
      ...omitUndefined({ gracePeriodSeconds }),
      ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
      ...omitUndefined({ orphanDependents, propagationPolicy }),
      ...(dryRun ? { dryRun: ['All'] } : {}),
    },
  };
}

const warnOfOrphans = (call: Call, resource: ServedResource, options: DeleteOptions): void => {
  const { warningOnImplicitOrphan } = resource.definition.strategy;
  if (warningOnImplicitOrphan !== undefined && options.propagationPolicy === undefined && options.orphanDependents === undefined) {
    call.warn(warningOnImplicitOrphan);
  }
};

/** The namespace in which the objects of this call are; '' for cluster-scoped ones, whatever the path says (Namespaces name themselves). */
export const namespaceOf = ({ info }: Call, { definition }: ServedResource): string => (definition.namespaced ? info.namespace : '');

type Presentation = { readonly presenter: Presenter; readonly representation: Representation };

export function presentationOf(deps: HandlerDeps, call: Call, resource: ServedResource): Presentation {
  const { info, request } = call;
  const ofList = !info.nameInPath && (info.verb === 'list' || info.verb === 'watch');
  const representation = negotiate(headerOf(request, 'accept'), { builtIn: !resource.custom, ofList });
  return { representation, presenter: createPresenter(resource, representation, info.query, () => deps.clock.now()) };
}

export const shown = (status: number, { representation }: Presentation, text: string): Answer =>
  jsonAnswer(status, text, representation.format);

/** The body of a create or update as an object. Throws 400 or 415. */
export function readBody(call: Call, resource: ServedResource, options: WriteOptions): AnyObject {
  const contentType = headerOf(call.request, 'content-type');
  const mediaType = contentType === '' ? 'application/json' : (contentType.split(';')[0]?.trim().toLowerCase() ?? '');
  if (mediaType !== 'application/json' && mediaType !== 'application/yaml') throw unsupportedMediaType(BODY_TYPES);
  return decodeBody(resource, call.request.body, mediaType, options, call.warn);
}

function withoutDuplicateOwners(call: Call, object: AnyObject): AnyObject {
  const warning = dropDuplicateOwners(object.metadata, false);
  if (warning !== '') call.warn(warning);
  return object;
}

/** An update that creates what is not there takes the permission to create it. Throws 403. */
export function authorizeCreate({ authorizer }: HandlerDeps, { info, user }: Call): void {
  const { group, version, resource, subresource, namespace, name } = info;
  const { allowed, reason } = authorizer.authorize(user, {
    kind: 'resource',
    verb: 'create',
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
  });
  if (!allowed) throw forbidden({ group, resource }, name, reason);
}

/** The object must have the name of the path. */
export function checkName({ info }: Call, object: AnyObject): void {
  const name = object.metadata.name ?? '';
  if (name === '') throw badRequest(`the name of the object (${info.name} based on URL) was undeterminable: name must be provided`);
  if (name !== info.name) throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
}

export function writeRequest(
  call: Call,
  resource: ServedResource,
  options: WriteOptions | undefined,
  kind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions',
): WriteRequest {
  const { info, user } = call;
  return {
    resource,
    namespace: namespaceOf(call, resource),
    name: info.name,
    subresource: info.subresource,
    user,
    dryRun: options?.dryRun ?? false,
    options: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(options?.dryRun === true ? { dryRun: ['All'] } : {}),
      ...(options === undefined || options.fieldManager === '' ? {} : { fieldManager: fieldManagerOf(call, options.fieldManager) }),
      ...(options === undefined || !info.query.has('fieldValidation') ? {} : { fieldValidation: options.fieldValidation }),
    },
    warn: call.warn,
  };
}
