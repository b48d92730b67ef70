import { SYSTEM_NAMESPACES } from './kinds/namespace.ts';
import { API_SERVER_USER } from './auth/user-info.ts';
import { SYSTEM_PRIORITY_CLASSES } from './kinds/priority-class.ts';
import type { Registry, WriteRequest } from './registry/registry.ts';
import type { ServedResource, ServedResources } from './resources/served-resources.ts';
import type { AnyObject } from './apimachinery/object.ts';

/** Creates what every cluster has, where it is not there yet. */
export async function bootstrap(resources: ServedResources, registry: Registry): Promise<void> {
  const namespaces = resources.find('', 'v1', 'namespaces');
  const priorityClasses = resources.find('scheduling.k8s.io', 'v1', 'priorityclasses');
  if (namespaces === undefined || priorityClasses === undefined) throw new Error('the core kinds are not served');
  for (const name of SYSTEM_NAMESPACES) await createUnlessThere(registry, namespaces, '', { metadata: { name } });
  for (const { name, ...fields } of SYSTEM_PRIORITY_CLASSES) {
    await createUnlessThere(registry, priorityClasses, '', { metadata: { name }, ...fields });
  }
}

/** Creates an object that may exist already. */
export async function createUnlessThere(
  registry: Registry,
  resource: ServedResource,
  namespace: string,
  object: { metadata: { name: string }; [field: string]: unknown },
): Promise<void> {
  if (resource.table.get(namespace, object.metadata.name) !== undefined) return;
  const request: WriteRequest = {
    resource,
    namespace,
    name: '',
    subresource: '',
    user: API_SERVER_USER,
    dryRun: false,
    options: {},
    warn: () => undefined,
  };
  // The registry fills in the metadata that the server assigns.
  const complete = { ...object, kind: resource.definition.kind, apiVersion: resource.apiVersion } as unknown as AnyObject;
  resource.definition.strategy.applyDefaults?.(complete);
  await registry.create(request, complete);
}
