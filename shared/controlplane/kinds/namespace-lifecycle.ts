import { forbidden, notFound, type GroupResource, type StatusError } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/** Namespaces that cannot be deleted. */
const IMMORTAL: readonly string[] = ['default', 'kube-system', 'kube-public'];

/**
 * Admission plugin NamespaceLifecycle: nothing is created where there is no namespace or where one ends, and some namespaces never end.
 * `namespace` is the object of that name, undefined when there is none. Returns the refusal, if there is one.
 */
export const refuseCreateInNamespace = (
  of: GroupResource,
  objectName: string,
  namespaceName: string,
  namespace: AnyObject | undefined,
): StatusError | undefined => {
  if (namespace === undefined) return notFound({ group: '', resource: 'namespaces' }, namespaceName);
  if (namespace.metadata.deletionTimestamp === undefined) return undefined;
  const message = `namespace ${namespaceName} is being terminated`;
  return forbidden(of, objectName, `unable to create new content in namespace ${namespaceName} because it is being terminated`, [
    { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' },
  ]);
};

export const refuseNamespaceDelete = (name: string): StatusError | undefined =>
  IMMORTAL.includes(name) ? forbidden({ group: '', resource: 'namespaces' }, name, 'this namespace may not be deleted') : undefined;
