import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import { completed } from './object-decoding.ts';
import { JSON_PATCH, MERGE_PATCH, type PatchType, readPatch, STRATEGIC_MERGE_PATCH } from './patch/patch-object.ts';
import { headerOf } from './request.ts';
import { readWriteOptions } from './request-options.ts';
import { checkName, type HandlerDeps, presentationOf, shown, writeRequest } from './resource-handlers.ts';
import { type ServedResource, toVersioned } from './served-resources.ts';
import { notFound, StatusError, unsupportedMediaType } from './status-error.ts';
import type { StoredObject } from './store-table.ts';
import type { AnyObject } from './strategy.ts';

export const APPLY_PATCH = 'application/apply-patch+yaml';

/** PATCH of an object or of its status. */
export async function patchObject(deps: HandlerDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const presentation = presentationOf(deps, call, resource);
  const type = patchTypeOf(call, resource);
  const options = readWriteOptions(call.info.query, 'PatchOptions', type === APPLY_PATCH);
  if (type === APPLY_PATCH) throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH]);
  const patch = readPatch(type, call.request.body, options.fieldValidation);
  const nextState = (current: StoredObject | undefined): AnyObject => {
    if (current === undefined) throw notFound(resource.groupResource, call.info.name);
    const next = completed(resource, patch.applyTo(toVersioned(resource, current.object), resource.schema), call.warn);
    checkName(call, next);
    return next;
  };
  const { stored, created } = await deps.registry.update(writeRequest(call, resource, options, 'PatchOptions'), nextState, {
    expectedUid: '',
    createsWhenAbsent: false,
  });
  return shown(created ? 201 : 200, presentation, presentation.presenter.object(stored));
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
  }
  if (custom) throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH, APPLY_PATCH]);
  throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}
