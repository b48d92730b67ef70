import { notFound } from '../apimachinery/status-error.ts';
import { type Admission, type AdmissionRequest, refusal } from './admission-request.ts';
import { IMMORTAL_NAMESPACES } from '../kinds/namespace.ts';
import type { ServedResources } from '../resources/served-resources.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/** Asks plugins one after the other; synchronous for as long as they are. */
export function createAdmissionChain(plugins: readonly Admission[]): Admission {
  return {
    mutate: (request) => mutateFrom(plugins, 0, request, undefined),
    validate: (request) => validateFrom(plugins, 0, request),
  };
}

function mutateFrom(
  plugins: readonly Admission[],
  from: number,
  request: AdmissionRequest,
  changed: AnyObject | undefined,
): Promise<AnyObject | undefined> | undefined {
  for (let index = from; index < plugins.length; index++) {
    const asked = plugins[index]?.mutate(changed === undefined ? request : { ...request, object: changed });
    if (asked === undefined) continue;
    return asked.then((object) => {
      const soFar = object ?? changed;
      const rest = mutateFrom(plugins, index + 1, request, soFar);
      return rest === undefined ? soFar : rest.then((last) => last ?? soFar);
    });
  }
  return undefined;
}

function validateFrom(plugins: readonly Admission[], from: number, request: AdmissionRequest): Promise<void> | undefined {
  for (let index = from; index < plugins.length; index++) {
    const asked = plugins[index]?.validate(request);
    if (asked !== undefined) return asked.then(() => validateFrom(plugins, index + 1, request));
  }
  return undefined;
}

/** Plugin NamespaceLifecycle: creates only in namespaces that are there and stay, and some namespaces are never deleted. */
export function createNamespaceLifecycle(namespaceNamed: (name: string) => AnyObject | undefined, resources: ServedResources): Admission {
  return {
    mutate: (request) => {
      const { operation, resource: of, namespace, name } = request;
      if (of.group === '' && of.resource === 'namespaces') {
        if (operation === 'DELETE' && IMMORTAL_NAMESPACES.includes(name)) throw refusal(request, 'this namespace may not be deleted');
        return undefined;
      }
      if (operation !== 'CREATE' || namespace === '') return undefined;
      if (resources.find(of.group, of.version, of.resource)?.definition.namespaced !== true) return undefined;
      const found = namespaceNamed(namespace);
      if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
      if (found.metadata.deletionTimestamp === undefined) return undefined;
      throw refusal(request, `unable to create new content in namespace ${namespace} because it is being terminated`, [
        { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
      ]);
    },
    validate: () => undefined,
  };
}
