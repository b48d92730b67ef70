import type { CelEnvironment } from '../../../cel/cel-environment.ts';
import { same } from '../../../cel/list-library.ts';
import { toCelValue } from '../../../cel/values.ts';
import type { AdmissionRequest, GroupVersionKind, GroupVersionResource } from '../admission-request.ts';

/**
 * `request` of an expression. `asked` is the request as the client made it, `request` the same in the version that the rule is about. As
 * in an AdmissionReview, what is empty is absent: `request.subResource == ''` is an error where there is none, `has(request.subResource)`
 * tells.
 */
export function requestValue(request: AdmissionRequest, asked: AdmissionRequest): unknown {
  const { kind, resource, subresource, user } = request;
  const userInfo = new UserInfoValue();
  assignGiven(userInfo, { username: user.name, uid: user.uid ?? '', groups: [...user.groups], extra: user.extra ?? {} });
  const value = Object.assign(new RequestValue(), {
    kind: kindValue(kind),
    resource: resourceValue(resource),
    requestKind: kindValue(asked.kind),
    requestResource: resourceValue(asked.resource),
    operation: request.operation,
    userInfo,
    dryRun: request.dryRun,
    options: toCelValue(request.options),
  });
  assignGiven(value, { subResource: subresource, requestSubResource: asked.subresource, name: request.name, namespace: request.namespace });
  return value;
}

/** The types of `request` (BuildRequestType of apiserver), so that an expression with a field that is none does not compile. */
export function registerRequestTypes(environment: CelEnvironment): void {
  const fields = { group: 'string', version: 'string' };
  environment
    .registerType('kubernetes.GroupVersionKind', { ctor: KindValue, fields: { ...fields, kind: 'string' } })
    .registerType('kubernetes.GroupVersionResource', { ctor: ResourceValue, fields: { ...fields, resource: 'string' } })
    .registerType('kubernetes.UserInfo', {
      ctor: UserInfoValue,
      fields: { username: 'string', uid: 'string', groups: 'list<string>', extra: 'map<string, list<string>>' },
    })
    .registerType('kubernetes.AdmissionRequest', {
      ctor: RequestValue,
      fields: {
        kind: 'kubernetes.GroupVersionKind',
        resource: 'kubernetes.GroupVersionResource',
        subResource: 'string',
        requestKind: 'kubernetes.GroupVersionKind',
        requestResource: 'kubernetes.GroupVersionResource',
        requestSubResource: 'string',
        name: 'string',
        namespace: 'string',
        operation: 'string',
        userInfo: 'kubernetes.UserInfo',
        dryRun: 'bool',
        options: 'dyn',
      },
    });
  for (const type of ['GroupVersionKind', 'GroupVersionResource', 'UserInfo', 'AdmissionRequest']) {
    environment.registerOperator(`kubernetes.${type} == kubernetes.${type}`, same);
  }
}

// One class for each type: the library tells types apart by constructor.
class RequestValue {}
class KindValue {}
class ResourceValue {}
class UserInfoValue {}

const kindValue = (kind: GroupVersionKind): unknown => Object.assign(new KindValue(), kind);
const resourceValue = (resource: GroupVersionResource): unknown => Object.assign(new ResourceValue(), resource);

function assignGiven(target: object, values: Record<string, string | object>): void {
  const isEmpty = (value: string | object): boolean => (typeof value === 'string' ? value === '' : Object.keys(value).length === 0);
  Object.assign(target, Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value))));
}
