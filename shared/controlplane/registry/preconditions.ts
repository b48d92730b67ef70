import { conflict, type StatusError } from '../apimachinery/status-error.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** What the stored object must still be; '' and absent demand nothing. */
export type Preconditions = { readonly uid?: string; readonly resourceVersion?: string };

/** The storage's precondition on the UID, in its own words. */
export function checkUid(resource: ServedResource, namespace: string, name: string, uid: string, current: StoredObject | undefined): void {
  const actual = current?.object.metadata.uid ?? '';
  if (actual !== uid) throw preconditionFailed(resource, namespace, name, 'UID', uid, actual);
}

export function checkPreconditions(
  resource: ServedResource,
  { uid = '', resourceVersion = '' }: Preconditions,
  current: StoredObject,
): void {
  const { namespace, name, object } = current;
  if (uid !== '') checkUid(resource, namespace, name, uid, current);
  const actual = object.metadata.resourceVersion ?? '';
  if (resourceVersion !== '' && resourceVersion !== actual) {
    throw preconditionFailed(resource, namespace, name, 'ResourceVersion', resourceVersion, actual);
  }
}

const preconditionFailed = (
  resource: ServedResource,
  namespace: string,
  name: string,
  what: 'UID' | 'ResourceVersion',
  demanded: string,
  actual: string,
): StatusError =>
  conflict(
    resource.groupResource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${storageKey(resource, namespace, name)}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${demanded}, ${what} in object meta: ${actual}`,
  );

/** Built-in kinds are stored below their plural name, custom ones below group and plural name. */
export const storageKey = ({ custom, definition }: ServedResource, namespace: string, name: string): string =>
  ['/registry', ...(custom ? [definition.group] : []), definition.plural, ...(namespace === '' ? [] : [namespace]), name].join('/');
