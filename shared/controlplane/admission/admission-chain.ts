import { forbidden, notFound } from '../apimachinery/status-error.ts';
import { type Admission, type AdmissionRequest, type Reinvocation, refusal } from './admission-request.ts';
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

/**
 * Asks all mutating plugins a second time after a webhook has changed the object (reinvocation): what the server itself demands or
 * adds also goes for what the webhook has made.
 */
export function createReinvokingAdmission(plugins: Admission): Admission {
  return {
    mutate: (request) => {
      const reinvocation: Reinvocation = { isReinvoke: false, shouldReinvoke: false };
      const first = plugins.mutate({ ...request, reinvocation });
      if (first === undefined) return undefined;
      return first.then((object) => {
        if (!reinvocation.shouldReinvoke) return object;
        reinvocation.isReinvoke = true;
        const changed = object ?? request.object;
        const second = plugins.mutate({ ...request, object: changed, reinvocation });
        return second === undefined ? changed : second.then((last) => last ?? changed);
      });
    },
    validate: (request) => plugins.validate(request),
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

/** Nothing is created below a CustomResourceDefinition that is being deleted (forbidCreateAdmission). Its subresources create nothing. */
export function createTerminatingResourceGuard(resources: ServedResources): Admission {
  return {
    mutate: ({ operation, resource: of, name }) => {
      if (operation !== 'CREATE') return undefined;
      const { isTerminating } = resources.find(of.group, of.version, of.resource)?.definition.strategy ?? {};
      if (isTerminating !== true) return undefined;
      throw forbidden(of, name, 'create not allowed while custom resource definition is terminating');
    },
    validate: () => undefined,
  };
}
