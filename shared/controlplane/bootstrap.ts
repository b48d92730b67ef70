import { SYSTEM_NAMESPACES } from './kinds/namespace.ts';
import { API_SERVER_USER } from './auth/user-info.ts';
import { SYSTEM_PRIORITY_CLASSES } from './kinds/priority-class.ts';
import type { Registry } from './registry/registry.ts';
import type { WriteRequest } from './registry/write-request.ts';
import type { ServedResource, ServedResources } from './resources/served-resources.ts';
import type { AnyObject } from './apimachinery/object.ts';

/** Creates what every cluster has, where it is not there yet. */
export async function bootstrap(resources: ServedResources, registry: Registry): Promise<void> {
  const namespaces = resources.find('', 'v1', 'namespaces');
  const priorityClasses = resources.find('scheduling.k8s.io', 'v1', 'priorityclasses');
  const services = resources.find('', 'v1', 'services');
  if (namespaces === undefined || priorityClasses === undefined || services === undefined) throw new Error('the core kinds are not served');
  for (const name of SYSTEM_NAMESPACES) await createUnlessThere(registry, namespaces, '', { metadata: { name } });
  for (const { name, ...fields } of SYSTEM_PRIORITY_CLASSES) {
    await createUnlessThere(registry, priorityClasses, '', { metadata: { name }, ...fields });
  }
  await createUnlessThere(registry, services, 'default', structuredClone(API_SERVER_SERVICE));
}

/** The Service by which pods reach the API server; nothing here answers at its address. */
const API_SERVER_SERVICE = {
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
  },
};

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
