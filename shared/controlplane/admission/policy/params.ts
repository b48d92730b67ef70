import { matchesLabelSelector, requirementsOf } from '../../../kube/selectors.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import type { DecodedParamKind, DecodedParamRef } from './policy.ts';

/** Objects of a kind that policies may take as parameters, with kind and apiVersion; undefined for a kind that is not served. */
export type ParamSource = (group: string, version: string, kind: string) => ParamObjects | undefined;
export type ParamObjects = {
  readonly namespaced: boolean;
  get(namespace: string, name: string): AnyObject | undefined;
  list(namespace: string): readonly AnyObject[];
};

/**
 * With which `params` a policy is asked under one binding, once for each: null when it takes none, nothing at all when none is found and
 * that is allowed (CollectParams of apiserver). Throws an Error for a binding that cannot be used.
 */
export function paramsOf(
  paramKind: DecodedParamKind | undefined,
  paramRef: DecodedParamRef | undefined,
  requestNamespace: string,
  source: ParamSource,
): readonly (AnyObject | null)[] {
  if (paramKind === undefined || paramRef === undefined) return [null];
  const { apiVersion = '', kind = '' } = paramKind;
  const slash = apiVersion.indexOf('/');
  const [group, version] = [slash < 0 ? '' : apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const objects = source(group, version, kind);
  if (objects === undefined) throw new Error(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
  const found = lookUp(objects, paramRef, paramNamespace(objects, paramRef, requestNamespace));
  if (found.length === 0 && paramRef.parameterNotFoundAction === 'Deny') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

function paramNamespace({ namespaced }: ParamObjects, { namespace = '' }: DecodedParamRef, requestNamespace: string): string {
  if (!namespaced) {
    if (namespace !== '') throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  const found = namespace || requestNamespace;
  if (found === '') throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return found;
}

function lookUp(objects: ParamObjects, { name = '', selector = {} }: DecodedParamRef, namespace: string): AnyObject[] {
  if (name !== '') return [objects.get(namespace, name) ?? []].flat();
  const requirements = requirementsOf(selector);
  return objects.list(namespace).filter(({ metadata }) => matchesLabelSelector(requirements, metadata.labels));
}
