import { toWireTime } from '../../api/wire-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Call, fieldManagerOf } from '../request/call.ts';
import { trackUpdate } from '../fields/managed-fields.ts';
import type { WriteOptions } from '../registry/request-options.ts';
import { type ServedResource, type ServedResources, toVersioned, versionSchemas } from '../resources/served-resources.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/**
 * Notes in `next` who owns the fields that a create (`current` undefined), an update or a patch sets. Upstream does so
 * before mutating admission: what webhooks add belongs to nobody on create.
 */
export function trackFields(
  { clock, resources }: { readonly clock: Clock; readonly resources: ServedResources },
  call: Call,
  resource: ServedResource,
  options: WriteOptions,
  current: StoredObject | undefined,
  next: AnyObject,
): AnyObject {
  trackUpdate({
    live: current === undefined ? undefined : toVersioned(resource, current.object),
    next,
    manager: fieldManagerOf(call, options.fieldManager),
    apiVersion: resource.apiVersion,
    subresource: call.info.subresource,
    schema: resource.schema,
    schemaOf: versionSchemas(resources, resource),
    now: toWireTime(clock.now()),
  });
  return next;
}
