import { matchesSelectorObject } from '../../kube/selectors.ts';
import type { UserInfo } from './user-info.ts';
import type { Table } from '../storage/store-table.ts';
import type { AccessDecision, AccessQuestion, Authorizer } from './authorizer.ts';
import { asBinding, asRole, type Binding, type RoleRef, type Subject } from './rbac-kinds.ts';
import { type PolicyRule, ruleAllows } from './rbac-rules.ts';

export type RbacTables = {
  readonly roles: Table;
  readonly roleBindings: Table;
  readonly clusterRoles: Table;
  readonly clusterRoleBindings: Table;
};

/** A rule that applies to a user, and why. */
export type GrantedRule = { readonly rule: PolicyRule; readonly because: string };

export interface RbacAuthorizer extends Authorizer {
  /** All rules that apply to a user in a namespace ('': cluster-wide ones only), and bindings that could not be resolved. */
  rulesFor(user: UserInfo, namespace: string): { readonly granted: readonly GrantedRule[]; readonly errors: readonly string[] };
  /** The rules of a role; undefined when it does not exist. */
  rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

/** Members of `system:masters` may do everything; everybody else what RBAC's bindings grant. */
export function createRbacAuthorizer(tables: RbacTables): RbacAuthorizer {
  const rulesFor: RbacAuthorizer['rulesFor'] = (user, namespace) => {
    const granted: GrantedRule[] = [];
    const errors: string[] = [];
    const follow = (binding: Binding, bindingNamespace: string, title: string): void => {
      const subject = binding.subjects?.find((each) => isSubject(each, user, bindingNamespace));
      const { roleRef } = binding;
      if (subject === undefined || roleRef === undefined) return;
      const rules = rulesOf(tables, roleRef, bindingNamespace);
      if (rules === undefined)
        errors.push(`${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`);
      const because = `${title} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${describe(subject, bindingNamespace)}`;
      for (const rule of rules ?? []) granted.push({ rule, because });
    };
    for (const { object, name } of tables.clusterRoleBindings.list('')) {
      follow(asBinding(object), '', `ClusterRoleBinding ${JSON.stringify(name)}`);
    }
    if (namespace !== '') {
      for (const { object, name } of tables.roleBindings.list(namespace)) {
        follow(asBinding(object), namespace, `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`);
      }
    }
    return { granted, errors };
  };

  return {
    rulesFor,
    rulesOfRole: (roleRef, namespace) => rulesOf(tables, roleRef, namespace),
    authorize: (user, question): AccessDecision => {
      if (user.groups.includes('system:masters')) return { allowed: true, reason: '' };
      const { granted, errors } = rulesFor(user, question.kind === 'resource' ? question.namespace : '');
      const found = granted.find(({ rule }) => ruleAllows(rule, question));
      if (found !== undefined) return { allowed: true, reason: `RBAC: allowed by ${found.because}` };
      return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
    },
  };
}

/** How Go prints several errors as one. */
const aggregate = (errors: readonly string[]): string => {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? `${distinct[0]}` : `[${distinct.join(', ')}]`;
};

function isSubject(subject: Subject, user: UserInfo, bindingNamespace: string): boolean {
  switch (subject.kind) {
    case 'User':
      return user.name === subject.name;
    case 'Group':
      return user.groups.includes(subject.name ?? '');
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${subject.namespace || bindingNamespace}:${subject.name}`;
    default:
      return false;
  }
}

const describe = ({ kind, name = '', namespace }: Subject, bindingNamespace: string): string =>
  kind === 'ServiceAccount' ? `${kind} ${JSON.stringify(`${name}/${namespace || bindingNamespace}`)}` : `${kind} ${JSON.stringify(name)}`;

/** Undefined when the role does not exist. */
function rulesOf(tables: RbacTables, { kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
  const stored = kind === 'Role' ? tables.roles.get(namespace, name) : tables.clusterRoles.get('', name);
  if (stored === undefined) return undefined;
  const role = asRole(stored.object);
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
  if (selectors.length === 0) return role.rules ?? [];
  // The controller that writes the union into the role does not run here; its effect is the same.
  return tables.clusterRoles
    .list('')
    .filter(
      ({ object }) => object !== stored.object && selectors.some((selector) => matchesSelectorObject(selector, object.metadata.labels)),
    )
    .flatMap(({ object }) => asRole(object).rules ?? []);
}

/** What `rules` grant beyond what is held already, taken apart and put together again by resource (rbac validation.Covers). */
export function uncovered(rules: readonly PolicyRule[], held: readonly PolicyRule[]): PolicyRule[] {
  const missing = rules.flatMap(questionsOf).filter((question) => !held.some((each) => ruleAllows(each, question)));
  const byTarget = new Map<string, PolicyRule & { verbs: string[] }>();
  for (const question of missing) {
    const target = targetOf(question);
    const key = JSON.stringify(target);
    const rule = byTarget.get(key) ?? { ...target, verbs: [] };
    if (!rule.verbs.includes(question.verb)) rule.verbs.push(question.verb);
    byTarget.set(key, rule);
  }
  return [...byTarget.values()];
}

function targetOf(question: AccessQuestion): PolicyRule {
  if (question.kind === 'path') return { nonResourceURLs: [question.path] };
  const { group, resource, subresource, name } = question;
  return {
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(name === '' ? {} : { resourceNames: [name] }),
  };
}

/** A rule taken apart into single questions; wildcards ask for themselves. */
function questionsOf({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): AccessQuestion[] {
  const questions: AccessQuestion[] = [];
  for (const verb of verbs) {
    for (const path of nonResourceURLs) questions.push({ kind: 'path', verb, path });
    for (const group of apiGroups) {
      for (const pattern of resources) {
        const [resource = '', subresource = ''] = pattern.split('/');
        for (const name of resourceNames.length === 0 ? [''] : resourceNames) {
          questions.push({ kind: 'resource', verb, group, version: '*', resource, subresource, namespace: '', name });
        }
      }
    }
  }
  return questions;
}
