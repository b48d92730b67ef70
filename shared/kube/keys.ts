import type { ObjectKey } from '../api/kubernetes.ts';

/** `namespace/name`, or `name` for a cluster-scoped object: the key of workqueues and caches (client-go's MetaNamespaceKey). */
export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

/** The key of an object. */
export const keyOfObject = (object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): string =>
  keyOf(object.metadata.namespace, object.metadata.name);

export const formatKey = (key: ObjectKey): string => keyOf(key.namespace, key.name);

/** The inverse of {@link formatKey}. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Namespace and name of an object. */
export const objectKey = (object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): ObjectKey => ({
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name,
});

const POD_NAME_LENGTH_MAX = 253;
const POD_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** Whether a pod can have this name. */
export const isPodName = (name: string): boolean => name.length <= POD_NAME_LENGTH_MAX && POD_NAME.test(name);
