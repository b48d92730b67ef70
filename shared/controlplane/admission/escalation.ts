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
    if (oldObject !== undefined && changesOnlyForGarbageCollection(object, oldObject)) return;
    if (resource.resource === 'roles' || resource.resource === 'clusterroles') {
      if (isAllowed(request, 'escalate', request.name)) return;
      refuseUncovered(request, asRole(object).rules ?? [], namespace);
      refuseAggregation(request, object);
      return;
    }
    const { roleRef } = asBinding(object);
    if (roleRef === undefined) return;
    const bound = { ...request, resource: { ...resource, resource: `${roleRef.kind.toLowerCase()}s` } };
    if (isAllowed(bound, 'bind', roleRef.name)) return;
    const rules = authorizer.rulesOfRole(roleRef, namespace);
    // Upstream names the resource of the request here, not the one that is missing.
    if (rules === undefined) throw notFound(resource, roleRef.name);
    refuseUncovered(request, rules, namespace);
  }

  /** An aggregated role could gather anything: it takes all there is to write one. */
  function refuseAggregation({ user, resource, name, oldObject }: AdmissionRequest, object: AnyObject): void {
    const aggregates = (role: AnyObject): boolean => asRole(role).aggregationRule !== undefined;
    if (!aggregates(object) && (oldObject === undefined || !aggregates(oldObject))) return;
    const held = authorizer.rulesFor(user, '').granted.map(({ rule }) => rule);
    if (uncovered(FULL_AUTHORITY, held).length === 0) return;
    throw forbidden(resource, name, 'must have cluster-admin privileges to use the aggregationRule');
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

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Whoever may change a role may always let it be collected (IsOnlyMutatingGCFields). */
function changesOnlyForGarbageCollection(next: AnyObject, previous: AnyObject): boolean {
  const comparable = ({ metadata, ...rest }: AnyObject): object => {
    const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managers, ...meta } = metadata;
    return { ...rest, metadata: meta };
  };
  return semanticEqual(comparable(next), comparable(previous));
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
