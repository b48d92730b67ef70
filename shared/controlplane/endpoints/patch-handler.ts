import { toWireTime } from '../../api/wire-time.ts';
import type { Answer } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import { trackFields } from './field-tracking.ts';
import { APPLY_PATCH, applyConfiguration } from '../fields/apply.ts';
import { completed } from './object-decoding.ts';
import { JSON_PATCH, MERGE_PATCH, type PatchType, readPatch, STRATEGIC_MERGE_PATCH } from '../patch/patch-object.ts';
import { headerOf } from '../request/request.ts';
import { placeInNamespace } from '../registry/registry.ts';
import { readWriteOptions, type WriteOptions } from '../registry/request-options.ts';
import { authorizeCreate, checkName, type HandlerDeps, namespaceOf, presentationOf, shown, writeRequest } from './resource-handlers.ts';
import { type ServedResource, toVersioned, versionSchemas } from '../resources/served-resources.ts';
import { conflict, notFound, StatusError, unsupportedMediaType } from '../apimachinery/status-error.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/** PATCH of an object or of its status. */
export async function patchObject(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const type = patchTypeOf(call, resource);
  const options = readWriteOptions(call.info.query, 'PatchOptions', type === APPLY_PATCH);
  const nextState = type === APPLY_PATCH ? applied(deps, call, resource, options) : patched(deps, call, resource, options, type);
  const { stored, created } = await deps.registry.update(writeRequest(call, resource, options, 'UpdateOptions'), nextState, {
    expectedUid: '',
    createsWhenAbsent: type === APPLY_PATCH && call.info.subresource === '',
    authorizeCreate: () => authorizeCreate(deps, call),
  });
  return shown(created ? 201 : 200, presentation, presentation.presenter.object(stored));
}

type NextState = (current: StoredObject | undefined) => AnyObject;

function patched(deps: HandlerDeps, call: Call, resource: ServedResource, options: WriteOptions, type: PatchType): NextState {
  // Upstream reads a patch only once it has the object.
  deps.registry.get(resource, namespaceOf(call, resource), call.info.name);
  const patch = readPatch(type, call.request.body, options.fieldValidation);
  return (current) => {
    if (current === undefined) throw notFound(resource.groupResource, call.info.name);
    const next = completed(resource, patch.applyTo(toVersioned(resource, current.object), resource.schema), call.warn);
    placeInNamespace({ resource, namespace: namespaceOf(call, resource) }, next);
    checkName(call, next);
    return trackFields(deps, call, resource, options, current, next);
  };
}

function applied(deps: HandlerDeps, call: Call, resource: ServedResource, options: WriteOptions): NextState {
  const { info, request } = call;
  return (current) => {
    if (current === undefined && info.subresource !== '') throw notFound(resource.groupResource, info.name);
    const result = applyConfiguration({
      body: request.body,
      live: current === undefined ? undefined : toVersioned(resource, current.object),
      schema: resource.schema,
      schemaOf: versionSchemas(deps.resources, resource),
      manager: options.fieldManager,
      force: options.force === true,
      subresource: info.subresource,
      fieldValidation: options.fieldValidation,
      now: toWireTime(deps.clock.now()),
    });
    const next = completed(resource, result, call.warn);
    const uid = next.metadata.uid ?? '';
    if (current === undefined && uid !== '') {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource.groupResource, info.name, why);
    }
    placeInNamespace({ resource, namespace: namespaceOf(call, resource) }, next);
    checkName(call, next);
    return next;
  };
}

/** Custom resources know no strategic merge patch. Built-in routes refuse other types as go-restful does. */
function patchTypeOf(call: Call, { custom }: ServedResource): PatchType | typeof APPLY_PATCH {
  const mediaType = headerOf(call.request, 'content-type').split(';')[0]?.trim();
  switch (mediaType) {
    case JSON_PATCH:
    case MERGE_PATCH:
    case APPLY_PATCH:
      return mediaType;
    case STRATEGIC_MERGE_PATCH:
      if (!custom) return mediaType;
      break;
    default:
  }
  if (custom) throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH, APPLY_PATCH]);
  throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}
