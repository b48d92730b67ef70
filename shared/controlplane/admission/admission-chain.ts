import type { Admission, AdmissionRequest } from './admission-request.ts';
import { refuseCreateInNamespace, refuseNamespaceDelete } from '../kinds/namespace-lifecycle.ts';
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
    mutate: ({ operation, resource: of, namespace, name }) => {
      if (of.group === '' && of.resource === 'namespaces') {
        const refusal = operation === 'DELETE' ? refuseNamespaceDelete(name) : undefined;
        if (refusal !== undefined) throw refusal;
        return undefined;
      }
      if (operation !== 'CREATE' || namespace === '') return undefined;
      if (resources.find(of.group, of.version, of.resource)?.definition.namespaced !== true) return undefined;
      const refusal = refuseCreateInNamespace(of, name, namespace, namespaceNamed(namespace));
      if (refusal !== undefined) throw refusal;
      return undefined;
    },
    validate: () => undefined,
  };
}
