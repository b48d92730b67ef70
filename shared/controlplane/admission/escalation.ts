import type { Admission, AdmissionRequest } from './admission-request.ts';
import type { UserInfo } from '../auth/user-info.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import { forbidden, notFound } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { type RbacAuthorizer, uncovered } from '../auth/rbac-authorizer.ts';
import { asBinding, asRole } from '../auth/rbac-kinds.ts';
import type { PolicyRule } from '../auth/rbac-rules.ts';

/**
 * Nobody grants more than they hold themselves (policybased storage of RBAC): neither by writing a role nor by binding one,
 * unless they may `escalate` or `bind` it.
 */
export function preventEscalation(authorizer: RbacAuthorizer): Admission {
  return {
    mutate: (request) => {
      if (request.resource.group === 'rbac.authorization.k8s.io' && request.object !== undefined) check(request, request.object);
      return undefined;
    },
    validate: () => undefined,
  };

  function check(request: AdmissionRequest, object: AnyObject): void {
    const { user, resource, namespace, oldObject } = request;
    if (user.groups.includes('system:masters')) return;
    if (resource.resource === 'roles' || resource.resource === 'clusterroles') {
      const { rules } = asRole(object);
      if (oldObject !== undefined && semanticEqual(rules ?? [], asRole(oldObject).rules ?? [])) return;
      if (isAllowed(request, 'escalate', request.name)) return;
      refuseUncovered(request, rules ?? [], namespace);
      return;
    }
    const { roleRef } = asBinding(object);
    if (roleRef === undefined) return;
    const isUnchanged = oldObject !== undefined && semanticEqual(asBinding(object).subjects, asBinding(oldObject).subjects);
    if (
      isUnchanged ||
      isAllowed({ ...request, resource: { ...resource, resource: `${roleRef.kind.toLowerCase()}s` } }, 'bind', roleRef.name)
    )
      return;
    const rules = authorizer.rulesOfRole(roleRef, namespace);
    if (rules === undefined) {
      throw notFound({ group: resource.group, resource: `${roleRef.kind.toLowerCase()}s` }, roleRef.name);
    }
    refuseUncovered(request, rules, namespace);
  }

  function isAllowed({ user, resource: { group, version, resource }, namespace }: AdmissionRequest, verb: string, name: string): boolean {
    return authorizer.authorize(user, { kind: 'resource', verb, group, version, resource, subresource: '', namespace, name }).allowed;
  }

  function refuseUncovered({ user, resource, name }: AdmissionRequest, rules: readonly PolicyRule[], namespace: string): void {
    const held = authorizer.rulesFor(user, namespace).granted.map(({ rule }) => rule);
    const missing = uncovered(rules, held);
    if (missing.length === 0) return;
    throw forbidden(
      resource,
      name,
      `${describeUser(user)} is attempting to grant RBAC permissions not currently held:\n${missing.map(describeRule).sort().join('\n')}`,
    );
  }
}

const describeUser = ({ name, groups }: UserInfo): string => `user ${JSON.stringify(name)} (groups=${goList(groups)})`;
const goList = (values: readonly string[]): string => `[${values.map((each) => JSON.stringify(each)).join(' ')}]`;

/** PolicyRule's compact form: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
function describeRule({ apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [], verbs = [] }: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ];
  const shown = parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:[${values.map((each) => JSON.stringify(each)).join(' ')}]`);
  return `{${shown.join(', ')}}`;
}
