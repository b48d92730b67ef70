import type { AdmissionRequest, GroupVersionKind } from '../admission/admission-request.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { UserInfo } from '../auth/user-info.ts';
import { toVersioned, type ServedResource } from '../resources/served-resources.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** What a write is about and who makes it. */
export type WriteRequest = {
  readonly resource: ServedResource;
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  /** '' on create: the object's own name counts. */
  readonly name: string;
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions, for webhooks: a patch becomes an update. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Absent: admission reviews the object itself. */
  readonly reviewedAs?: ReviewedAs;
};

/** A subresource that is a kind of its own, such as Scale, is reviewed as that. */
export type ReviewedAs = {
  readonly kind: GroupVersionKind;
  show(object: AnyObject): AnyObject;
  /** The object with what admission made of what was shown. */
  take(object: AnyObject, reviewed: AnyObject): AnyObject;
};

/** The question for admission; for a Namespace the namespace is its own name. */
export function admissionRequest(
  request: WriteRequest,
  operation: AdmissionRequest['operation'],
  object: AnyObject | undefined,
  previous: StoredObject | undefined,
): AdmissionRequest {
  const { resource, subresource, options, dryRun, user, reviewedAs } = request;
  const { group, version, kind, plural } = resource.definition;
  const oldObject = previous === undefined ? undefined : toVersioned(resource, previous.object);
  const name = request.name === '' ? (object?.metadata.name ?? '') : request.name;
  return {
    operation,
    kind: reviewedAs?.kind ?? { group, version, kind },
    resource: { group, version, resource: plural },
    subresource,
    name,
    namespace: group === '' && kind === 'Namespace' ? name : request.namespace,
    object: reviewedAs === undefined || object === undefined ? object : reviewedAs.show(object),
    oldObject: reviewedAs === undefined || oldObject === undefined ? oldObject : reviewedAs.show(oldObject),
    // What an update or an apply creates is a create to those who review it.
    options: operation === 'CREATE' && options['kind'] === 'UpdateOptions' ? { ...options, kind: 'CreateOptions' } : options,
    dryRun,
    user,
    warn: (text) => request.warn(text),
  };
}
